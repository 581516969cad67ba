// SPDX-License-Identifier: Apache-2.0

package arttrace

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// blockKind is the kind of a block between the records of a streaming trace. Blocks start with a
// thread ID of 0.
type blockKind byte

const (
	methodBlock  blockKind = 1 // u16 length, a method line
	threadBlock  blockKind = 2 // u16 thread ID, u16 length, name
	summaryBlock blockKind = 3 // u32 length, the text from *version on; the last block
)

// parseStreaming reads the tables of a streaming trace. Its records are read later, as in a file,
// because only the end of the trace states the clock.
func parseStreaming(data []byte) (*Trace, error) {
	head, err := readHeader(data)
	if err != nil {
		return nil, err
	}
	if !head.streaming {
		return nil, fmt.Errorf("%w: a header without a text before it", ErrMalformed)
	}
	t := &Trace{Streaming: true, Clock: ClockDual} // the default if the summary is missing, as in a truncated trace
	r := newReader(data[head.size:], head.version, head.recordSize, true)
	for {
		if !r.atBlock() {
			if len(r.rest) < r.size {
				break
			}
			r.rest = r.rest[r.size:]
			continue
		}
		kind, text, ok := r.block()
		if !ok {
			break
		}
		t.addBlock(kind, text)
	}
	return t.complete(head, data)
}

func (t *Trace) addBlock(kind blockKind, text []byte) {
	switch kind {
	case methodBlock:
		t.addMethodLine(string(text))
	case threadBlock:
		t.addThread(Thread{ID: uint32(binary.LittleEndian.Uint16(text)), Name: string(text[4:])})
	case summaryBlock:
		settings, _, _ := strings.Cut(string(text), "*threads") // the rest repeats the tables
		t.parseText(settings)
	}
}

// atBlock reports whether a block follows instead of a record.
func (r *reader) atBlock() bool {
	if r.method == 1 {
		return len(r.rest) > 1 && r.rest[0] == 0
	}
	return len(r.rest) > 2 && r.rest[0] == 0 && r.rest[1] == 0
}

// block reads a block. In a thread block, the name follows the ID and the length. After an unknown
// or incomplete block, nothing can be read.
func (r *reader) block() (kind blockKind, text []byte, ok bool) {
	kind = blockKind(r.rest[r.method])
	content := r.rest[r.method+1:]
	length, before := 0, 0
	switch {
	case kind == methodBlock && len(content) >= 2:
		length, before = int(binary.LittleEndian.Uint16(content)), 2
	case kind == threadBlock && len(content) >= 4:
		length = 4 + int(binary.LittleEndian.Uint16(content[2:]))
	case kind == summaryBlock && len(content) >= 4:
		length, before = int(binary.LittleEndian.Uint32(content)), 4
	default:
		return 0, nil, false
	}
	if len(content)-before < length {
		return 0, nil, false
	}
	r.rest = content[before+length:]
	return kind, content[before : before+length], true
}
