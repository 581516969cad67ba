// SPDX-License-Identifier: Apache-2.0

package event

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// Kind is the type of a field in Sentry's schema.
type Kind uint8

const (
	kindNone      Kind = iota // has no attribute of its own
	KindText                  // text; ids in one of their forms
	KindID                    // text or a number: thread IDs
	KindFlag                  // boolean
	KindInt                   // whole number, also as text
	KindCount                 // whole number that is not negative
	KindFloat                 // number
	KindPosition              // line or column; 0 = none
	KindAddress               // "0x1f", decimal text or a number
	KindTime                  // Unix seconds or RFC 3339
	KindTexts                 // list of texts
	KindObject                // object with any members
	KindList                  // list of any elements
	KindMembers               // object or list
	KindAny                   // any JSON
	KindStack                 // a stack trace, with its own table
	KindFrames                // a list of frames, with their own table
	KindMechanism             // a mechanism, with its own table
)

// Source is a value from which a field is read: JSON of an item, or an attribute of OTLP. A value
// of another type results in no value. Field is the name under which flaws are counted.
type Source interface {
	Text(field string) string
	ID(field string) string // text or a number
	UUID(field string) string
	TraceID(field string) string
	SpanID(field string) string
	Flag(field string) jsonscan.Optional[bool]
	Int(field string) jsonscan.Optional[int64]
	Float(field string) jsonscan.Optional[float64]
	Lineno(field string) uint32
	Address(field string) jsonscan.Address
	Time(field string) jsonscan.Timestamp
	Texts(field string) []string
	JSON(kind Kind, field string) []byte // of any kind; nil = absent
}

// Visitor receives the fields of an object that are set.
type Visitor interface {
	Text(key, text string)
	ID(key, text string)
	Flag(key string, flag bool)
	Int(key string, number int64)
	Float(key string, number float64)
	Address(key string, address uint64)
	Time(key string, at jsonscan.Timestamp)
	Texts(key string, texts []string)
	JSON(key string, json []byte)
}

// field is a row of a value that may be absent. `at` returns the place of the value in the model;
// write and visit are called only if the value is set.
func field[T, V any](kind Kind, key string, at func(*T) *V, read func(Source, string) V, isSet func(*V) bool,
	write func(dst []byte, key string, v V) []byte, visit func(v Visitor, key string, value V),
) row[T] {
	return row[T]{
		key: key, kind: kind,
		set: func(s Source, t *T, name string) { *at(t) = read(s, name) },
		write: func(dst []byte, key string, t *T) []byte {
			if value := at(t); isSet(value) {
				return write(dst, key, *value)
			}
			return dst
		},
		visit: func(v Visitor, key string, t *T) {
			if value := at(t); isSet(value) {
				visit(v, key, *value)
			}
		},
	}
}

func isFilled[V any](list *[]V) bool { return len(*list) > 0 }

func text[T any](key string, at func(*T) *string) row[T] { return textAs(Source.Text, key, at) }

// textAs is a text in one of its forms: an ID, a UUID. Most fields are texts, so that the calls of
// field would take time.
func textAs[T any](form func(Source, string) string, key string, at func(*T) *string) row[T] {
	return row[T]{
		key: key, kind: KindText,
		set:   func(s Source, t *T, name string) { *at(t) = form(s, name) },
		write: func(dst []byte, key string, t *T) []byte { return jsonscan.AppendText(dst, key, *at(t)) },
		visit: func(v Visitor, key string, t *T) {
			if text := *at(t); text != "" {
				v.Text(key, text)
			}
		},
	}
}

// requiredText is a text that Sentry requires: it is written even if it is empty.
func requiredText[T any](form func(Source, string) string, key string, at func(*T) *string) row[T] {
	r := textAs(form, key, at)
	r.write = func(dst []byte, key string, t *T) []byte { return jsonscan.AppendTextAlways(dst, key, *at(t)) }
	return r
}

// identifier is a text that many SDKs send as a number.
func identifier[T any](key string, at func(*T) *string) row[T] {
	return field(KindID, key, at, Source.ID, func(text *string) bool { return *text != "" }, jsonscan.AppendText, Visitor.ID)
}

func flag[T any](key string, at func(*T) *jsonscan.Optional[bool]) row[T] {
	return optional(KindFlag, key, at, Source.Flag, strconv.AppendBool, Visitor.Flag)
}

func integer[T any](key string, at func(*T) *jsonscan.Optional[int64]) row[T] {
	return optional(KindInt, key, at, Source.Int, appendInt, Visitor.Int)
}

