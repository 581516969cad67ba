// SPDX-License-Identifier: Apache-2.0

// Package extremes changes the numbers in binary files to extreme values, for tests of readers:
// counts, offsets, sizes and IDs that are zero, equal to others, too large, or negative.
package extremes

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"google.golang.org/protobuf/encoding/protowire"
)

var values = []uint64{
	0, 1, 2, 3, 127, 128, 255, 1000, 1<<16 - 1, 1 << 16, 1<<24 + 1, math.MaxInt32, 1 << 31, math.MaxUint32, 1 << 32,
	math.MaxInt64, 1 << 63, math.MaxUint64 - 1, math.MaxUint64,
}

func value(random *rand.Rand) uint64 { return values[random.IntN(len(values))] }

// Protobuf returns an encoded message in which one of rarity numbers is extreme, one of rarity
// fields is repeated, and one of them is at the end of its message. Texts that parse as messages
// are changed, too.
func Protobuf(random *rand.Rand, rarity int, message []byte) (out []byte) {
	var last []byte
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return append(append(out, message...), last...)
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			return append(append(out, message...), last...)
		}
		field := changed(random, rarity, number, kind, message[n:n+size])
		message = message[n+size:]
		switch random.IntN(rarity) {
		case 0:
			out = append(append(out, field...), field...)
		case 1:
			last = append(last, field...)
		default:
			out = append(out, field...)
		}
	}
	return append(out, last...)
}

func changed(random *rand.Rand, rarity int, number protowire.Number, kind protowire.Type, content []byte) []byte {
	out := protowire.AppendTag(nil, number, kind)
	extreme := random.IntN(rarity) == 0
	switch {
	case kind == protowire.BytesType:
		part, _ := protowire.ConsumeBytes(content)
		return protowire.AppendBytes(out, Protobuf(random, rarity, part))
	case kind == protowire.VarintType && extreme:
		return protowire.AppendVarint(out, value(random))
	case kind == protowire.Fixed64Type && extreme:
		return protowire.AppendFixed64(out, value(random))
	}
	return append(out, content...)
}

// Binary returns data in which some numbers of 1, 2, 4 or 8 bytes, within its first bytes, are
// extreme.
func Binary(random *rand.Rand, within int, data []byte) []byte {
	out := append([]byte(nil), data...)
	for range 1 + random.IntN(3) {
		var number [8]byte
		binary.LittleEndian.PutUint64(number[:], value(random))
		at := random.IntN(min(within, len(out)))
		copy(out[at:], number[:1<<random.IntN(4)])
	}
	return out
}
