// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Scratch holds the JSON of the values of an item until the item has been written. An event has
// hundreds of values, and an allocation for each would take most of the time. Results are valid
// until Reset.
type Scratch struct {
	text  []byte
	value pcommon.Value // of the field that is read, see fieldSource
}

// Reset makes the memory available for the next item.
func (s *Scratch) Reset() { s.text = s.text[:0] }

// Size returns the number of bytes of the memory.
func (s *Scratch) Size() int { return cap(s.text) }

// room returns the text with room for another value. A full chunk stays as it is, because a
// transaction has thousands of values, and each growth of one text would copy all of them.
func (s *Scratch) room() []byte {
	if cap(s.text) >= scratchChunk && cap(s.text)-len(s.text) < scratchChunk/16 {
		s.text = make([]byte, 0, scratchChunk)
	}
	return s.text
}

const scratchChunk = 64 << 10

// JSON is JsonOf.
func (s *Scratch) JSON(value pcommon.Value) []byte { return s.add(appendJSON(s.room(), value, 0)) }

// Text returns a text as JSON.
func (s *Scratch) Text(text string) []byte { return s.add(jsonscan.AppendJSONText(s.room(), text)) }

// Object returns the object with the members of a map and additional members, which replace those
// with the same name.
func (s *Scratch) Object(m pcommon.Map, more []event.NamedValue) []byte {
	text := append(s.room(), '{')
	if m != (pcommon.Map{}) {
		for name, value := range m.All() {
			if event.Member(more, name) == nil {
				text = appendJSON(jsonscan.AppendName(text, name), value, 1)
			}
		}
	}
	for i := range more {
		text = append(jsonscan.AppendName(text, more[i].Name), more[i].Value...)
	}
	return s.add(append(text, '}'))
}

// List returns the list of values, without their names.
func (s *Scratch) List(all []event.NamedValue) []byte {
	text := append(s.room(), '[')
	for i := range all {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, all[i].Value...)
	}
	return s.add(append(text, ']'))
}

// Attribute is the inverse of fromsentry.setAttribute: an attribute of a container. Types are
// scalars and lists of scalars. An object becomes JSON text, as Sentry does for OpenTelemetry
// attributes.
func (s *Scratch) Attribute(key string, value pcommon.Value) event.Attribute {
	a := event.Attribute{Key: key, Type: "string", Value: s.JSON(value)}
	switch value.Type() {
	case pcommon.ValueTypeBool:
		a.Type = "boolean"
	case pcommon.ValueTypeInt:
		a.Type = "integer"
	case pcommon.ValueTypeDouble:
		if a.Value[0] != '"' {
			a.Type = "double"
		}
	case pcommon.ValueTypeSlice:
		if isFlat(value.Slice()) {
			a.Type = "array"
			break
		}
		a.Value = s.Text(string(a.Value))
	case pcommon.ValueTypeMap:
		a.Value = s.Text(string(a.Value))
	case pcommon.ValueTypeEmpty:
		a.Value = s.Text("")
	}
	return a
}

// add stores the text, which begins with the text so far, and returns the new part.
func (s *Scratch) add(text []byte) []byte {
	start := len(s.text)
	s.text = text
	return text[start:len(text):len(text)]
}
