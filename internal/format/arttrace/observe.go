// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"fmt"
	"math"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/callstack"
)

// Observations are the samples that a sampling profiler would have taken.
type Observations struct {
	Period  time.Duration   // between two observations; a multiple of the requested period if there would be too many
	Threads []Thread        // of the table, and those that only records mention
	Stacks  callstack.Table // of indices for Method, callers first; entry 0 is the empty stack: the thread is in no method
	Runs    []Run           // sorted by time for each thread
	Count   int             // of observations in all runs

	methods []Method // of the trace
	unknown []uint32 // IDs of methods that only records mention

	Unmatched int // exits from methods that were not entered; they are skipped
	TooDeep   int // calls below maxDepth
	Spent     int // spare observations that were used
}

// Method returns a method of a stack. For methods that the trace does not describe, it returns only
// the ID.
func (o *Observations) Method(index int32) Method {
	if unknown := int(index) - len(o.methods); unknown >= 0 {
		return Method{ID: o.unknown[unknown]}
	}
	return o.methods[index]
}

// Methods returns the number of methods, which are numbered from 0.
func (o *Observations) Methods() int { return len(o.methods) + len(o.unknown) }

// Run is a series of observations of one thread in one stack, at consecutive points of the grid.
// Point i is i periods after the start of the trace.
type Run struct {
	Thread, Stack int32 // indices into Observations.Threads and Stacks
	First, Count  uint32
}

// Observe observes the threads of a trace once per period, each from its first record to the end of
// the trace or to the exit from its last method. With sampling, records have their own times; of
// two records in one period, the later one counts.
//
// The size of the trace limits the number of observations and of frames in their stacks. spare is
// the number of additional observations and frames.
func (t *Trace) Observe(period time.Duration, spare int) (*Observations, error) {
	o := newObserver(t, max(period, minPeriod), spare)
	var events [eventsAtOnce]Event
	r := t.reader()
	for read := len(events); o.tooLarge == nil && read == len(events); {
		read = r.read(events[:])
		for i := range events[:read] {
			o.record(&events[i])
		}
	}
	o.finish()
	return o.result()
}

// minPeriod is the minimum period: a duration of 2^32 µs has 4,000,000 such periods.
const minPeriod = time.Millisecond

// observer tracks the stacks of all threads in a trace. Most calls end before the next point of the
// grid, so the observer looks up methods and stacks at observations only.
type observer struct {
	trace  *Trace
	period uint64 // nanoseconds
	spare  int
	end    uint64 // end of the trace, in nanoseconds from its start
	lasted uint64 // times above it are before the start
	latest uint64 // time of a record

	threads  []threadState
	threadOf [1 << 16]int32 // index of a thread plus one, by its ID in records
	methodOf methodIndex
	frames   int // of observed stacks
	tooLarge error

	out Observations
}

// threadState is the state of a thread between two records.
type threadState struct {
	stack   []uint32 // methods by their IDs in records, callers first
	methods []int32  // indices of the first methods of the stack, as far as they were observed
	beyond  int      // number of calls below maxDepth
	seen    bool     // it has records
	next    uint32   // first point of the grid that is not observed yet
	due     uint64   // its time in nanoseconds; no record so far is later
	run     int32    // index of its last run, plus one
}

func newObserver(t *Trace, period time.Duration, spare int) *observer {
	o := &observer{
		trace: t, period: uint64(period), spare: spare, end: t.endNanos(), lasted: uint64(max(t.Elapsed, math.MaxInt32*time.Microsecond)),
		threads: make([]threadState, len(t.Threads)), methodOf: newMethodIndex(t.Methods),
	}
	o.out = Observations{Threads: t.Threads[:len(t.Threads):len(t.Threads)], methods: t.Methods}
	o.out.Stacks.Grow(t.size / bytesOfFrame)
	o.out.Stacks.Add(nil)
	for i, thread := range t.Threads {
		if of := &o.threadOf[uint16(thread.ID)]; *of == 0 {
			*of = int32(i) + 1
		}
	}
	return o
}

// hasEnd reports whether the header has the end of the trace. If the buffer was full before the
// end, nothing is known about the time after the last record.
func (t *Trace) hasEnd() bool { return t.Elapsed > 0 && !t.Overflow }

// endNanos returns the maximum time of records.
func (t *Trace) endNanos() uint64 {
	if t.hasEnd() {
		return uint64(min(t.Elapsed, maxElapsed))
	}
	return uint64(maxElapsed)
}

// maxElapsed is the largest time of a record: 32 bits of microseconds.
const maxElapsed = math.MaxUint32 * time.Microsecond

// time returns the time of a record. ART writes the low 32 bits of the difference to the start of
// the trace, which is negative if it read the clock for a record first. The trace then lasted less
// than the unsigned number.
func (o *observer) time(e *Event) uint64 {
	micros := e.Wall
	if o.trace.Clock == ClockThreadCPU {
		micros = e.CPU
	}
	nanos := uint64(micros) * uint64(time.Microsecond)
	if nanos > o.lasted {
		return 0
	}
	return min(nanos, o.end)
}

