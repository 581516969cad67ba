// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"bytes"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// payloadWriter writes the payloads of parts within a budget.
type payloadWriter struct {
	payload []byte // of the last part

	chunk        *profile.Chunk
	measurements []profile.Measurement // of the whole profile
	points       int                   // in all measurements
	maxPayload   int

	// written estimates the work for this and earlier profiles, in bytes, including payloads that
	// were too large. maxWritten bounds it, because each chunk repeats frames that the input
	// contains only once.
	written, maxWritten int
}

// times is the time range of a part, in Unix seconds. The first part also gets the measurements
// before it, and the last part those after it, because Node's times are thousands of years ahead.
type times struct {
	from, to        float64
	isFirst, isLast bool
}

func (w *payloadWriter) open(chunk *profile.Chunk, maxPayload int) {
	w.chunk, w.measurements, w.points, w.maxPayload = chunk, chunk.Measurements, 0, maxPayload
	for _, m := range w.measurements {
		w.points += len(m.Values)
	}
	w.written += 16*w.points + 64*len(chunk.DebugMeta.Images) // reading these
}

func (w *payloadWriter) isFull() bool { return w.written >= w.maxWritten }

// write writes the chunk and reports whether its payload is small enough.
func (w *payloadWriter) write(t times) (ok bool) {
	c := w.chunk
	c.Measurements = w.measurementsOf(t)
	limit := min(w.maxPayload, w.maxWritten-w.written)
	if size := min(limit, w.estimate()); size > cap(w.payload) {
		w.payload = make([]byte, 0, size) // slices.Grow would clear the memory first
	}
	w.payload, ok = profile.AppendChunk(w.payload[:0], c, limit)
	w.written += 4 * (len(c.Threads) + c.Stacks.Len() + len(c.Frames) + w.points) // iterating over these
	if ok {
		w.written += len(w.payload)
	} else {
		w.written += limit
	}
	return ok
}

// estimate returns the approximate length of the payload, to avoid reallocation. In recorded
// chunks, a sample has 62 bytes besides its thread's ID, and a stack entry 5. Some frames stand for
// all of them: those of minified code have long texts. A part with few samples has few of the
// stacks.
func (w *payloadWriter) estimate() int {
	c := w.chunk
	sample := 62
	if len(c.Threads) > 0 {
		sample += len(c.Threads[0].ID)
	}
	measured, frames := min(32, len(c.Frames)), 0
	for i := range measured {
		frames += c.Frames[i*len(c.Frames)/measured].EstimateSize()
	}
	frames = frames * len(c.Frames) / max(1, measured)
	stacks := max(1, c.Stacks.Len())
	return sample*c.Samples.Len() + (frames+5*c.Stacks.Entries())*min(c.Samples.Len(), stacks)/stacks
}

// take returns the last payload in memory that the caller may keep: a copy, unless the payload is
// large and fills its memory.
func (w *payloadWriter) take() []byte {
	payload := w.payload
	if len(payload) < handedOver || len(payload) < cap(payload)/4*3 {
		return bytes.Clone(payload)
	}
	w.payload = nil
	return payload
}

// handedOver is the size from which a copy takes longer than new memory for the next payload.
const handedOver = 256 << 10

// measurementsOf returns the measurements of a part.
func (w *payloadWriter) measurementsOf(t times) (all []profile.Measurement) {
	for _, m := range w.measurements {
		selected := profile.Measurement{Name: m.Name, Unit: m.Unit}
		for _, v := range m.Values {
			if (v.Timestamp >= t.from || t.isFirst) && (v.Timestamp < t.to || t.isLast) {
				selected.Values = append(selected.Values, v)
			}
		}
		if len(selected.Values) > 0 || t.isFirst {
			all = append(all, selected)
		}
	}
	return all
}
