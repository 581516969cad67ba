// SPDX-License-Identifier: Apache-2.0

package perfetto

import "errors"

// Where Sentry's ingest has limits (relay-profiling, perfetto/convert), these are the same. A chunk
// of two seconds has 100 kB, 400 samples, 52 stacks and 358 frames.
const (
	// maxSamples allows a minute at 101 Hz on 16 CPUs; a profiler samples only those that are busy.
	maxSamples = 100_000
	// maxPackets allows maxSamples packets with samples, and some others.
	maxPackets = maxSamples + 10_000
	// maxPacketBytes is the maximum size of a packet, such as a sample or a table.
	maxPacketBytes = 4 << 20
	// maxDepth is the maximum depth of a call stack, checked when it is stored. By default,
	// unwinding stops at 512 frames.
	maxDepth = 1000
	// maxSequences allows one sequence per CPU and a few others.
	maxSequences = 64
	// maxEntries is the maximum number of entries in the tables of all sequences, at about 100
	// bytes each. Sentry's ingest limits their memory to 15 MiB.
	maxEntries = 1 << 17
	// maxMissed bounds the unknown IDs of a table that are remembered until they get an entry: a
	// buffer that was full loses some packets.
	maxMissed = 1 << 12
	// maxFrames is the maximum number of distinct frames, at about 200 bytes each.
	maxFrames = 1 << 18
	// maxPathSegments is the maximum number of segments in the path of a mapping. A path of 4096
	// bytes, the maximum on Linux, usually has fewer than a hundred.
	maxPathSegments = 100
	// maxNames is the maximum number of thread names: an Android app may have about a thousand
	// threads.
	maxNames = 1 << 14

	// minWork plus the size of the trace is the budget for resolving frames of call stacks and
	// joining paths. An ID takes at least one byte, so resolving each call stack once stays within
	// the budget.
	minWork = 1 << 12
)

// The errors of this package, for errors.Is.
var (
	ErrMalformed = errors.New("not a Perfetto trace")
	ErrTooLarge  = errors.New("perfetto trace too large")
	ErrNoClock   = errors.New("perfetto trace without a usable clock snapshot")
	ErrEmpty     = errors.New("perfetto trace without samples")
)
