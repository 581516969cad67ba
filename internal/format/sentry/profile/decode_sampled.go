// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"
	"unicode/utf8"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// sampledDecoder decodes the object "profile" of both formats into columns. The receiver spends
// most of its time here, so the loops are optimized for real payloads: one chunk has about 60,000
// samples of 80 bytes, a few hundred stacks and a few thousand frames. Node repeats frames (one
// recorded chunk has 165,000, of which 100,000 are duplicates), and browsers send thousands of
// stacks that no sample refers to.
type sampledDecoder struct {
	jsonscan.Scanner
	format format
	out    Sampled

	stackOffsets []int32 // like Stacks.ends
	frameIndices []int32 // like Stacks.frames; -1 = no usable index in the payload

	frameOf     []int32          // index in the payload → index in out.Frames
	frameTexts  [][]byte         // frame → its JSON text
	frameByHash map[uint64]int32 // hash of the text → its last frame; a map of texts would hash them again when it grows
	sameHash    []int32          // frame → the previous frame with the same hash
	successors  []int32          // frame → the frame that last followed it

	threadByID     map[string]int32
	threadAfter    []int32  // thread → the thread that last followed it
	plainIDs       [][]byte // thread → its ID as JSON text, nil if it needs escapes
	queueByAddress map[string]int32

	template       sampleTemplate // of the previous sample
	templateUsable bool           // the fast path can use it

	meta   DebugMeta // these two are not scratch; texts of images refer to the payload
	series []Measurement

	threadMetadata, queueMetadata []byte // JSON, decoded later for the threads and queues that samples refer to

	claim         func(bytes int64) error // see Decoder.Claim
	used, claimed int                     // bytes of new memory
	noMemory      error                   // of the claim that failed
}

// format is the sample format of a payload.
type format int8

const (
	formatV1 format = 1
	formatV2 format = 2
)

func (f format) timeKey() string {
	if f == formatV2 {
		return "timestamp"
	}
	return "elapsed_since_start_ns"
}

// absent marks a column entry that is missing or unusable.
const absent = -1

func (d *sampledDecoder) reset(f format, payload []byte) {
	d.format = f
	d.Scanner = jsonscan.Scanner{Data: payload}
	if !utf8.Valid(payload) && d.reserve(utf8.RuneLen(utf8.RuneError)*len(payload)) {
		d.Data = jsonscan.ValidUTF8(payload)
	}
	d.out.Flaws = nil
	d.resetSamples()
	d.resetStacks()
	d.resetFrames()
	d.threadMetadata, d.queueMetadata = nil, nil
	d.meta, d.series = DebugMeta{}, nil
}

// cleared returns an empty map: m itself unless it was large.
func cleared[K comparable](m map[K]int32) map[K]int32 {
	if m == nil || len(m) > sentry.MaxPooledMap {
		return map[K]int32{}
	}
	clear(m)
	return m
}

// scratchBytes estimates the memory of the scratch.
func (d *sampledDecoder) scratchBytes() int {
	const frameSize, threadSize, mapEntrySize = 200, 120, 48 // including their columns
	return 8*cap(d.out.Samples.Time) + 4*(cap(d.out.Samples.Stack)+cap(d.out.Samples.Thread)+cap(d.out.Samples.Queue)) +
		4*(cap(d.frameIndices)+cap(d.stackOffsets)+cap(d.frameOf)) +
		(frameSize+mapEntrySize)*cap(d.out.Frames) + (threadSize+mapEntrySize)*(cap(d.out.Threads)+cap(d.out.Queues))
}

// profile decodes the value of "profile" and reports whether it is an object.
func (d *sampledDecoder) profile() bool {
	if !d.expect('{', "profile") {
		return false
	}
	d.Open('{')
	for n := 0; ; {
		key, ok := d.Member(&n)
		if !ok {
			return true
		}
		switch string(key) {
		case "samples":
			d.samples()
		case "stacks":
			d.stacks()
		case "frames":
			d.frames()
		case "thread_metadata":
			d.threadMetadata = d.Value()
		case "queue_metadata":
			d.queueMetadata = d.Value()
		default:
			d.Skip()
		}
	}
}

// push is append with doubling: append grows large slices by a quarter, which copies a column of a
// 50 MB payload five times. Growing needs memory for both copies, which is twice the final size in
// total. Without this memory, push stops the decoder.
func push[T any](d *sampledDecoder, column []T, entry T) []T {
	if len(column) == cap(column) {
		more := max(64, len(column))
		if !d.reserve((len(column) + more) * int(unsafe.Sizeof(entry)) * 5 / 4) { // Grow rounds up by a quarter
			return column
		}
		column = slices.Grow(column, more)
	}
	return append(column, entry)
}

const (
	// mapEntryBytes is the memory of an entry of threadByID, the larger one: 25 bytes in a table
	// that may be half empty, and a small object for the plain ID.
	mapEntryBytes = 80
	// claimBytes is how much memory the decoder claims at once.
	claimBytes = 64 << 10
)

// reserve claims memory before it is allocated. If the claim fails, it stops the decoder.
func (d *sampledDecoder) reserve(bytes int) bool {
	if d.noMemory != nil {
		return false
	}
	d.used += bytes
	if d.used <= d.claimed || d.claim == nil {
		return true
	}
	more := max(d.used-d.claimed, claimBytes)
	if err := d.claim(int64(more)); err != nil {
		why := discard.Errorf(discard.ReasonTooMuchMemory, "%s", err)
		d.noMemory = why
		d.Stop(why)
		return false
	}
	d.claimed += more
	return true
}

// expect reports whether the next value starts with bracket. It skips any other value, and counts a
// flaw unless the value is null.
func (d *sampledDecoder) expect(bracket byte, field string) bool {
	switch d.Peek() {
	case bracket:
		return true
	case 'n':
	default:
		d.out.addFlaw(field)
	}
	d.Skip()
	return false
}

// resolve resolves the indices after decoding, because the arrays may be in any order, and drops
// samples with dangling references.
func (d *sampledDecoder) resolve() Sampled {
	d.resolveStacks()
	d.keepSamples()
	d.describeThreads()
	d.describeQueues()
	return d.out
}
