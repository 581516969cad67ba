// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"iter"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of an encoded protobuf message.
type field struct {
	number protowire.Number
	kind   protowire.Type
	tag    int    // the position of its tag in the message
	varint uint64 // the value of a number
	bytes  []byte // the value of a length-delimited field
}

// is reports whether the field has the given number and type.
func (f field) is(number protowire.Number, kind protowire.Type) bool {
	return f.number == number && f.kind == kind
}

// fields iterates over the fields of a message. It ends at the first malformed field, which the
// decoder of the result will report.
func fields(message []byte) iter.Seq[field] {
	return func(yield func(field) bool) {
		for at := 0; at < len(message); {
			f, size := next(message[at:])
			if size < 0 {
				return
			}
			f.tag = at
			if !yield(f) {
				return
			}
			at += size
		}
	}
}

// next returns the first field of a message and its size, which is negative if it is malformed.
func next(message []byte) (f field, size int) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return field{}, tag
	}
	f, n := field{number: number, kind: kind}, 0
	switch kind {
	case protowire.VarintType:
		f.varint, n = protowire.ConsumeVarint(message[tag:])
	case protowire.Fixed64Type:
		f.varint, n = protowire.ConsumeFixed64(message[tag:])
	case protowire.BytesType:
		f.bytes, n = protowire.ConsumeBytes(message[tag:])
	case protowire.Fixed32Type:
		_, n = protowire.ConsumeFixed32(message[tag:])
	default:
		n = -1 // OTLP has no groups
	}
	if n < 0 {
		return field{}, n
	}
	return f, tag + n
}

// within iterates over the contents of all fields with a number.
func within(message []byte, number protowire.Number) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for f := range fields(message) {
			if f.is(number, protowire.BytesType) && !yield(f.bytes) {
				return
			}
		}
	}
}

// eachVarint iterates over a repeated number, packed or not.
func (f field) eachVarint() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		if f.kind != protowire.BytesType {
			yield(f.varint)
			return
		}
		for rest := f.bytes; len(rest) > 0; {
			v, n := protowire.ConsumeVarint(rest)
			if n < 0 || !yield(v) {
				return
			}
			rest = rest[n:]
		}
	}
}

func appendBytes(to []byte, number protowire.Number, value []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), value)
}

func appendVarint(to []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(to, number, protowire.VarintType), value)
}

func appendFixed64(to []byte, number protowire.Number, value uint64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(to, number, protowire.Fixed64Type), value)
}

// appendField copies a field and changes its number.
func appendField(to []byte, number protowire.Number, f field) []byte {
	switch f.kind {
	case protowire.VarintType:
		return appendVarint(to, number, f.varint)
	case protowire.Fixed64Type:
		return appendFixed64(to, number, f.varint)
	case protowire.BytesType:
		return appendBytes(to, number, f.bytes)
	}
	return to // no message of OTLP profiles has another type
}

// appendPacked appends a list of numbers.
func appendPacked[N int32 | uint64](to []byte, number protowire.Number, values []N) []byte {
	if len(values) == 0 {
		return to
	}
	size := 0
	for _, v := range values {
		size += protowire.SizeVarint(uint64(v))
	}
	to = protowire.AppendVarint(protowire.AppendTag(to, number, protowire.BytesType), uint64(size))
	for _, v := range values {
		to = protowire.AppendVarint(to, uint64(v))
	}
	return to
}
