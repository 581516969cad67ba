// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"fmt"
	"math"
	"time"
)

// Observations is a trace as a sampling profiler would have seen it.
type Observations struct {
	Period  time.Duration // between two points of the grid; a multiple of the one asked for where those were too many
	Threads []Thread      // the trace's, and those that only records name
	Nodes   []Node        // call paths; entry 0 is the empty one: the thread is in no method
	Runs    []Run         // in the order of time for each thread
	Count   int           // of observations in all runs

	methods []Method // the trace's
	unknown []uint32 // ids of methods that only records name

	Unmatched int // exits from methods that were not entered, which are passed over
	TooDeep   int // enters beyond the depth that is observed
	Spent     int // of the spare
}

// Node is a call path: a method, called at the end of another path.
type Node struct {
	Parent, Method int32 // for Observations.Method
	Depth          int32
}

// Method returns a method of a call path. Of one that the trace does not describe, only the id is known.
func (o *Observations) Method(index int32) Method {
	if unknown := int(index) - len(o.methods); unknown >= 0 {
		return Method{ID: o.unknown[unknown]}
	}
	return o.methods[index]
}

// Methods is how many methods there are, by their indices.
func (o *Observations) Methods() int { return len(o.methods) + len(o.unknown) }

// Run is one observation at each of consecutive grid points, of one thread in one call path. The time of grid point i is i periods
// after the start of the trace.
type Run struct {
	Thread, Node int32 // indices into Observations.Threads and Nodes
	First, Count uint32
}

// Observe observes the threads of a trace once in a period, each from its first record on, to the end of the trace or to the exit
// from its last method. With sampling, records come at their own times, so that two of them in one period count as the later one.
//
// The number of observations, and that of frames in their stacks, is bounded by the size of the trace. The spare is how many more of
// both there may be.
func (t *Trace) Observe(period time.Duration, spare int) (*Observations, error) {
	o := newObserver(t, max(period, minPeriod), spare)
	for r := t.reader(); o.tooLarge == nil; {
		event, ok := r.next()
		if !ok {
			o.finish()
			return o.result()
		}
		o.record(&event)
	}
	return nil, o.tooLarge
}

// minPeriod bounds the grid: a duration of 2^32 µs has 4,000,000 points of it.
const minPeriod = time.Millisecond

// observer follows the stacks of all threads through a trace.
type observer struct {
	trace  *Trace
	period uint64 // nanoseconds
	spare  int
	end    uint64 // of the trace, nanoseconds from its start

	threads  []threadState
	threadOf map[uint16]int32
	recent   int32 // thread of the record before: sampling writes many of one
	methodOf map[uint32]int32
	nodeOf   map[callKey]int32
	observed []bool // by node
	entries  int    // frames of observed call paths
	tooLarge error

	out Observations
}

// callKey is a call path by its last call.
type callKey struct{ parent, method int32 }

// call is a call that has not ended.
type call struct{ node, method int32 }

// threadState is a thread at a record of it.
type threadState struct {
	stack  []call // callers first
	beyond int    // calls deeper than maxDepth
	last   uint64 // time of its last record, nanoseconds
	next   uint32 // first grid point that was not observed
	seen   bool   // it has records
	run    int32  // index of its last run, plus one
}

// node is the call path that the thread is in.
func (t *threadState) node() int32 {
	if len(t.stack) == 0 {
		return 0
	}
	return t.stack[len(t.stack)-1].node
}

func newObserver(t *Trace, period time.Duration, spare int) *observer {
	o := &observer{
		trace: t, period: uint64(period), spare: spare, end: t.endNanos(),
		threads:  make([]threadState, len(t.Threads)),
		threadOf: make(map[uint16]int32, len(t.Threads)),
		methodOf: make(map[uint32]int32, len(t.Methods)),
		nodeOf:   make(map[callKey]int32, len(t.Methods)),
		observed: []bool{true},
		recent:   -1,
	}
	o.out = Observations{Threads: t.Threads[:len(t.Threads):len(t.Threads)], Nodes: []Node{{}}, methods: t.Methods}
	for i, thread := range t.Threads {
		if _, known := o.threadOf[uint16(thread.ID)]; !known {
			o.threadOf[uint16(thread.ID)] = int32(i)
		}
	}
	for i, method := range t.Methods {
		if _, known := o.methodOf[method.ID]; !known {
			o.methodOf[method.ID] = int32(i)
		}
	}
	return o
}

// endNanos is the end of a trace. The header says when it was stopped, which is later than its last record where the buffer was full
// by then: nothing is known of the time between.
func (t *Trace) endNanos() uint64 {
	if t.Elapsed > 0 && !t.Overflow {
		return uint64(min(t.Elapsed, maxElapsed))
	}
	last := uint64(0)
	for r := t.reader(); ; {
		event, ok := r.next()
		if !ok {
			return last
		}
		last = max(last, event.nanos(t.Clock))
	}
}

// maxElapsed is the end of time for records: 32 bits of microseconds.
const maxElapsed = math.MaxUint32 * time.Microsecond

func (e *Event) nanos(clock Clock) uint64 {
	if clock == ClockThreadCPU {
		return uint64(e.CPU) * uint64(time.Microsecond)
	}
	return uint64(e.Wall) * uint64(time.Microsecond)
}

// record follows a thread through a record.
func (o *observer) record(e *Event) {
	index := o.thread(e.Thread)
	thread := &o.threads[index]
	o.advance(index, thread, e.nanos(o.trace.Clock))
	if method := o.method(e.Method); e.Action == Enter {
		o.enter(thread, method)
	} else {
		o.leave(thread, method)
	}
}

