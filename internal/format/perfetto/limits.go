// SPDX-License-Identifier: Apache-2.0

package perfetto

import "errors"

// The limits are those of Sentry's ingest (relay-profiling, perfetto/convert) where it has them. A chunk of two seconds has 100 kB,
// 400 samples, 52 stacks and 358 frames.
const (
	// maxSamples: a minute at 101 Hz on each of 16 CPUs, of which a profiler samples those that are busy.
	maxSamples = 100_000
	// maxPackets are samples, and some for everything else.
	maxPackets = maxSamples + 10_000
	// maxPacketBytes bounds the part of a trace that one sample or one table can be.
	maxPacketBytes = 4 << 20
	// maxDepth of a call stack, checked when it is stored: unwinding stops at 512 frames by default.
	maxDepth = 1000
	// maxSequences: one per CPU and a few.
	maxSequences = 64
	// maxEntries bounds the tables of all sequences together, at some 100 bytes an entry; Sentry's ingest bounds their memory, to 15 MiB.
	maxEntries = 1 << 17
	// maxMissed bounds the unknown ids of a table that are remembered until they get an entry: a buffer that was full loses some packets.
	maxMissed = 1 << 12
	// maxFrames bounds the distinct frames, some 200 bytes each.
	maxFrames = 1 << 18
	// maxPathSegments of a mapping. A path of 4096 bytes, the most that Linux has, has fewer than a hundred directories.
	maxPathSegments = 100
	// maxNames bounds the threads whose names are kept: an Android app may have some thousand threads.
	maxNames = 1 << 14

	// minWork and a trace's size bound the frames of call stacks that are resolved, and the paths that are joined. An id takes a byte,
	// so that call stacks that are resolved once stay below it.
	minWork = 1 << 12
)

// The errors of this package, for errors.Is.
var (
	ErrMalformed = errors.New("not a Perfetto trace")
	ErrTooLarge  = errors.New("perfetto trace too large")
	ErrNoClock   = errors.New("perfetto trace without a usable clock snapshot")
	ErrEmpty     = errors.New("perfetto trace without samples")
)
