// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message reads the fields of an encoded message, without copying them.
type message struct {
	rest   []byte
	number protowire.Number // of the field at hand
	value  uint64           // if it is a number
	bytes  []byte           // if it is a text, a message, or a packed list of numbers; else nil
	broken bool             // the encoding ends where no field does
}

// next moves on to the next field. Groups are skipped.
func (m *message) next() bool {
	for len(m.rest) > 0 {
		number, kind, n := protowire.ConsumeTag(m.rest)
		if n < 0 {
			m.broken = true
			return false
		}
		m.number, m.value, m.bytes = number, 0, nil
		m.rest = m.rest[n:]
		switch kind {
		case protowire.VarintType:
			m.value, n = protowire.ConsumeVarint(m.rest)
		case protowire.Fixed64Type:
			m.value, n = protowire.ConsumeFixed64(m.rest)
		case protowire.BytesType:
			if m.bytes, n = protowire.ConsumeBytes(m.rest); n > 0 && m.bytes == nil {
				m.bytes = []byte{}
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, m.rest)
			m.number = 0
		}
		if n < 0 {
			m.broken = true
			return false
		}
		m.rest = m.rest[n:]
		if m.number != 0 {
			return true
		}
	}
	return false
}

// uint32 is a number of 32 bits; larger ones, which no writer makes, are clipped.
func (m *message) uint32() uint32 { return uint32(min(m.value, math.MaxUint32)) }
