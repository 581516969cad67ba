// SPDX-License-Identifier: Apache-2.0

package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

// message reads the fields of an encoded message.
type message struct{ wire.Message }

func fieldsOf(data []byte) message { return message{wire.Message{Rest: data}} }

// next reads the next field. It skips numbers of 32 bits, which no message that is read has.
func (m *message) next() bool {
	for m.Next() {
		if m.Kind != protowire.Fixed32Type {
			return true
		}
	}
	return false
}

// uint32 returns a number of 32 bits; larger numbers, which no writer produces, are clipped.
func (m *message) uint32() uint32 { return uint32(min(m.Varint, math.MaxUint32)) }
