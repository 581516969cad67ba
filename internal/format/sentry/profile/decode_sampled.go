// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// sampledDecoder decodes the object "profile" of both formats into columns. This is where the receiver spends its time;
// the shape of the loops follows from the payloads: one chunk has about 60,000 samples of 80 bytes, a few hundred stacks
// and a few thousand frames, except that node repeats frames (165,000 of which 100,000 are duplicates in one recorded
// chunk) and browsers send thousands of stacks no sample refers to.
type sampledDecoder struct {
	jsonscan.Scanner
	format format
	out    Sampled

	stackOffsets []int32 // as in Stacks.ends
	frameIndices []int32 // as in Stacks.frames; -1 where the payload had no usable index

	frameOf     []int32          // index in the payload → index in out.Frames
	frameTexts  [][]byte         // frame → its JSON text
	frameByHash map[uint64]int32 // hash of the text → the last frame that has it; a map of texts would hash them again to grow
	sameHash    []int32          // frame → the frame before it whose text has the same hash
	successors  []int32          // frame → the frame that followed it last time

	threadByID     map[string]int32
	threadAfter    []int32  // thread → the thread that followed it last time
	plainIDs       [][]byte // thread → its id as JSON text, nil if that needs escapes
	queueByAddress map[string]int32

	template       sampleTemplate // of the sample before
	templateUsable bool           // the fast path reads it

	meta   DebugMeta // these two are not scratch
	series []Measurement

	threadMetadata, queueMetadata []byte // JSON text, decoded for the threads and queues that samples name
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

// absent marks a column entry that was not sent or not usable.
const absent = -1

func (d *sampledDecoder) reset(f format, payload []byte) {
	d.format = f
	d.Scanner = jsonscan.Scanner{Data: jsonscan.ValidUTF8(payload)}
	d.out.Flaws = nil
	d.resetSamples()
	d.resetStacks()
	d.resetFrames()
	d.threadMetadata, d.queueMetadata = nil, nil
	d.meta, d.series = DebugMeta{}, nil
}

// cleared is a map without entries: the one that there is, unless it was large.
func cleared[K comparable](m map[K]int32) map[K]int32 {
	if m == nil || len(m) > sentry.MaxPooledMap {
		return map[K]int32{}
	}
	clear(m)
	return m
}

// scratchBytes is about what the scratch holds on to.
func (d *sampledDecoder) scratchBytes() int {
	const frameSize, threadSize, mapEntrySize = 200, 120, 48 // with what is kept beside each
	return 8*cap(d.out.Samples.Time) + 4*(cap(d.out.Samples.Stack)+cap(d.out.Samples.Thread)+cap(d.out.Samples.Queue)) +
		4*(cap(d.frameIndices)+cap(d.stackOffsets)+cap(d.frameOf)) +
		(frameSize+mapEntrySize)*cap(d.out.Frames) + (threadSize+mapEntrySize)*(cap(d.out.Threads)+cap(d.out.Queues))
}

// profile decodes the value of "profile". It says whether that was an object.
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

// push is append with doubling: append grows large slices by a quarter, and copies a column of a 50 MB payload five times.
func push[T any](column []T, entry T) []T {
	if len(column) == cap(column) {
		column = slices.Grow(column, max(64, len(column)))
	}
	return append(column, entry)
}

// expect says whether the next value starts as wanted. Anything else is skipped, and is a flaw unless it is null.
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

// resolve resolves the indices once everything is decoded, since the arrays come in any order, and lets go of the samples
// that point at nothing.
func (d *sampledDecoder) resolve() Sampled {
	d.resolveStacks()
	d.keepSamples()
	d.describeThreads()
	d.describeQueues()
	return d.out
}
