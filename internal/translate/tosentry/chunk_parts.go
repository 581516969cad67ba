// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// partWriter cuts the observations of a profile into chunks that ingest accepts, and writes them one by one:
//
//   - a part lasts at most a minute;
//   - a part whose payload is too large is halved;
//   - a thread that is observed once in a part, which ingest would drop, gets a closing sample: the same stack, a period later.
//     So does the last observation of a thread that goes on in the next part, since views weigh a sample by the next one;
//   - in profiles of the time on the CPU, a thread that is not observed gets an idle sample: it was not running.
//
// What SDKs of Sentry's sent gets only the closing samples it needs.
type partWriter struct {
	// payload is the part that was written last, its number, and how many observations are in it. Its chunk id are zeros.
	payload       []byte
	number, count int

	series []profile.Measurement // of the whole profile
	points int                   // in them

	chunk      *profile.Chunk
	all        []observation // by time
	later      []int32       // by observation: the next one of its thread, 0 = none
	weight     weight
	fromSentry bool
	limit      int // bytes of a payload

	todo    []partRange // what is left, the last one first
	written int         // bytes of this and of the profiles before, with those of attempts
	// maxWritten bounds them, by the size of the message: frames whose texts the dictionary holds once are spelled out in each chunk.
	maxWritten int
	idle       int32 // the empty stack, -1 = none yet
	added      []observation
	samples    profile.Samples
	threads    []threadState
}

// partRange are the observations from first up to end, in a chunk that ends at the time limit.
type partRange struct {
	first, end int
	limit      uint64
}

// threadState is what a part knows of a thread.
type threadState struct {
	last   int32 // its last observation, plus one
	active int32 // its last one that was not idle, plus one
	count  int32 // of those that were not idle
}

const (
	partNanos = sentry.MaxOutgoingChunkSeconds * attr.NanosPerSecond

	// maxParts bounds the chunks of one profile: a day of minutes.
	maxParts = 1440

	// offCPUPeriods is how many periods may pass until a thread that is on the CPU is observed again: timers are not exact.
	offCPUPeriods = 1.5

	noChunkID = "00000000000000000000000000000000"
)

// start takes a profile: a chunk that has all but its id and samples.
func (w *partWriter) start(chunk *profile.Chunk, all []observation, weight weight, fromSentry bool, limit int) {
	w.series, w.points = chunk.Measurements, 0
	for _, m := range w.series {
		w.points += len(m.Values)
	}
	w.written += 16*w.points + 64*len(chunk.DebugMeta.Images) // what it took to read them
	w.chunk, w.all, w.weight, w.fromSentry, w.limit = chunk, all, weight, fromSentry, limit
	w.number, w.idle = -1, -1
	chunk.ChunkID = noChunkID
	w.findLater()
	w.todo = w.todo[:0]
	for first := 0; first < len(all); {
		limit := all[first].time + partNanos
		end := first
		for end < len(all) && all[end].time < limit {
			end++
		}
		w.todo = append(w.todo, partRange{first, end, limit})
		first = end
	}
	slices.Reverse(w.todo)
}

// findLater links the observations of each thread.
func (w *partWriter) findLater() {
	w.threads = slices.Grow(w.threads[:0], len(w.chunk.Threads))[:len(w.chunk.Threads)]
	clear(w.threads)
	w.later = slices.Grow(w.later[:0], len(w.all))[:len(w.all)]
	for i := len(w.all) - 1; i >= 0; i-- {
		thread := &w.threads[w.all[i].thread]
		w.later[i] = max(0, thread.last-1)
		thread.last = int32(i) + 1
	}
}

// next writes the next part into payload; false when there is none.
func (w *partWriter) next(e *Export) bool {
	for len(w.todo) > 0 {
		r := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		switch {
		case w.number+1 >= maxParts:
			e.lose(discard.ReasonDurationTooLong, r.end-r.first)
		case w.isFull():
			e.lose(discard.ReasonExceedSizeLimit, r.end-r.first)
		case !w.layOut(r):
			e.lose(discard.ReasonNotEnoughSamples, r.end-r.first)
		case w.write(r):
			w.number++
			w.count = r.end - r.first
			return true
		case r.end-r.first == 1:
			e.lose(discard.ReasonExceedSizeLimit, 1)
		default:
			middle := r.first + (r.end-r.first)/2
			w.todo = append(w.todo, partRange{middle, r.end, r.limit}, partRange{r.first, middle, w.all[middle].time})
		}
	}
	return false
}

// layOut makes the samples of a part. False: all of them are idle, ingest would have none of them.
func (w *partWriter) layOut(r partRange) bool {
	clear(w.threads)
	w.added = w.added[:0]
	active := false
	for i := r.first; i < r.end; i++ {
		o := &w.all[i]
		thread := &w.threads[o.thread]
		thread.last = int32(i) + 1
		if w.isIdle(o) {
			continue
		}
		active = true
		thread.active = int32(i) + 1
		thread.count++
		w.stopAfter(i, r)
	}
	for i := range w.threads {
		w.close(&w.threads[i], r)
	}
	w.merge(r)
	return active
}

