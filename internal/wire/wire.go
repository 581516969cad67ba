// SPDX-License-Identifier: Apache-2.0

// Package wire iterates over the fields of encoded protobuf messages, without their schema: for
// evidence, limits and translations that must see a message before its decoder does, and for
// formats of which few fields are read.
package wire

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field is one field of an encoded protobuf message.
type Field struct {
	Number protowire.Number
	Kind   protowire.Type
	Raw    []byte // its encoding, with the tag
	Varint uint64 // the value of a number of variable size or 64 bits
	Bytes  []byte // the value of a length-delimited field, else nil
}

// Is reports whether the field has the given number and type.
func (f *Field) Is(number protowire.Number, kind protowire.Type) bool {
	return f.Number == number && f.Kind == kind
}

// Message reads the fields of an encoded message, without copying them.
type Message struct {
	Field         // the current one
	Rest   []byte // what follows it
	Broken bool   // Rest does not begin with a complete field
}

// Next reads the next field. It skips groups, which no format has that is read here.
func (m *Message) Next() bool {
	for len(m.Rest) > 0 {
		number, kind, tag := protowire.ConsumeTag(m.Rest)
		m.Field = Field{Number: number, Kind: kind}
		size := tag
		if tag > 0 {
			switch content := m.Rest[tag:]; kind {
			case protowire.VarintType:
				m.Varint, size = protowire.ConsumeVarint(content)
			case protowire.Fixed64Type:
				m.Varint, size = protowire.ConsumeFixed64(content)
			case protowire.BytesType:
				m.Bytes, size = protowire.ConsumeBytes(content)
			default:
				size = protowire.ConsumeFieldValue(number, kind, content)
			}
		}
		if size < 0 {
			m.Broken = true
			return false
		}
		m.Raw, m.Rest = m.Rest[:tag+size], m.Rest[tag+size:]
		if kind != protowire.StartGroupType {
			return true
		}
	}
	return false
}

// Fields iterates over the fields of a message. It ends at the first malformed field, which the
// decoder of the message will report.
func Fields(message []byte) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for m := (Message{Rest: message}); m.Next() && yield(m.Field); {
		}
	}
}

// Within iterates over the contents of all fields with a number.
func Within(message []byte, number protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for f := range Fields(message) {
			if f.Is(number, protowire.BytesType) && !yield(f.Bytes) {
				return
			}
		}
	}
}

// Varints iterates over a repeated number, packed or not.
func (f *Field) Varints() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if f.Kind != protowire.BytesType {
			yield(f.Varint)
			return
		}
		for rest := f.Bytes; len(rest) > 0; {
			v, n := protowire.ConsumeVarint(rest)
			if n < 0 || !yield(v) {
				return
			}
			rest = rest[n:]
		}
	}
}
