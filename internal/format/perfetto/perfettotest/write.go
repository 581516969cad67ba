// SPDX-License-Identifier: Apache-2.0

// Package perfettotest writes Perfetto traces, for the tests of packages that read them.
package perfettotest

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Message encodes fields, given as number and value in turn: int is a number, string and []byte are
// text or a message, []int is a packed list of numbers.
func Message(fields ...any) (data []byte) {
	for i := 0; i < len(fields); i += 2 {
		number := protowire.Number(fields[i].(int))
		switch value := fields[i+1].(type) {
		case int:
			data = protowire.AppendVarint(protowire.AppendTag(data, number, protowire.VarintType), uint64(value))
		case string:
			data = protowire.AppendString(protowire.AppendTag(data, number, protowire.BytesType), value)
		case []byte:
			data = protowire.AppendBytes(protowire.AppendTag(data, number, protowire.BytesType), value)
		case []int:
			var packed []byte
			for _, v := range value {
				packed = protowire.AppendVarint(packed, uint64(v))
			}
			data = protowire.AppendBytes(protowire.AppendTag(data, number, protowire.BytesType), packed)
		default:
			panic(fmt.Sprintf("no encoding for %T", value))
		}
	}
	return data
}

// Trace encodes packets.
func Trace(packets ...[]byte) (data []byte) {
	for _, packet := range packets {
		data = append(data, Message(1, packet)...)
	}
	return data
}

// Boottime and Unix are the start of all traces on two clocks, in nanoseconds.
const (
	Boottime = 1_000_000_000_000
	Unix     = 1_771_278_043_846_000_000
)

// Snapshot is a packet with a clock snapshot at the start.
func Snapshot() []byte {
	return Message(6, Message(1, Message(1, 6, 2, Boottime), 1, Message(1, 1, 2, Unix)))
}

// Interned is a packet of sequence 1 that adds to its tables. InternedData is given as fields of
// Message.
func Interned(fields ...any) []byte { return Message(10, 1, 12, Message(fields...)) }

// Text is an entry for Interned, like Mapping, Frame and Callstack.
func Text(id int, text string) []byte { return Message(1, id, 2, text) }

// Mapping has a path of one segment.
func Mapping(id, buildID, start, end, offset, path int) []byte {
	return Message(1, id, 2, buildID, 4, start, 5, end, 8, offset, 7, path)
}

// Frame is a place in a function.
func Frame(id, function, mapping, relPC int) []byte {
	return Message(1, id, 2, function, 3, mapping, 4, relPC)
}

// Callstack has frames, root first.
func Callstack(id int, frames ...int) []byte { return Message(1, id, 2, frames) }

// Sample is a packet of sequence 1 with a sample of process 40. after is the number of nanoseconds
// since the start.
func Sample(after, tid, callstack int) []byte {
	return Message(8, Boottime+after, 10, 1, 66, Message(2, 40, 3, tid, 4, callstack))
}