func float[T any](key string, at func(*T) *jsonscan.Optional[float64]) row[T] {
	return optional(KindFloat, key, at, Source.Float, jsonscan.AppendFloat, Visitor.Float)
}

func optional[T, V any](kind Kind, key string, at func(*T) *jsonscan.Optional[V],
	read func(Source, string) jsonscan.Optional[V], write func([]byte, V) []byte, visit func(Visitor, string, V),
) row[T] {
	return field(kind, key, at, read, func(v *jsonscan.Optional[V]) bool { return v.Set },
		func(dst []byte, key string, v jsonscan.Optional[V]) []byte {
			return write(jsonscan.AppendKey(dst, key), v.Value)
		},
		func(to Visitor, key string, v jsonscan.Optional[V]) { visit(to, key, v.Value) })
}

func appendInt(dst []byte, number int64) []byte { return strconv.AppendInt(dst, number, 10) }

// position is a line or a column. 0 means none.
func position[T any](key string, at func(*T) *uint32) row[T] {
	return field(KindPosition, key, at, Source.Lineno, func(number *uint32) bool { return *number != 0 },
		func(dst []byte, key string, number uint32) []byte {
			return appendInt(jsonscan.AppendKey(dst, key), int64(number))
		},
		func(v Visitor, key string, number uint32) { v.Int(key, int64(number)) })
}

func address[T any](key string, at func(*T) *jsonscan.Address) row[T] {
	return field(KindAddress, key, at, Source.Address, func(a *jsonscan.Address) bool { return a.Set },
		func(dst []byte, key string, a jsonscan.Address) []byte {
			return jsonscan.AppendAddress(dst, key, a.Value)
		},
		func(v Visitor, key string, a jsonscan.Address) { v.Address(key, a.Value) })
}

func instant[T any](key string, at func(*T) *jsonscan.Timestamp) row[T] {
	return field(KindTime, key, at, Source.Time, isStated, appendTime, Visitor.Time)
}

// dateTime is a time that ingest reads as RFC 3339 only (chrono's DateTime): it rejects the whole
// item if the time is a number.
func dateTime[T any](key string, at func(*T) *jsonscan.Timestamp) row[T] {
	return field(KindTime, key, at, Source.Time, isStated, func(dst []byte, key string, t jsonscan.Timestamp) []byte {
		return jsonscan.AppendText(dst, key, time.Unix(0, int64(t.UnixNano)).UTC().Format(time.RFC3339Nano))
	}, Visitor.Time)
}

func isStated(t *jsonscan.Timestamp) bool { return t.Set }

func appendTime(dst []byte, key string, t jsonscan.Timestamp) []byte {
	return jsonscan.AppendSeconds(jsonscan.AppendKey(dst, key), t.UnixNano)
}

func texts[T any](key string, at func(*T) *[]string) row[T] {
	return field(KindTexts, key, at, Source.Texts, isFilled, appendTexts, Visitor.Texts)
}

// lenientTexts is a list of texts. Sentry also accepts numbers and booleans, in Python's form, and
// drops other elements (relay-event-schema, LenientString).
func lenientTexts[T any](key string, at func(*T) *[]string) row[T] {
	r := texts(key, at)
	r.read = func(l *reader, t *T, name string) {
		all := at(t)
		*all = nil
		l.List(name, func() {
			switch l.S.Peek() {
			case '"':
				*all = append(*all, l.Text(name))
			case 't', 'f':
				*all = append(*all, map[bool]string{true: "True", false: "False"}[l.Flag(name).Value])
			case '{', '[', 'n':
				l.TypeMismatch(name)
			default:
				text := string(l.S.Number())
				if strings.ContainsAny(text, ".eE") {
					number, err := strconv.ParseFloat(text, 64)
					if err != nil || math.Abs(number) >= 1<<53 {
						l.AddFlaw(name)
						return
					}
					text = strconv.FormatFloat(math.Trunc(number), 'f', -1, 64)
				}
				*all = append(*all, text)
			}
		})
	}
	return r
}

func appendTexts(dst []byte, key string, texts []string) []byte {
	dst = append(jsonscan.AppendKey(dst, key), '[')
	for _, text := range texts {
		dst = jsonscan.AppendJSONText(appendComma(dst), text)
	}
	return append(dst, ']')
}

// anyJSON is a value of the kind KindObject, KindList or KindAny.
func anyJSON[T any](kind Kind, key string, at func(*T) *[]byte) row[T] {
	read := func(s Source, name string) []byte { return s.JSON(kind, name) }
	return field(kind, key, at, read, isFilled, jsonscan.AppendRaw, Visitor.JSON)
}

