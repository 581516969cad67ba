// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// magic is the start of the binary part.
const magic = "SLOW"

// streamingFlag is added to the version of a streaming trace.
const streamingFlag = 0xF0

// Sizes of records: u16 thread (u8 in version 1), u32 method and action, u32 time and, with two
// clocks, another u32 time.
const (
	oldSize    = 9  // version 1
	singleSize = 10 // versions 2 and 3
	dualSize   = 14 // version 3: CPU time first
)

// header is the start of the binary part.
type header struct {
	version    int
	streaming  bool
	size       int    // offset of the first record
	start      uint64 // microseconds since boot
	recordSize int
}

// readHeader reads magic, u16 version, u16 size, u64 start and, from version 3 on, u16 size of
// records.
func readHeader(data []byte) (h header, err error) {
	if len(data) < 18 || string(data[:4]) != magic {
		return h, fmt.Errorf("%w: no header %q before the records", ErrMalformed, magic)
	}
	h.version = int(binary.LittleEndian.Uint16(data[4:]))
	if h.streaming = h.version&streamingFlag == streamingFlag; h.streaming {
		h.version &^= streamingFlag
	}
	h.size = int(binary.LittleEndian.Uint16(data[6:]))
	h.start = binary.LittleEndian.Uint64(data[8:])
	least := singleSize
	switch h.version {
	case 1:
		h.recordSize, least = oldSize, oldSize
	case 2:
		h.recordSize = singleSize
	case 3:
		h.recordSize = int(binary.LittleEndian.Uint16(data[16:]))
	default:
		return h, fmt.Errorf("%w: version %d, expected 1 to 3", ErrMalformed, h.version)
	}
	if h.recordSize < least {
		return h, fmt.Errorf("%w: records of %d bytes, at least %d", ErrMalformed, h.recordSize, least)
	}
	if h.size < 16 || h.size > len(data) {
		return h, fmt.Errorf("%w: a header of %d bytes in %d", ErrMalformed, h.size, len(data))
	}
	return h, nil
}

// Action is the event of a record.
type Action uint8

const (
	Enter  Action = 0
	Exit   Action = 1
	Unwind Action = 2 // left because of an exception
)

// actionMask has the bits of the action in a method ID.
const actionMask = 3

// Event is a record. Times are in microseconds since the start of the trace; they are 0 if the
// trace does not have the clock.
type Event struct {
	Thread uint16 // the low 16 bits of Thread.ID
	Method uint32 // Method.ID
	Action Action
	Wall   uint32
	CPU    uint32 // of the thread
}

// Events returns the records in their order.
func (t *Trace) Events() iter.Seq[Event] {
	return func(yield func(Event) bool) {
		var events [eventsAtOnce]Event
		for r := t.reader(); ; {
			read := r.read(events[:])
			for _, event := range events[:read] {
				if !yield(event) {
					return
				}
			}
			if read < len(events) {
				return
			}
		}
	}
}

// eventsAtOnce is how many records are read at once: 4 kB of them.
const eventsAtOnce = 256

// reader reads records. In a streaming trace, there are blocks between records.
type reader struct {
	rest      []byte
	size      int // of a record, and the offsets of its fields: 0 = the trace has no such clock
	method    int
	wall, cpu int
	streaming bool
}

func (t *Trace) reader() reader {
	r := newReader(t.records, t.Version, t.recordSize, t.Streaming)
	first := r.method + 4
	switch t.Clock {
	case ClockDual:
		r.cpu, r.wall = first, first+4
	case ClockThreadCPU:
		r.cpu = first
	default:
		r.wall = first
	}
	return r
}

// newReader returns a reader that does not read times: the clock of a streaming trace is known only
// at its end.
func newReader(records []byte, version, size int, streaming bool) reader {
	return reader{rest: records, size: size, method: min(version, 2), streaming: streaming}
}

// read reads the next records into events, and returns their number. If it is less than the length
// of events, they are the last records.
func (r *reader) read(events []Event) (count int) {
	for count < len(events) && r.skipBlocks() && len(r.rest) >= r.size {
		batch := 1 // in a streaming trace, a block may follow each record
		if !r.streaming {
			batch = min(len(events)-count, len(r.rest)/r.size)
		}
		rest := r.rest
		for i := range events[count : count+batch] {
			r.decode(rest[:r.size], &events[count+i])
			rest = rest[r.size:]
		}
		r.rest = rest
		count += batch
	}
	return count
}

// skipBlocks skips blocks, and reports whether records may follow.
func (r *reader) skipBlocks() bool {
	for r.streaming && r.atBlock() {
		if _, _, ok := r.block(); !ok {
			return false
		}
	}
	return true
}

func (r *reader) decode(record []byte, e *Event) {
	if e.Thread = uint16(record[0]); r.method > 1 {
		e.Thread |= uint16(record[1]) << 8
	}
	method := binary.LittleEndian.Uint32(record[r.method:])
	e.Method, e.Action = method&^actionMask, Action(method&actionMask)
	if r.wall > 0 {
		e.Wall = binary.LittleEndian.Uint32(record[r.wall:])
	}
	if r.cpu > 0 {
		e.CPU = binary.LittleEndian.Uint32(record[r.cpu:])
	}
}
