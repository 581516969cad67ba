// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"encoding/binary"
	"fmt"
	"iter"
)

// magic begins the binary part.
const magic = "SLOW"

// streamingFlag is added to the version of a streaming trace.
const streamingFlag = 0xF0

// Sizes of records: u16 thread (u8 in version 1), u32 method and action, u32 time, and with two clocks another u32 time.
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

// readHeader reads magic, u16 version, u16 size, u64 start and, from version 3 on, u16 size of records.
func readHeader(data []byte) (h header, err error) {
	if len(data) < 18 || string(data[:4]) != magic {
		return h, fmt.Errorf("%w: no header %q before the records", ErrMalformed, magic)
	}
	version := binary.LittleEndian.Uint16(data[4:])
	h.streaming = version&streamingFlag == streamingFlag
	h.version = int(version &^ streamingFlag)
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

// Action is what a thread did.
type Action uint8

const (
	Enter  Action = 0
	Exit   Action = 1
	Unwind Action = 2 // left by an exception
)

// actionMask are the bits of a method's id that hold the action.
const actionMask = 3

// Event is a record. Times are microseconds since the start of the trace; 0 where the trace has no such clock.
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
		r := t.reader()
		for event, ok := r.next(); ok && yield(event); event, ok = r.next() {
		}
	}
}

// reader reads records. In a streaming trace, blocks lie between them.
type reader struct {
	rest      []byte
	size      int
	clock     Clock
	version   int
	streaming bool
}

func (t *Trace) reader() reader {
	return reader{rest: t.records, size: t.recordSize, clock: t.Clock, version: t.Version, streaming: t.Streaming}
}

func (r *reader) next() (e Event, ok bool) {
	if r.streaming {
		for r.atBlock() {
			if _, _, ok := r.block(); !ok {
				return e, false
			}
		}
	}
	if len(r.rest) < r.size {
		return e, false
	}
	record := r.rest[:r.size]
	r.rest = r.rest[r.size:]
	if r.version == 1 {
		e.Thread, record = uint16(record[0]), record[1:]
	} else {
		e.Thread, record = binary.LittleEndian.Uint16(record), record[2:]
	}
	method, first := binary.LittleEndian.Uint32(record), binary.LittleEndian.Uint32(record[4:])
	e.Method, e.Action = method&^actionMask, Action(method&actionMask)
	switch r.clock {
	case ClockDual:
		e.CPU, e.Wall = first, binary.LittleEndian.Uint32(record[8:])
	case ClockThreadCPU:
		e.CPU = first
	default:
		e.Wall = first
	}
	return e, true
}