// advance observes a thread up to, and without, the time of a record. Clocks step back; time then stands still.
func (o *observer) advance(index int32, thread *threadState, now uint64) {
	switch now = min(now, o.end); {
	case !thread.seen:
		thread.seen, thread.last, thread.next = true, now, o.gridPoint(now)
		return
	case now <= thread.last:
		return
	}
	thread.last = now
	o.observeUntil(index, thread, now)
}

// gridPoint is the first point of the grid that is not before an instant.
func (o *observer) gridPoint(nanos uint64) uint32 {
	return uint32((nanos + o.period - 1) / o.period)
}

// observeUntil observes a thread at the points of the grid before an instant.
func (o *observer) observeUntil(index int32, thread *threadState, nanos uint64) {
	point := o.gridPoint(nanos)
	if point <= thread.next {
		return
	}
	o.add(thread, Run{Thread: index, Node: thread.node(), First: thread.next, Count: point - thread.next})
	thread.next = point
	for o.out.Count > o.spare+observationsPerByte*o.trace.size {
		o.coarsen()
	}
}

// add adds observations to the last run of a thread, or as a new one.
func (o *observer) add(thread *threadState, run Run) {
	o.out.Count += int(run.Count)
	if thread.run > 0 && o.out.Runs[thread.run-1].Node == run.Node {
		o.out.Runs[thread.run-1].Count += run.Count
		return
	}
	o.out.Runs = append(o.out.Runs, run)
	thread.run = int32(len(o.out.Runs))
	o.use(run.Node)
}

// coarsen doubles the period: of the observations so far, those at even points stay.
func (o *observer) coarsen() {
	runs := o.out.Runs
	o.period, o.out.Runs, o.out.Count = 2*o.period, runs[:0], 0
	for i := range o.threads {
		o.threads[i].next, o.threads[i].run = (o.threads[i].next+1)/2, 0
	}
	for _, run := range runs {
		first, end := (run.First+1)/2, (run.First+run.Count+1)/2
		if first < end {
			o.add(&o.threads[run.Thread], Run{run.Thread, run.Node, first, end - first})
		}
	}
}

// use bounds the stacks that are observed.
func (o *observer) use(node int32) {
	if o.observed[node] {
		return
	}
	o.observed[node] = true
	o.entries += int(o.out.Nodes[node].Depth)
	if most := o.spare + framesPerByte*o.trace.size; o.entries > most {
		o.tooLarge = fmt.Errorf("%w: stacks of more than %d frames together", ErrTooLarge, most)
	}
}

// finish observes threads that are still in a method to the end of the trace. The CPU time of a thread ends with its last record.
func (o *observer) finish() {
	if o.trace.Clock == ClockThreadCPU {
		return
	}
	for i := range o.threads {
		if thread := &o.threads[i]; len(thread.stack) > 0 {
			o.observeUntil(int32(i), thread, o.end)
		}
	}
}

func (o *observer) enter(thread *threadState, method int32) {
	if len(thread.stack) == maxDepth {
		thread.beyond++
		o.out.TooDeep++
		return
	}
	node := o.node(callKey{thread.node(), method}, len(thread.stack)+1)
	thread.stack = append(thread.stack, call{node, method})
}

// leave closes a method and what it still calls: an exit of that was lost. The exit from a method that was not entered is passed
// over.
func (o *observer) leave(thread *threadState, method int32) {
	if thread.beyond > 0 {
		thread.beyond--
		return
	}
	for i := len(thread.stack) - 1; i >= 0; i-- {
		if thread.stack[i].method == method {
			thread.stack = thread.stack[:i]
			return
		}
	}
	o.out.Unmatched++
}

func (o *observer) node(key callKey, depth int) int32 {
	node, known := o.nodeOf[key]
	if known {
		return node
	}
	if len(o.out.Nodes) == maxNodes {
		o.tooLarge = fmt.Errorf("%w: more than %d call paths", ErrTooLarge, maxNodes)
		return 0
	}
	node = int32(len(o.out.Nodes))
	o.out.Nodes = append(o.out.Nodes, Node{Parent: key.parent, Method: key.method, Depth: int32(depth)})
	o.observed = append(o.observed, false)
	o.nodeOf[key] = node
	return node
}

func (o *observer) thread(id uint16) int32 {
	if o.recent >= 0 && uint16(o.out.Threads[o.recent].ID) == id {
		return o.recent
	}
	index, known := o.threadOf[id]
	if !known {
		index = int32(len(o.out.Threads))
		o.out.Threads = append(o.out.Threads, Thread{ID: uint32(id)})
		o.threads = append(o.threads, threadState{})
		o.threadOf[id] = index
	}
	o.recent = index
	return index
}

func (o *observer) method(id uint32) int32 {
	index, known := o.methodOf[id]
	if !known {
		index = int32(o.out.Methods())
		o.out.unknown = append(o.out.unknown, id)
		o.methodOf[id] = index
	}
	return index
}

func (o *observer) result() (*Observations, error) {
	switch {
	case o.tooLarge != nil:
		return nil, o.tooLarge
	case o.entries == 0:
		return nil, fmt.Errorf("%w: none of %d threads was in a method at a point of the grid", ErrEmpty, len(o.threads))
	}
	o.out.Period = time.Duration(o.period)
	o.out.Spent = max(0, o.out.Count-observationsPerByte*o.trace.size, o.entries-framesPerByte*o.trace.size)
	return &o.out, nil
}
