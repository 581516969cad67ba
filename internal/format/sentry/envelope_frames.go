// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Frames are the unchanged parts of an envelope, for forwarding it. Unknown fields and item types
// are preserved byte for byte.
type Frames struct {
	Header []byte // without the newline
	Items  []Frame
}

// Frame is one item.
type Frame struct {
	Item
	Raw []byte // its header and its payload, with their newlines if they were sent

	missing int // number of newlines to add before another item
}

// ReadFrames splits an envelope by the rules of ReadEnvelope, and has the same errors. The parts
// are sub-slices of body.
func ReadFrames(body []byte) (*Frames, error) {
	f := &Frames{}
	r := envelopeReader{body: body}
	var header EnvelopeHeader
	if err := r.envelopeHeader(&header); err != nil {
		return f, err
	}
	s := jsonscan.Scanner{Data: body, Pos: r.start}
	f.Header = s.Value()
	for !r.atEnd() {
		r.item++
		if len(f.Items) == MaxEnvelopeItems {
			return f, r.fail(ReasonEnvelopeTooManyItems, "more than %d items", MaxEnvelopeItems)
		}
		var frame Frame
		if err := r.readItem(&frame.Item); err != nil {
			return f, err
		}
		frame.Raw = body[r.start:r.pos:r.pos]
		frame.missing = r.missingNewlines(len(frame.Payload))
		f.Items = append(f.Items, frame)
	}
	return f, nil
}

// Append appends the envelope to dst.
func (f *Frames) Append(dst []byte) []byte {
	dst = append(append(dst, f.Header...), '\n')
	for i := range f.Items {
		dst = append(dst, f.Items[i].Raw...)
		dst = append(dst, "\n\n"[:f.Items[i].missing]...)
	}
	return dst
}

// Size returns the number of bytes that Append writes.
func (f *Frames) Size() int {
	size := len(f.Header) + 1
	for i := range f.Items {
		size += len(f.Items[i].Raw) + f.Items[i].missing
	}
	return size
}

// missingNewlines returns how many newlines the last item lacks: one after its payload, and one
// after its header if the envelope ends there.
func (r *envelopeReader) missingNewlines(payload int) int {
	switch {
	case r.pos > r.end:
		return 0
	case payload == 0 && r.body[r.end-1] != '\n':
		return 2
	}
	return 1
}

// WithPayload returns the item with another payload that has the given number of elements. All
// other header fields stay unchanged.
func (f *Frame) WithPayload(payload []byte, elements int) Frame {
	s := jsonscan.Scanner{Data: f.Raw}
	header := s.Value()
	edited := EditHeader(header, HeaderEdit{Key: "length", Value: strconv.Itoa(len(payload)), Number: true},
		HeaderEdit{Key: "item_count", Value: strconv.Itoa(elements), Number: true})
	raw := make([]byte, 0, len(edited)+len(payload)+2)
	raw = append(append(raw, edited...), '\n')
	raw = append(append(raw, payload...), '\n')
	changed := Frame{Item: Item{Header: f.Header, Payload: raw[len(edited)+1 : len(raw)-1 : len(raw)-1]}, Raw: raw}
	if changed.Header.ItemCount.Set {
		changed.Header.ItemCount.Value = elements
	}
	return changed
}

// HeaderEdit replaces a value in a header. It does not add missing fields.
type HeaderEdit struct {
	Key, Inner string // Inner is a key in the object at Key; "" = the value of Key itself
	Value      string // the new text
	Number     bool   // Value replaces a number, not a text
}

// EditHeader returns the header of an envelope or item with some values replaced. The rest is
// preserved byte for byte. The header must come from ReadFrames.
func EditHeader(header []byte, edits ...HeaderEdit) []byte {
	e := headerEditor{Scanner: jsonscan.Scanner{Data: header}}
	e.object(edits, "")
	return append(e.dst, header[e.copied:]...)
}

type headerEditor struct {
	jsonscan.Scanner
	dst    []byte
	copied int // number of header bytes that were copied or replaced
}

// object edits the current object, which is the value of the key outer.
func (e *headerEditor) object(edits []HeaderEdit, outer string) {
	if !e.Open('{') {
		return
	}
	for n := 0; ; {
		key, ok := e.Member(&n)
		if !ok {
			return
		}
		name := string(key)
		c := e.Peek()
		start := e.Pos
		if outer == "" && c == '{' {
			e.object(edits, name)
			continue
		}
		e.Skip()
		for _, edit := range edits {
			if outer == "" && edit.Inner == "" && edit.Key == name || edit.Key == outer && edit.Inner == name {
				e.replace(&edit, c, start)
			}
		}
	}
}

// replace replaces the value between start and the scanner position. Its first byte is c.
func (e *headerEditor) replace(edit *HeaderEdit, c byte, start int) {
	switch {
	case c == '"' && !edit.Number:
		e.dst = append(e.dst, e.Data[e.copied:start]...)
		e.dst = jsonscan.AppendJSONText(e.dst, edit.Value)
	case jsonscan.IsDigit(c) && edit.Number:
		e.dst = append(e.dst, e.Data[e.copied:start]...)
		e.dst = append(e.dst, edit.Value...)
	default:
		return
	}
	e.copied = e.Pos
}