func (w *partWriter) isIdle(o *observation) bool { return len(w.chunk.Stacks.At(o.stack)) == 0 }

// stopAfter adds an idle sample a period after an observation on the CPU, if the thread is not seen again soon.
func (w *partWriter) stopAfter(i int, r partRange) {
	o, later := w.all[i], w.later[i]
	if w.fromSentry || !w.weight.onCPU || later == 0 || int(later) >= r.end {
		return
	}
	if gap := w.all[later].time - o.time; float64(gap) > offCPUPeriods*float64(w.weight.period) {
		o.time += w.weight.period
		o.stack = w.idleStack()
		w.added = append(w.added, o)
	}
}

// close adds the closing sample of a thread, if it needs one.
func (w *partWriter) close(thread *threadState, r partRange) {
	if thread.count == 0 {
		return
	}
	i := thread.active - 1
	later := w.later[i]
	isLast := thread.active == thread.last
	if thread.count > 1 && (!isLast || w.fromSentry && later == 0) {
		return
	}
	o := w.all[i]
	end := min(o.time+w.weight.period, r.limit)
	if later != 0 {
		end = min(end, w.all[later].time)
	}
	o.time = max(o.time, end)
	w.added = append(w.added, o)
}

// merge puts the samples of the part into the chunk's columns, in the order of time. What was added comes before what was
// observed at the same time: it belongs to what was before.
func (w *partWriter) merge(r partRange) {
	slices.SortStableFunc(w.added, func(a, b observation) int {
		if a.time == b.time { // of one thread: what closes an observation, then that it is idle
			return compareBool(w.isIdle(&a), w.isIdle(&b))
		}
		return cmp.Compare(a.time, b.time)
	})
	n := r.end - r.first + len(w.added)
	s := &w.samples
	s.Time, s.Stack, s.Thread = slices.Grow(s.Time[:0], n)[:n], slices.Grow(s.Stack[:0], n)[:n], slices.Grow(s.Thread[:0], n)[:n]
	all, added := w.all[r.first:r.end], w.added
	for i := range n {
		var o *observation
		if len(all) == 0 || len(added) > 0 && added[0].time <= all[0].time {
			o, added = &added[0], added[1:]
		} else {
			o, all = &all[0], all[1:]
		}
		s.Time[i], s.Stack[i], s.Thread[i] = o.time, o.stack, o.thread
	}
	w.chunk.Samples = *s
}

// write writes the part, false if it is too large.
func (w *partWriter) write(r partRange) (ok bool) {
	w.chunk.Measurements = w.measurementsOf(r)
	limit := min(w.limit, w.maxWritten-w.written)
	w.payload, ok = profile.AppendChunk(slices.Grow(w.payload[:0], min(limit, w.estimate())), w.chunk, limit)
	w.written += 4 * (len(w.threads) + w.chunk.Stacks.Len() + len(w.chunk.Frames) + w.points) // what a part goes through
	if ok {
		w.written += len(w.payload)
	} else {
		w.written += limit
	}
	return ok
}

// isFull reports whether as much is written as may be made of the message.
func (w *partWriter) isFull() bool { return w.written >= w.maxWritten }

// estimate is about how long the payload will be: of recorded chunks a sample takes 70 bytes, a frame 150, and a frame of a stack
// 4. It saves a large payload from being copied every time it has doubled.
func (w *partWriter) estimate() int {
	stacks := &w.chunk.Stacks
	return min(w.limit, 70*w.chunk.Samples.Len()+150*len(w.chunk.Frames)+4*stacks.Entries())
}

// measurementsOf are the points of the time of a part. The first part that is written has those before it, the last one those
// behind it: node's are thousands of years ahead.
func (w *partWriter) measurementsOf(r partRange) (all []profile.Measurement) {
	isFirst := w.number < 0
	from, to := float64(w.all[r.first].time)/attr.NanosPerSecond, 0.0
	if r.end < len(w.all) {
		to = float64(w.all[r.end].time) / attr.NanosPerSecond
	}
	for _, m := range w.series {
		of := profile.Measurement{Name: m.Name, Unit: m.Unit}
		for _, v := range m.Values {
			if (v.Timestamp >= from || isFirst) && (v.Timestamp < to || r.end == len(w.all)) {
				of.Values = append(of.Values, v)
			}
		}
		if len(of.Values) > 0 || isFirst {
			all = append(all, of)
		}
	}
	return all
}

// setChunkID puts the id in the place of the zeros that the payload was written with.
func (w *partWriter) setChunkID(id string) {
	at := bytes.Index(w.payload, []byte(`"chunk_id":"`+noChunkID)) + len(`"chunk_id":"`)
	copy(w.payload[at:], id)
}

// idleStack gives the index of an empty stack.
func (w *partWriter) idleStack() int32 {
	if w.idle < 0 {
		w.idle = w.chunk.Stacks.Append()
	}
	return w.idle
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
