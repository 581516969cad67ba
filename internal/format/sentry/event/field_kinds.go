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

// Rows of each kind. `at` returns the place of the value in the model.

func text[T any](key string, at func(*T) *string) row[T] { return textAs(Source.Text, key, at) }

// textAs is a text in one of its forms: an ID, a UUID.
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
	r := textAs(Source.ID, key, at)
	r.kind = KindID
	r.visit = func(v Visitor, key string, t *T) {
		if text := *at(t); text != "" {
			v.ID(key, text)
		}
	}
	return r
}

func flag[T any](key string, at func(*T) *jsonscan.Optional[bool]) row[T] {
	return optional(KindFlag, key, at, Source.Flag, strconv.AppendBool, Visitor.Flag)
}

func integer[T any](key string, at func(*T) *jsonscan.Optional[int64]) row[T] {
	return optional(KindInt, key, at, Source.Int, func(dst []byte, n int64) []byte { return strconv.AppendInt(dst, n, 10) }, Visitor.Int)
}

func float[T any](key string, at func(*T) *jsonscan.Optional[float64]) row[T] {
	return optional(KindFloat, key, at, Source.Float, jsonscan.AppendFloat, Visitor.Float)
}

// optional is a value that may be absent.
func optional[T, V any](kind Kind, key string, at func(*T) *jsonscan.Optional[V],
	read func(Source, string) jsonscan.Optional[V], write func([]byte, V) []byte, visit func(Visitor, string, V),
) row[T] {
	return row[T]{
		key: key, kind: kind,
		set: func(s Source, t *T, name string) { *at(t) = read(s, name) },
		write: func(dst []byte, key string, t *T) []byte {
			if v := at(t); v.Set {
				return write(jsonscan.AppendKey(dst, key), v.Value)
			}
			return dst
		},
		visit: func(v Visitor, key string, t *T) {
			if value := at(t); value.Set {
				visit(v, key, value.Value)
			}
		},
	}
}

// position is a line or a column. 0 means none.
func position[T any](key string, at func(*T) *uint32) row[T] {
	return row[T]{
		key: key, kind: KindPosition,
		set: func(s Source, t *T, name string) { *at(t) = s.Lineno(name) },
		write: func(dst []byte, key string, t *T) []byte {
			if number := *at(t); number != 0 {
				return strconv.AppendUint(jsonscan.AppendKey(dst, key), uint64(number), 10)
			}
			return dst
		},
		visit: func(v Visitor, key string, t *T) {
			if number := *at(t); number != 0 {
				v.Int(key, int64(number))
			}
		},
	}
}

func address[T any](key string, at func(*T) *jsonscan.Address) row[T] {
	return row[T]{
		key: key, kind: KindAddress,
		set: func(s Source, t *T, name string) { *at(t) = s.Address(name) },
		write: func(dst []byte, key string, t *T) []byte {
			if a := at(t); a.Set {
				return jsonscan.AppendAddress(dst, key, a.Value)
			}
			return dst
		},
		visit: func(v Visitor, key string, t *T) {
			if a := at(t); a.Set {
				v.Address(key, a.Value)
			}
		},
	}
}

func instant[T any](key string, at func(*T) *jsonscan.Timestamp) row[T] {
	return row[T]{
		key: key, kind: KindTime,
		set:   func(s Source, t *T, name string) { *at(t) = s.Time(name) },
		write: func(dst []byte, key string, t *T) []byte { return appendTime(dst, key, *at(t)) },
		visit: func(v Visitor, key string, t *T) {
			if instant := at(t); instant.Set {
				v.Time(key, *instant)
			}
		},
	}
}

// dateTime is a time that ingest reads as RFC 3339 only (chrono's DateTime): it rejects the whole
// item if the time is a number.
func dateTime[T any](key string, at func(*T) *jsonscan.Timestamp) row[T] {
	r := instant(key, at)
	r.write = func(dst []byte, key string, t *T) []byte {
		if instant := at(t); instant.Set {
			return jsonscan.AppendText(dst, key, time.Unix(0, int64(instant.UnixNano)).UTC().Format(time.RFC3339Nano))
		}
		return dst
	}
	return r
}

func texts[T any](key string, at func(*T) *[]string) row[T] {
	return row[T]{
		key: key, kind: KindTexts,
		set:   func(s Source, t *T, name string) { *at(t) = s.Texts(name) },
		write: func(dst []byte, key string, t *T) []byte { return appendTexts(dst, key, *at(t)) },
		visit: func(v Visitor, key string, t *T) {
			if texts := *at(t); len(texts) > 0 {
				v.Texts(key, texts)
			}
		},
	}
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

// anyJSON is a value of the kind KindObject, KindList or KindAny.
func anyJSON[T any](kind Kind, key string, at func(*T) *[]byte) row[T] {
	return row[T]{
		key: key, kind: kind,
		set:   func(s Source, t *T, name string) { *at(t) = s.JSON(kind, name) },
		write: func(dst []byte, key string, t *T) []byte { return jsonscan.AppendRaw(dst, key, *at(t)) },
		visit: func(v Visitor, key string, t *T) {
			if json := *at(t); len(json) > 0 {
				v.JSON(key, json)
			}
		},
	}
}

// carried is a field of the rest: no code uses its value.
func carried[T any](kind Kind, key string) row[T] { return row[T]{key: key, kind: kind} }

// ignored is a field that repeats information from elsewhere in the item, so it can be dropped.
func ignored[T any](key string) row[T] {
	return row[T]{key: key, read: func(l *reader, _ *T, _ string) { l.S.Skip() }}
}

// object is a nested object that is part of the model.
func object[T, U any](key string, table *Table[U], at func(*T) *U) row[T] {
	return row[T]{
		key:  key,
		read: func(l *reader, t *T, _ string) { table.read(l, at(t)) },
		write: func(dst []byte, key string, t *T) []byte {
			before := len(dst)
			dst = append(jsonscan.AppendKey(dst, key), '{')
			empty := len(dst)
			if dst = table.appendMembers(dst, at(t)); len(dst) == empty {
				return dst[:before]
			}
			return append(dst, '}')
		},
	}
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
				return table.append(jsonscan.AppendKey(dst, key), u)
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
			return appendList(jsonscan.AppendKey(dst, key), table, *at(t))
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
			if len(*at(t)) == 0 {
				return dst
			}
			dst = append(jsonscan.AppendKey(dst, key), `{"values":`...)
			return append(appendList(dst, table, *at(t)), '}')
		},
	}
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

// shrink removes the last element, which is unusable.
func shrink[U any](all *[]U) { *all = (*all)[:len(*all)-1] }

func appendList[U any](dst []byte, table *Table[U], all []U) []byte {
	dst = append(dst, '[')
	for i := range all {
		dst = table.append(appendComma(dst), &all[i])
	}
	return append(dst, ']')
}