// carried is a field of the rest: no code uses its value.
func carried[T any](kind Kind, key string) row[T] { return row[T]{key: key, kind: kind} }

// ignored is a field that repeats information from elsewhere in the item, so it can be dropped.
func ignored[T any](key string) row[T] {
	return row[T]{key: key, read: func(l *reader, _ *T, _ string) { l.S.Skip() }}
}

// parsed is a value with its own reader and writer, and without an attribute of its own.
func parsed[T, V any](key string, at func(*T) *V, read func(l *reader, name string) V, write func(dst []byte, key string, v V) []byte) row[T] {
	return row[T]{
		key:   key,
		read:  func(l *reader, t *T, name string) { *at(t) = read(l, name) },
		write: func(dst []byte, key string, t *T) []byte { return write(dst, key, *at(t)) },
	}
}

// object is a nested object that is part of the model.
func object[T, U any](key string, table *Table[U], at func(*T) *U) row[T] {
	return row[T]{
		key:  key,
		read: func(l *reader, t *T, _ string) { table.read(l, at(t)) },
		write: func(dst []byte, key string, t *T) []byte {
			return appendFilled(dst, key, "{", "}", func(dst []byte) []byte { return table.appendMembers(dst, at(t)) })
		},
	}
}

// appendFilled appends a member with the content between two brackets, unless there is no content.
func appendFilled(dst []byte, key, begin, end string, content func(dst []byte) []byte) []byte {
	before := len(dst)
	dst = append(jsonscan.AppendKey(dst, key), begin...)
	empty := len(dst)
	if dst = content(dst); len(dst) == empty {
		return dst[:before]
	}
	return append(dst, end...)
}

// pointer is a nested object that may be absent. An empty object is present.
func pointer[T, U any](kind Kind, key string, table *Table[U], at func(*T) **U) row[T] {
	return row[T]{
		key: key, kind: kind,
		read: func(l *reader, t *T, _ string) {
			if u := new(U); table.read(l, u) {
				*at(t) = u
			}
		},
		write: func(dst []byte, key string, t *T) []byte {
			if u := *at(t); u != nil {
				return table.Append(jsonscan.AppendKey(dst, key), u)
			}
			return dst
		},
	}
}

// list is a list of objects. usable reports whether an element is kept; nil = all.
func list[T, U any](kind Kind, key string, table *Table[U], at func(*T) *[]U, usable func(*U) bool) row[T] {
	return row[T]{
		key: key, kind: kind,
		read: func(l *reader, t *T, name string) {
			*at(t) = nil
			l.List(name, func() { readElement(l, table, at(t), usable) })
		},
		write: func(dst []byte, key string, t *T) []byte {
			return append(appendElements(append(jsonscan.AppendKey(dst, key), '['), table, *at(t)), ']')
		},
	}
}

// values is a list of objects in any of three forms, see jsonscan.Lenient.Values. It is written as
// {"values": […]}.
func values[T, U any](key string, table *Table[U], at func(*T) *[]U, usable func(*U) bool) row[T] {
	return row[T]{
		key: key,
		read: func(l *reader, t *T, name string) {
			*at(t) = nil
			l.Values(name, func() { readElement(l, table, at(t), usable) }, func(key string) { l.unmapped(name, []byte(key)) })
		},
		write: func(dst []byte, key string, t *T) []byte {
			return appendValues(dst, key, func(dst []byte) []byte { return appendElements(dst, table, *at(t)) })
		},
	}
}

func appendValues(dst []byte, key string, content func(dst []byte) []byte) []byte {
	return appendFilled(dst, key, `{"values":[`, "]}", content)
}

func readElement[U any](l *reader, table *Table[U], all *[]U, usable func(*U) bool) {
	if u := grow(all); !table.read(l, u) || usable != nil && !usable(u) {
		shrink(all)
	}
}

// grow appends an empty element, which is read in place: a variable would need an allocation for
// each element.
func grow[U any](all *[]U) *U {
	var empty U
	*all = append(*all, empty)
	return &(*all)[len(*all)-1]
}

func shrink[U any](all *[]U) { *all = (*all)[:len(*all)-1] }

// appendElements appends objects to the list at the end of dst.
func appendElements[U any](dst []byte, table *Table[U], all []U) []byte {
	for i := range all {
		dst = table.Append(appendComma(dst), &all[i])
	}
	return dst
}

// appendComma separates the elements of the list at the end of dst.
func appendComma(dst []byte) []byte {
	if dst[len(dst)-1] == '[' {
		return dst
	}
	return append(dst, ',')
}
