// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Parse reads a trace. It skips an invalid packet, and an incomplete one at the end.
func Parse(data []byte) (*Trace, error) {
	r := newReader(len(data))
	m := fieldsOf(data)
	for packets := 0; m.next(); {
		if m.Number != tracePacket {
			continue
		}
		switch packets++; {
		case packets > maxPackets:
			return nil, fmt.Errorf("%w: more than %d packets", ErrTooLarge, maxPackets)
		case len(m.Bytes) > maxPacketBytes:
			return nil, fmt.Errorf("%w: a packet of %d bytes, at most %d", ErrTooLarge, len(m.Bytes), maxPacketBytes)
		case m.Bytes == nil || !r.packet.read(m.Bytes):
			r.trace.Lost.Packets++
		default:
			if err := r.read(&r.packet); err != nil {
				return nil, err
			}
		}
	}
	if m.Broken {
		if len(r.samples) == 0 {
			return nil, fmt.Errorf("%w: the encoding breaks off %d bytes before the end", ErrMalformed, len(m.Rest))
		}
		r.trace.Lost.Packets++
	}
	return r.finish()
}

// reader is the state of reading a trace.
type reader struct {
	packet    packet
	sequences map[uint32]*sequence
	entries   int // of all tables
	clocks    clocks
	names     map[uint32][]byte // of threads, by ID
	samples   []sample
	threads   map[uint32]int32 // tid → index
	builder
}

// sample is a sample with an unresolved time, because a snapshot of its clock may follow.
type sample struct {
	Sample
	clock clock
}

func newReader(size int) *reader {
	return &reader{
		sequences: map[uint32]*sequence{}, clocks: clocks{}, names: map[uint32][]byte{}, threads: map[uint32]int32{},
		builder: newBuilder(size),
	}
}

// read processes a packet. It updates the tables before it resolves the sample of the same packet.
func (r *reader) read(p *packet) error {
	s := r.sequences[p.sequence]
	if s == nil {
		if len(r.sequences) == maxSequences {
			return fmt.Errorf("%w: more than %d sequences of packets", ErrTooLarge, maxSequences)
		}
		s = &sequence{}
		r.sequences[p.sequence] = s
	}
	if p.cleared {
		r.entries -= s.entries()
		s.clear()
	}
	ok := s.setDefaults(p.defaults)
	for _, data := range p.interned {
		good, err := r.intern(s, data)
		if err != nil {
			return err
		}
		ok = ok && good
	}
	ok = (p.clockSnapshot == nil || r.clocks.snapshot(p.sequence, p.clockSnapshot)) && ok
	ok = r.nameThreads(p) && ok
	if p.perfSample != nil {
		good, err := r.sample(s, p)
		if err != nil {
			return err
		}
		ok = ok && good
	}
	if !ok {
		r.trace.Lost.Packets++
	}
	return nil
}

// Fields of TracePacketDefaults, PerfSampleDefaults and PerfEvents.Timebase.
const (
	defaultsPerfSample = 12
	defaultsClockID    = 58
	perfTimebase       = 1
	timebaseFrequency  = 2
)

func (s *sequence) setDefaults(data []byte) bool {
	m := fieldsOf(data)
	for m.next() {
		switch m.Number {
		case defaultsClockID:
			s.clock = m.uint32()
		case defaultsPerfSample:
			for perf := fieldsOf(m.Bytes); perf.next(); {
				if perf.Number == perfTimebase {
					s.setTimebase(perf.Bytes)
				}
			}
		}
	}
	return !m.Broken
}

func (s *sequence) setTimebase(data []byte) {
	for m := fieldsOf(data); m.next(); {
		if m.Number == timebaseFrequency && m.Varint > 0 && m.Varint <= uint64(time.Second) {
			s.period = uint64(time.Second) / m.Varint
		}
	}
}

// sample reads a PerfSample. It reports whether the message is well-formed. Some are not samples of
// the recorded process: a count of records that the kernel lost on a CPU, an event of the profiler,
// and a sample of another process.
func (r *reader) sample(s *sequence, p *packet) (ok bool, err error) {
	var pid, tid uint32
	stack, foreign := uint64(noID), false
	out := sample{clock: clockOf(p.sequence, cmp.Or(p.clock, s.clock))}
	out.Time = p.timestamp
	m := fieldsOf(p.perfSample)
	for m.next() {
		switch m.Number {
		case samplePID:
			pid = m.uint32()
		case sampleTID:
			tid = m.uint32()
		case sampleCallstack:
			stack = m.Varint
		case sampleMode:
			out.Mode = CPUMode(min(m.Varint, 255))
		case sampleUnwind:
			out.Unwind = UnwindError(min(m.Varint, 255))
		case sampleKernelLost, sampleEvent:
			foreign = true
		case sampleSkipped:
			foreign = foreign || m.Varint == skippedOutOfScope
		}
	}
	switch {
	case m.Broken:
		return false, nil
	case foreign:
		return true, nil
	case stack == noID:
		r.trace.Lost.Skipped++
		return true, nil
	case len(r.samples) == maxSamples:
		return false, fmt.Errorf("%w: more than %d samples", ErrTooLarge, maxSamples)
	}
	if out.Stack, ok, err = r.stack(s, stack); err != nil || !ok {
		r.trace.Lost.Stacks++
		return err == nil, err
	}
	if s.period > 0 && r.trace.Period == 0 {
		r.trace.Period = time.Duration(s.period)
	}
	out.Thread = r.thread(pid, tid)
	r.samples = append(r.samples, out)
	return true, nil
}

func (r *reader) thread(pid, tid uint32) int32 {
	index, known := r.threads[tid]
	if !known {
		index = int32(len(r.trace.Threads))
		r.trace.Threads = append(r.trace.Threads, Thread{PID: pid, TID: tid})
		r.threads[tid] = index
	}
	return index
}

// finish converts readings of clocks to times, sorts the samples, and sets the names of threads.
func (r *reader) finish() (*Trace, error) {
	if len(r.samples) == 0 {
		return nil, fmt.Errorf("%w: %d without a call stack, %d with an unknown one", ErrEmpty, r.trace.Lost.Skipped, r.trace.Lost.Stacks)
	}
	t := &r.trace
	t.Samples = make([]Sample, 0, len(r.samples))
	for i := range r.samples {
		s := &r.samples[i]
		nanos, ok := r.clocks.unixNano(s.clock, s.Time)
		if !ok {
			t.Lost.Clocks++
			continue
		}
		s.Time = nanos
		t.Samples = append(t.Samples, s.Sample)
	}
	if len(t.Samples) == 0 {
		return nil, fmt.Errorf("%w: for %d samples", ErrNoClock, t.Lost.Clocks)
	}
	slices.SortStableFunc(t.Samples, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
	for i := range t.Threads {
		thread := &t.Threads[i]
		thread.Name = r.string(r.names[thread.TID])
		if thread.TID == thread.PID {
			thread.Name = r.string([]byte("main"))
		}
	}
	return t, nil
}
