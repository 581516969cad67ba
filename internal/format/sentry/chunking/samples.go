// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// sampleBuilder builds the samples of a part: its observations and, where needed, additional
// samples that determine how long an observation lasted.
//
//   - Ingest drops a thread with a single sample. Such a thread gets a closing sample: the same
//     stack, one period later.
//   - Views weigh a sample by the next one of its thread. A thread that continues in the next part
//     therefore gets a closing sample, too.
//   - In a profile of CPU time, a thread without observations was not running: it gets an idle
//     sample.
//
// Profiles of Sentry SDKs get only the closing samples that ingest requires.
type sampleBuilder struct {
	Profile
	next    []int32 // by observation: the next observation of its thread, 0 = none
	threads []threadState
	added   []Observation
	columns profile.Samples
	idle    int32 // the empty stack, -1 = none yet
}

// threadState describes a thread within a part.
type threadState struct {
	last   int32 // its last observation, plus one
	active int32 // its last observation with frames, plus one
	count  int32 // number of observations with frames
}

// offCPUPeriods is the number of periods after which a thread without observations counts as not
// running. It is more than one, because timers are inexact.
const offCPUPeriods = 1.5

func (b *sampleBuilder) open(p Profile) {
	b.Profile, b.idle = p, -1
	b.threads = slices.Grow(b.threads[:0], len(p.Chunk.Threads))[:len(p.Chunk.Threads)]
	clear(b.threads)
	b.next = slices.Grow(b.next[:0], len(p.Observations))[:len(p.Observations)]
	for i := len(p.Observations) - 1; i >= 0; i-- {
		thread := &b.threads[p.Observations[i].Thread]
		b.next[i] = max(0, thread.last-1)
		thread.last = int32(i) + 1
	}
}

// build sets the samples of the chunk. It reports whether any sample has frames, because ingest
// rejects chunks that contain only idle samples.
func (b *sampleBuilder) build(r partRange) (active bool) {
	clear(b.threads)
	b.added = b.added[:0]
	for i := r.first; i < r.end; i++ {
		o := &b.Observations[i]
		thread := &b.threads[o.Thread]
		thread.last = int32(i) + 1
		if b.isIdle(o) {
			continue
		}
		active = true
		thread.active = int32(i) + 1
		thread.count++
		b.addIdle(i, r)
	}
	for i := range b.threads {
		b.addClosing(&b.threads[i], r)
	}
	b.merge(r)
	return active
}

func (b *sampleBuilder) isIdle(o *Observation) bool { return len(b.Chunk.Stacks.At(o.Stack)) == 0 }

// addIdle adds an idle sample one period after an observation on the CPU, unless the thread is
// observed again soon.
func (b *sampleBuilder) addIdle(i int, r partRange) {
	o, next := b.Observations[i], b.next[i]
	if b.AsSent || !b.OnCPU || next == 0 || int(next) >= r.end {
		return
	}
	if gap := b.Observations[next].Time - o.Time; float64(gap) > offCPUPeriods*float64(b.Period) {
		o.Time += b.Period
		o.Stack = b.idleStack()
		b.added = append(b.added, o)
	}
}

// addClosing adds the closing sample of a thread, if it needs one.
func (b *sampleBuilder) addClosing(thread *threadState, r partRange) {
	if thread.count == 0 {
		return
	}
	i := thread.active - 1
	next := b.next[i]
	isLast := thread.active == thread.last
	if thread.count > 1 && (!isLast || b.AsSent && next == 0) {
		return
	}
	o := b.Observations[i]
	end := min(o.Time+b.Period, r.limit)
	if next != 0 {
		end = min(end, b.Observations[next].Time)
	}
	o.Time = max(o.Time, end)
	b.added = append(b.added, o)
}

// merge sets the samples of the chunk to the observations and the added samples, sorted by time. At
// equal times, added samples come first, because they belong to earlier observations.
func (b *sampleBuilder) merge(r partRange) {
	slices.SortStableFunc(b.added, func(a, o Observation) int {
		return cmp.Or(cmp.Compare(a.Time, o.Time), compareBool(b.isIdle(&a), b.isIdle(&o))) // closing, then idle
	})
	n := r.end - r.first + len(b.added)
	s := &b.columns
	s.Time, s.Stack, s.Thread = slices.Grow(s.Time[:0], n)[:n], slices.Grow(s.Stack[:0], n)[:n], slices.Grow(s.Thread[:0], n)[:n]
	observed, added := b.Observations[r.first:r.end], b.added
	for i := range n {
		var o *Observation
		if len(observed) == 0 || len(added) > 0 && added[0].Time <= observed[0].Time {
			o, added = &added[0], added[1:]
		} else {
			o, observed = &observed[0], observed[1:]
		}
		s.Time[i], s.Stack[i], s.Thread[i] = o.Time, o.Stack, o.Thread
	}
	b.Chunk.Samples = *s
}

// idleStack returns the index of the empty stack.
func (b *sampleBuilder) idleStack() int32 {
	if b.idle < 0 {
		b.idle = b.Chunk.Stacks.Append()
	}
	return b.idle
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
