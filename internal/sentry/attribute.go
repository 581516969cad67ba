package sentry

import "strings"

// Attribute is a typed attribute of a log, a streamed span or a metric: "key": {"type": T, "value": V, "unit": U}.
// https://develop.sentry.dev/sdk/telemetry/attributes/
type Attribute struct {
	Key   string
	Type  string // string, boolean, integer, double, array; any text is legal, and it need not agree with Value
	Value []byte // JSON, never null; an integer may stand in a string, because JavaScript's numbers end at 53 bits
	Unit  string
}

// attributes reads the object of attributes, in its order. One without a value is left out, and so is null; a bare value,
// without type, is kept as what it is.
func (l *loose) attributes() []Attribute {
	all := l.attributeBuf[:0]
	l.object("attributes", func(key string) {
		a := Attribute{Key: strings.ToValidUTF8(key, "\uFFFD")}
		if l.s.peek() != '{' {
			l.flaw("attributes")
			a.Value = l.raw()
		} else {
			l.attribute(&a)
		}
		switch {
		case a.Value == nil || a.Key == "":
		case len(all) == maxAttributes:
			l.flaw("too_many")
		default:
			all = append(all, a)
		}
	})
	l.attributeBuf = all
	return atItsSize(all)
}

func (l *loose) attribute(a *Attribute) {
	l.object("attributes", func(key string) {
		switch key {
		case "type":
			a.Type = l.word("attributes.type")
		case "value":
			a.Value = l.raw()
		case "unit":
			a.Unit = l.text("attributes.unit")
		default:
			l.s.skip()
		}
	})
}
