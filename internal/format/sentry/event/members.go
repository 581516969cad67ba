// SPDX-License-Identifier: Apache-2.0

package event

import (
	"slices"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// This file has the objects whose keys the sender chooses: any values, attributes, measurements,
// tags and headers.

// NamedValue is a member of an object with arbitrary keys.
type NamedValue struct {
	Name  string
	Value []byte // JSON, never null
}

// Member returns the value of a member, or nil. The last member with a name counts.
func Member(all []NamedValue, name string) []byte {
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].Name == name {
			return all[i].Value
		}
	}
	return nil
}

// named is an object with arbitrary keys.
func named[T any](key string, at func(*T) *[]NamedValue) row[T] {
	return parsed(key, at, (*reader).namedValues, func(dst []byte, key string, all []NamedValue) []byte {
		return appendFilled(dst, key, "{", "}", func(dst []byte) []byte { return appendNamed(dst, all) })
	})
}

func (l *reader) namedValues(field string) []NamedValue {
	all := l.valueBuf[:0]
	l.Object(field, func(key string) { l.keep(&all, key) })
	l.valueBuf = all
	return jsonscan.Clipped(all)
}

// keep stores the value of a member with an arbitrary key.
func (l *reader) keep(all *[]NamedValue, key string) {
	if value := l.Raw(); value != nil && key != "" {
		keepMember(l, all, NamedValue{strings.ToValidUTF8(key, "\uFFFD"), value})
	}
}

// keepMember appends a member, unless there are too many.
func keepMember[M any](l *reader, all *[]M, member M) {
	if len(*all) >= jsonscan.MaxAttributes {
		l.AddFlaw("too_many")
		return
	}
	*all = append(*all, member)
}

func appendNamed(dst []byte, members []NamedValue) []byte {
	for i := range members {
		dst = members[i].append(dst)
	}
	return dst
}

