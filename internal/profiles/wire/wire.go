// SPDX-License-Identifier: Apache-2.0

// Package wire iterates over the fields of encoded protobuf messages, without their schema. It is
// for evidence, limits and translations that must see a message before its decoder does.
package wire

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// Field is one field of an encoded protobuf message.
type Field struct {
	Number protowire.Number
	Kind   protowire.Type
	Tag    int    // the position of its tag in the message
	Varint uint64 // the value of a number
	Bytes  []byte // the value of a length-delimited field
}

// Is reports whether the field has the given number and type.
func (f Field) Is(number protowire.Number, kind protowire.Type) bool {
	return f.Number == number && f.Kind == kind
}

// Fields iterates over the fields of a message. It ends at the first malformed field, which the
// decoder of the message will report.
func Fields(message []byte) iter.Seq[Field] {
	return func(yield func(Field) bool) {
		for at := 0; at < len(message); {
			f, size := next(message[at:])
			if size < 0 {
				return
			}
			f.Tag = at
			if !yield(f) {
				return
			}
			at += size
		}
	}
}

// next returns the first field of a message and its size, which is negative if it is malformed.
func next(message []byte) (f Field, size int) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return Field{}, tag
	}
	f, n := Field{Number: number, Kind: kind}, 0
	switch kind {
	case protowire.VarintType:
		f.Varint, n = protowire.ConsumeVarint(message[tag:])
	case protowire.Fixed64Type:
		f.Varint, n = protowire.ConsumeFixed64(message[tag:])
	case protowire.BytesType:
		f.Bytes, n = protowire.ConsumeBytes(message[tag:])
	case protowire.Fixed32Type:
		_, n = protowire.ConsumeFixed32(message[tag:])
	default:
		n = -1 // a group, which neither OTLP nor pprof has
	}
	if n < 0 {
		return Field{}, n
	}
	return f, tag + n
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
func (f Field) Varints() iter.Seq[uint64] {
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
