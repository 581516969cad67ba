// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// message reads the fields of an encoded message, without copying them.
type message struct {
	rest   []byte
	number protowire.Number // of the current field
	value  uint64           // for numbers
	bytes  []byte           // for texts, messages and packed lists of numbers; otherwise nil
	broken bool             // the encoding ends within a field
}

// next reads the next field. It skips groups.
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

// uint32 returns a number of 32 bits; larger numbers, which no writer produces, are clipped.
func (m *message) uint32() uint32 { return uint32(min(m.value, math.MaxUint32)) }
