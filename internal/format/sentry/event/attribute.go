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

// attributes are the row of typed attributes. `at` returns their place, and members that are JSON
// already.
func attributes[T any](at func(*T) (own *[]Attribute, shared []byte)) row[T] {
	return row[T]{
		key: "attributes",
		read: func(l *reader, t *T, _ string) {
			own, _ := at(t)
			*own = l.attributes()
		},
		write: func(dst []byte, _ string, t *T) []byte {
			own, shared := at(t)
			return appendAttributes(dst, *own, shared)
		},
	}
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
			l.unmapped("attributes", []byte(key))
		}
	})
}

// appendAttributes writes typed attributes, attributes without a type as bare values, and members
// that are JSON already.
func appendAttributes(dst []byte, attributes []Attribute, shared []byte) []byte {
	if len(attributes)+len(shared) == 0 {
		return dst
	}
	dst = append(jsonscan.AppendKey(dst, "attributes"), '{')
	dst = AppendMembers(dst, attributes)
	if len(attributes) > 0 && len(shared) > 0 {
		dst = append(dst, ',')
	}
	return append(append(dst, shared...), '}')
}

// AppendMembers appends attributes as members of the object at the end of dst.
func AppendMembers(dst []byte, attributes []Attribute) []byte {
	for i := range attributes {
		a := &attributes[i]
		if a.Type == "" {
			dst = (&NamedValue{a.Key, a.Value}).append(dst)
			continue
		}
		dst = append(jsonscan.AppendName(dst, a.Key), '{')
		dst = jsonscan.AppendTextAlways(dst, "type", a.Type)
		dst = jsonscan.AppendRaw(dst, "value", a.Value)
		dst = append(jsonscan.AppendText(dst, "unit", a.Unit), '}')
	}
	return dst
}
