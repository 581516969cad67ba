// SPDX-License-Identifier: Apache-2.0

package event

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Attribute is a typed attribute of a log, a streamed span or a metric: "key": {"type": T, "value":
// V, "unit": U}.
// https://develop.sentry.dev/sdk/telemetry/attributes/
type Attribute struct {
	Key   string
	Type  string // string, boolean, integer, double, array; any text is legal, and it may contradict Value
	Value []byte // JSON, never null; an integer may be a string, because JavaScript numbers have only 53 bits
	Unit  string
}

// attributes reads an object of attributes in order. It skips nulls and attributes without a value,
// and keeps bare values without a type.
func (l *reader) attributes() []Attribute {
	all := l.attributeBuf[:0]
	l.Object("attributes", func(key string) {
		a := Attribute{Key: strings.ToValidUTF8(key, "\uFFFD")}
		if l.S.Peek() != '{' {
			l.AddFlaw("attributes")
			a.Value = l.Raw()
		} else {
			l.attribute(&a)
		}
		switch {
		case a.Value == nil || a.Key == "":
		case len(all) == jsonscan.MaxAttributes:
			l.AddFlaw("too_many")
		default:
			all = append(all, a)
		}
	})
	l.attributeBuf = all
	return jsonscan.Clipped(all)
}

func (l *reader) attribute(a *Attribute) {
	l.Object("attributes", func(key string) {
		switch key {
		case "type":
			a.Type = l.InternedText("attributes.type")
		case "value":
			a.Value = l.Raw()
		case "unit":
			a.Unit = l.Text("attributes.unit")
		default:
			l.S.Skip()
		}
	})
}
