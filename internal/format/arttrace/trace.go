// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"bytes"
	"fmt"
	"time"
)

// Trace is a method trace. Its records refer to the data that it was parsed from, which must not
// change; its texts are copies.
type Trace struct {
	Version   int // 1, 2 or 3
	Streaming bool
	Clock     Clock
	Elapsed   time.Duration // from the header; 0 if absent
	SinceBoot time.Duration // start of the trace, as the time since boot
	Overflow  bool          // the buffer was full before the end, and the rest of the trace is lost
	VM        string
	PID       string

	Threads []Thread // of the table, in order
	Methods []Method // of the table, in order

	size       int // of the data
	records    []byte
	recordSize int
	tooLarge   error // the tables exceed a limit
}

// Clock is the clock of the records.
type Clock int8

const (
	ClockGlobal    Clock = iota // wall time, as Dalvik called it
	ClockWall                   // wall time
	ClockThreadCPU              // CPU time of each thread
	ClockDual                   // both
)

var clocks = map[string]Clock{"global": ClockGlobal, "wall": ClockWall, "thread-cpu": ClockThreadCPU, "dual": ClockDual}

// Thread is a thread. Records refer to it by the low 16 bits of the kernel's thread ID.
type Thread struct {
	ID   uint32 // as in the table
	Name string
}

// Method is a method. The low two bits of its ID in records are zero. Absent texts are empty.
type Method struct {
	ID        uint32
	Class     string // com.example.Shop$Cart
	Name      string
	Signature string // (Ljava/lang/String;)V
	File      string
	Line      uint32 // 0 = none
}

// Parse reads a method trace: the text, the tables and the range of the records. If the trace ends
// within a record, it ignores that record.
func Parse(data []byte) (t *Trace, err error) {
	if bytes.HasPrefix(data, []byte(magic)) {
		t, err = parseStreaming(data)
	} else {
		t, err = parseFile(data)
	}
	if err == nil {
		t.size = len(data)
	}
	return t, err
}

// endOfText is the line before the binary part.
const endOfText = "\n*end\n"

func parseFile(data []byte) (*Trace, error) {
	text, binary, found := bytes.Cut(data, []byte(endOfText))
	if !found || !bytes.HasPrefix(text, []byte("*version\n")) {
		return nil, fmt.Errorf("%w: no text from *version to *end", ErrMalformed)
	}
	head, err := readHeader(binary)
	if err != nil {
		return nil, err
	}
	if head.streaming {
		return nil, fmt.Errorf("%w: a streaming header behind a text", ErrMalformed)
	}
	t := &Trace{}
	t.parseText(string(text))
	return t.complete(head, binary)
}

// complete sets the records of a trace after its tables were read.
func (t *Trace) complete(h header, binary []byte) (*Trace, error) {
	if t.tooLarge != nil {
		return nil, t.tooLarge
	}
	t.Version, t.SinceBoot = h.version, time.Duration(min(h.start, maxMicros))*time.Microsecond
	if t.Clock == ClockDual && h.recordSize < dualSize {
		t.Clock = ClockWall // versions 1 and 2 have one clock
	}
	t.records, t.recordSize = binary[h.size:], h.recordSize
	return t, nil
}

func (t *Trace) addThread(thread Thread) {
	if len(t.Threads) == maxThreads {
		t.tooLarge = errManyThreads
		return
	}
	t.Threads = append(t.Threads, thread)
}

func (t *Trace) addMethod(method Method) {
	if len(t.Methods) == maxMethods {
		t.tooLarge = errManyMethods
		return
	}
	t.Methods = append(t.Methods, method)
}
