// SPDX-License-Identifier: Apache-2.0

package event

import (
	"bytes"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// reader reads events, spans, logs and metrics. It is the Source of fields in JSON.
type reader struct {
	jsonscan.Lenient

	// Buffers for lists that occur in each of a thousand elements. A list is copied once its length
	// is known.
	attributeBuf []Attribute
	valueBuf     []NamedValue

	found bool // a list without which the item states nothing
}

func newReader(payload []byte) *reader { return &reader{Lenient: jsonscan.NewLenient(payload)} }

func (l *reader) Address(field string) jsonscan.Address {
	address := l.S.Address()
	if address.Bad {
		l.AddFlaw(field)
	}
	return address
}

// JSON reads a value of a kind and returns it as JSON, usually as sent. Empty text is absent.
func (l *reader) JSON(kind Kind, field string) []byte {
	switch kind {
	case KindText:
		return l.jsonText(field, l.Text)
	case KindID:
		return l.jsonText(field, l.ID)
	case KindFlag:
		if flag := l.Flag(field); flag.Set {
			return strconv.AppendBool(nil, flag.Value)
		}
	case KindInt:
		if number := l.Int(field); number.Set {
			return strconv.AppendInt(nil, number.Value, 10)
		}
	case KindCount:
		switch number := l.Int(field); {
		case number.Set && number.Value >= 0:
			return strconv.AppendInt(nil, number.Value, 10)
		case number.Set:
			l.AddFlaw(field)
		}
	case KindFloat:
		if number := l.Float(field); number.Set {
			return jsonscan.AppendFloat(nil, number.Value)
		}
	case KindAddress:
		if address := l.Address(field); address.Set {
			return append(strconv.AppendUint([]byte(`"0x`), address.Value, 16), '"')
		}
	case KindObject:
		return l.RawObject(field)
	case KindList:
		if l.S.Peek() == '[' {
			return l.Value()
		}
		l.TypeMismatch(field)
	default:
		return l.Raw()
	}
	return nil
}

// jsonText returns a text as JSON, without a copy if it was sent as a plain string.
func (l *reader) jsonText(field string, read func(string) string) []byte {
	l.S.Peek()
	start := l.S.Pos
	text := read(field)
	if sent := l.S.Data[start:l.S.Pos]; len(sent) == len(text)+2 && bytes.HasPrefix(sent, []byte{'"'}) {
		return sent[:len(sent):len(sent)]
	}
	if text == "" {
		return nil
	}
	return jsonscan.AppendJSONText(nil, text)
}
