// SPDX-License-Identifier: Apache-2.0

package dialect

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/otelcol-sentry/otelcol-sentry/internal/wire"
)

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
func appendField(to []byte, number protowire.Number, f wire.Field) []byte {
	switch f.Kind {
	case protowire.VarintType:
		return appendVarint(to, number, f.Varint)
	case protowire.Fixed64Type:
		return appendFixed64(to, number, f.Varint)
	case protowire.BytesType:
		return appendBytes(to, number, f.Bytes)
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