// append appends the member. It appends nothing if the value is empty.
func (v *NamedValue) append(dst []byte) []byte {
	if len(v.Value) == 0 {
		return dst
	}
	return append(jsonscan.AppendName(dst, v.Name), v.Value...)
}

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
		write: func(dst []byte, key string, t *T) []byte {
			own, shared := at(t)
			return appendAttributes(dst, key, *own, shared)
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
		if a.Value != nil && a.Key != "" {
			keepMember(l, &all, a)
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

func appendAttributes(dst []byte, key string, attributes []Attribute, shared []byte) []byte {
	return appendFilled(dst, key, "{", "}", func(dst []byte) []byte {
		dst = AppendMembers(dst, attributes)
		if len(attributes) > 0 && len(shared) > 0 {
			dst = append(dst, ',')
		}
		return append(dst, shared...)
	})
}

// AppendMembers appends attributes as members of the object at the end of dst: those without a type
// as bare values.
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

// NamedMeasure is a measurement of a span: one value, unlike the series of a profile.
type NamedMeasure struct {
	Name  string
	Value float64
	Unit  string // "" = none
}

// measures are an object of measurements: {"lcp": {"value": 80, "unit": "millisecond"}}.
func measures[T any](key string, at func(*T) *[]NamedMeasure) row[T] {
	return parsed(key, at, (*reader).namedMeasures, appendMeasures)
}

func (l *reader) namedMeasures(field string) (all []NamedMeasure) {
	l.Object(field, func(key string) {
		measure := NamedMeasure{Name: string(jsonscan.ValidUTF8([]byte(key)))}
		var value jsonscan.Optional[float64]
		l.Object(field, func(key string) {
			switch key {
			case "value":
				value = l.Float(field + ".value")
			case "unit":
				measure.Unit = l.Text(field + ".unit")
			default:
				l.unmapped(field, []byte(key))
			}
		})
		if measure.Value = value.Value; value.Set && measure.Name != "" {
			keepMember(l, &all, measure)
		}
	})
	return all
}

func appendMeasures(dst []byte, key string, measures []NamedMeasure) []byte {
	return appendFilled(dst, key, "{", "}", func(dst []byte) []byte {
		for i := range measures {
			dst = append(jsonscan.AppendName(dst, measures[i].Name), `{"value":`...)
			dst = jsonscan.AppendFloat(dst, measures[i].Value)
			dst = append(jsonscan.AppendText(dst, "unit", measures[i].Unit), '}')
		}
		return dst
	})
}

// Tag is a key with a text value.
type Tag struct{ Key, Value string }

// maxTags bounds the tags, and the headers, of an element. Ingest has no limit for tags, and SDKs
// send a few dozen. pdata compares each with all attributes before it: with 1,000, that takes about
// as long as with the attributes that an event may have otherwise (fromsentry.MaxRecordAttributes).
const maxTags = 1000

// tags are an object or a list of pairs, because Sentry's schema allows both. Null means no value.
func tags[T any](key string, at func(*T) *[]Tag) row[T] {
	return parsed(key, at, (*reader).tags, func(dst []byte, key string, all []Tag) []byte {
		return appendFilled(dst, key, "{", "}", func(dst []byte) []byte { return appendTags(dst, all) })
	})
}

// headers are tags whose keys may have several values: as a list, or in several pairs.
func headers[T any](key string, at func(*T) *[]Tag) row[T] {
	return parsed(key, at, (*reader).tags, func(dst []byte, key string, all []Tag) []byte {
		if len(all) == 0 {
			return dst
		}
		return AppendHeaders(jsonscan.AppendKey(dst, key), all)
	})
}

// DecodeHeaders reads headers. It reports false if it does not return all of them.
func DecodeHeaders(json []byte) (all []Tag, ok bool) {
	l := newReader(json)
	all = l.tags("headers")
	return all, l.S.Err == nil && len(l.Flaws) == 0
}

// AppendHeaders appends headers as an object or, if one occurs several times, as a list of pairs.
// Sentry's ingest keeps each pair. It joins the values of a list (relay-event-schema,
// protocol/request.rs), which destroys cookies.
func AppendHeaders(dst []byte, all []Tag) []byte {
	for i := range all {
		if slices.ContainsFunc(all[:i], func(other Tag) bool { return other.Key == all[i].Key }) {
			return append(appendPairs(append(dst, '['), all), ']')
		}
	}
	return append(appendTags(append(dst, '{'), all), '}')
}

func (l *reader) tags(field string) (all []Tag) {
	if l.S.Peek() != '[' {
		l.Object(field, func(key string) { all = l.tag(all, field, strings.ToValidUTF8(key, "\uFFFD")) })
		return all
	}
	l.List(field, func() {
		var key string
		n := 0
		l.List(field, func() {
			switch n++; n {
			case 1:
				key = l.Text(field)
			case 2:
				all = l.tag(all, field, key)
			default:
				l.S.Skip()
			}
		})
	})
	return all
}

func (l *reader) tag(all []Tag, field, key string) []Tag {
	switch c := l.S.Peek(); {
	case c == '[':
		for _, value := range l.Texts(field) {
			all = l.addTag(all, key, value)
		}
		return all
	case c == '-' || jsonscan.IsDigit(c) || c == 't' || c == 'f':
		return l.addTag(all, key, string(l.S.Value()))
	}
	return l.addTag(all, key, l.Text(field))
}

func (l *reader) addTag(all []Tag, key, value string) []Tag {
	if key == "" || value == "" {
		return all
	}
	if len(all) == maxTags {
		l.AddFlaw("too_many")
		return all
	}
	return append(all, Tag{key, value})
}

func appendTags(dst []byte, tags []Tag) []byte {
	for i := range tags {
		dst = jsonscan.AppendJSONText(jsonscan.AppendName(dst, tags[i].Key), tags[i].Value)
	}
	return dst
}

func appendPairs(dst []byte, tags []Tag) []byte {
	for i := range tags {
		dst = jsonscan.AppendJSONText(append(appendComma(dst), '['), tags[i].Key)
		dst = append(jsonscan.AppendJSONText(append(dst, ','), tags[i].Value), ']')
	}
	return dst
}