// record processes a record: it observes the thread up to the time of the record, exclusive. If the
// clock steps back, the time stays unchanged.
func (o *observer) record(e *Event) {
	now := o.time(e)
	o.latest = max(o.latest, now)
	index := o.thread(e.Thread)
	thread := &o.threads[index]
	switch {
	case !thread.seen:
		thread.seen, thread.next = true, o.gridPoint(now)
		thread.due = uint64(thread.next) * o.period
	case now > thread.due:
		o.observeUntil(index, thread, now)
	}
	if e.Action == Enter {
		o.enter(thread, e.Method)
	} else {
		o.leave(thread, e.Method)
	}
}

// gridPoint returns the first point of the grid at or after an instant.
func (o *observer) gridPoint(nanos uint64) uint32 {
	return uint32((nanos + o.period - 1) / o.period)
}

// observeUntil observes a thread at all points of the grid before an instant.
func (o *observer) observeUntil(index int32, thread *threadState, nanos uint64) {
	point := o.gridPoint(nanos)
	if point <= thread.next {
		return
	}
	o.add(thread, Run{Thread: index, Stack: o.stack(thread), First: thread.next, Count: point - thread.next})
	thread.next, thread.due = point, uint64(point)*o.period
	for o.out.Count > o.spare+observationsPerByte*o.trace.size {
		o.coarsen()
	}
}

// add adds observations to the last run of a thread, or as a new run.
func (o *observer) add(thread *threadState, run Run) {
	o.out.Count += int(run.Count)
	if thread.run > 0 && o.out.Runs[thread.run-1].Stack == run.Stack {
		o.out.Runs[thread.run-1].Count += run.Count
		return
	}
	o.out.Runs = append(o.out.Runs, run)
	thread.run = int32(len(o.out.Runs))
}

// coarsen doubles the period and keeps the observations at even points.
func (o *observer) coarsen() {
	runs := o.out.Runs
	o.period, o.out.Runs, o.out.Count = 2*o.period, runs[:0], 0
	for i := range o.threads {
		thread := &o.threads[i]
		thread.next, thread.run = (thread.next+1)/2, 0
		thread.due = uint64(thread.next) * o.period
	}
	for _, run := range runs {
		first, end := (run.First+1)/2, (run.First+run.Count+1)/2
		if first < end {
			o.add(&o.threads[run.Thread], Run{run.Thread, run.Stack, first, end - first})
		}
	}
}

// stack returns the index of a thread's current stack, and limits the observed stacks.
func (o *observer) stack(thread *threadState) (index int32) {
	for _, id := range thread.stack[len(thread.methods):] {
		thread.methods = append(thread.methods, o.method(id))
	}
	index, added := o.out.Stacks.Add(thread.methods)
	if !added {
		return index
	}
	o.frames += len(thread.methods)
	if most := o.spare + framesPerByte*o.trace.size; o.frames > most {
		o.tooLarge = fmt.Errorf("%w: stacks of more than %d frames together", ErrTooLarge, most)
	}
	return index
}

// finish observes threads that are still in a method until the end of the trace. The CPU time of a
// thread ends with its last record.
func (o *observer) finish() {
	if o.trace.Clock == ClockThreadCPU {
		return
	}
	end := o.end
	if !o.trace.hasEnd() {
		end = o.latest
	}
	for i := range o.threads {
		if thread := &o.threads[i]; len(thread.stack) > 0 {
			o.observeUntil(int32(i), thread, end)
		}
	}
}

func (o *observer) enter(thread *threadState, method uint32) {
	if len(thread.stack) == maxDepth {
		thread.beyond++
		o.out.TooDeep++
		return
	}
	thread.stack = append(thread.stack, method)
}

// leave ends a call and the calls below it, whose exits were lost. It skips an exit from a method
// that was not entered.
func (o *observer) leave(thread *threadState, method uint32) {
	if thread.beyond > 0 {
		thread.beyond--
		return
	}
	for i := len(thread.stack) - 1; i >= 0; i-- {
		if thread.stack[i] == method {
			thread.stack = thread.stack[:i]
			thread.methods = thread.methods[:min(i, len(thread.methods))]
			return
		}
	}
	o.out.Unmatched++
}

func (o *observer) thread(id uint16) int32 {
	of := &o.threadOf[id]
	if *of == 0 {
		o.out.Threads = append(o.out.Threads, Thread{ID: uint32(id)})
		o.threads = append(o.threads, threadState{})
		*of = int32(len(o.threads))
	}
	return *of - 1
}

func (o *observer) method(id uint32) int32 {
	index, known := o.methodOf.get(id)
	if !known {
		index = int32(o.out.Methods())
		o.out.unknown = append(o.out.unknown, id)
		o.methodOf.add(id, index)
	}
	return index
}

func (o *observer) result() (*Observations, error) {
	switch {
	case o.tooLarge != nil:
		return nil, o.tooLarge
	case o.frames == 0:
		return nil, fmt.Errorf("%w: none of %d threads was in a method at a point of the grid", ErrEmpty, len(o.threads))
	}
	o.out.Period = time.Duration(o.period)
	o.out.Spent = max(0, o.out.Count-observationsPerByte*o.trace.size, o.frames-framesPerByte*o.trace.size)
	return &o.out, nil
}
