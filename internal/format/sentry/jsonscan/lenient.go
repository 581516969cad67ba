// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Reasons for discarding items other than profiles, in addition to those of the scanner.
const (
	// ReasonTooManyElements: the payload has more than MaxElements list elements.
	ReasonTooManyElements discard.Reason = "too_many_elements"
	// ReasonTooLarge: the payload is larger than ItemType.MaxSize.
	ReasonTooLarge discard.Reason = "item_too_large"
	// ReasonNothingUsable: the payload is an object without any required field.
	ReasonNothingUsable discard.Reason = "nothing_usable"
)

// Lenient reads JSON objects by Sentry's rule for fields of the wrong type: it drops the field,
// counts a flaw and keeps the rest of the object. Invalid JSON stops the scanner with an error.
//
// Texts are copies; raw values are views into the payload.
type Lenient struct {
	S        Scanner
	Flaws    []discard.Flaw
	elements int       // number of list elements read so far
	interner *interner // of the document that is being read
}

// NewLenient returns a reader of a payload.
func NewLenient(payload []byte) Lenient { return Lenient{S: Scanner{Data: payload}} }

// Clipped returns a copy of buf without spare capacity, or nil if buf is empty.
func Clipped[T any](buf []T) []T {
	if len(buf) == 0 {
		return nil
	}
	return slices.Clone(buf)
}

// MaxElements bounds the list elements of one payload: frames, threads, breadcrumbs, logs. The
// reader skips the rest and counts a flaw "too_many". Relay truncates stacks to 250 frames, SDKs
// truncate breadcrumbs to 100, and Java sends the stacks of all threads. The smallest element needs
// 3 bytes of payload and about 300 bytes of memory.
const MaxElements = 50_000

// MaxAttributes bounds the attributes of one element. pdata compares each new key with all previous
// ones, so a thousand elements with a thousand attributes each would take seconds. SDKs send a few
// dozen.
const MaxAttributes = 256

// FieldTooMany counts list elements and attributes above a limit.
const FieldTooMany = "too_many"

// AddFlaw counts a flaw of a field.
func (l *Lenient) AddFlaw(field string) {
	l.Flaws = discard.AddFlaw(l.Flaws, field, 1)
}

// Document reads the payload as one object and visits its members. The key is valid until the next
// member.
func (l *Lenient) Document(visit func(key []byte)) *discard.Error {
	l.interner = interners.Get().(*interner)
	defer func() {
		l.interner.release()
		l.interner = nil
	}()
	if l.S.Open('{') {
		for n := 0; ; {
			key, more := l.S.Member(&n)
			if !more {
				break
			}
			visit(key)
		}
	}
	l.S.End()
	return l.S.Err
}

// TypeMismatch skips a value of the wrong type and counts a flaw. Null means absent and is not a
// flaw.
func (l *Lenient) TypeMismatch(field string) {
	if l.S.Peek() != 'n' {
		l.AddFlaw(field)
	}
	l.S.Skip()
}

// Object visits the members of an object. Each visit must read or skip the member's value.
func (l *Lenient) Object(field string, visit func(key string)) (ok bool) {
	if l.S.Peek() != '{' {
		l.TypeMismatch(field)
		return false
	}
	l.S.Open('{')
	for n := 0; ; {
		key, more := l.S.Member(&n)
		if !more {
			return l.S.Err == nil
		}
		visit(l.interner.Intern(key))
	}
}

// List visits the elements of an array. Each visit must read or skip the element. List returns the
// number of elements that it skipped because they exceed MaxElements.
func (l *Lenient) List(field string, visit func()) (skipped int) {
	if l.S.Peek() != '[' {
		l.TypeMismatch(field)
		return 0
	}
	l.S.Open('[')
	for n := 0; l.S.Element(&n); {
		if l.elements++; l.elements > MaxElements {
			l.AddFlaw(FieldTooMany)
			l.S.Skip()
			skipped++
			continue
		}
		visit()
	}
	return skipped
}

// Values visits the elements of a list in any of the three forms that SDKs send and Relay accepts:
// {"values": […]}, a flat list, or a single element. `other` visits the other members of the first
// form.
func (l *Lenient) Values(field string, visit func(), other func(key string)) {
	if l.S.Peek() != '{' {
		l.List(field, visit)
		return
	}
	before := l.S
	others, wrapped := 0, false
	l.Object(field, func(key string) {
		if key != "values" {
			l.S.Skip()
			others++
			return
		}
		wrapped = true
		l.List(field, visit)
	})
	if others == 0 || l.S.Err != nil {
		return
	}
	after := l.S
	l.S = before
	if !wrapped {
		visit()
		return
	}
	l.Object(field, func(key string) {
		if key == "values" {
			l.S.Skip()
			return
		}
		other(key)
	})
	l.S = after
}

// Text reads a string. For a number or a boolean it returns the JSON text and counts a flaw.
func (l *Lenient) Text(field string) string {
	switch c := l.S.Peek(); c {
	case '"':
		return string(ValidUTF8(l.S.Text()))
	case '{', '[', 'n':
		l.TypeMismatch(field)
		return ""
	}
	l.AddFlaw(field)
	return string(l.S.Value())
}

// InternedText is Text for fields with few distinct values.
func (l *Lenient) InternedText(field string) string {
	if l.S.Peek() == '"' {
		return l.interner.Intern(ValidUTF8(l.S.Text()))
	}
	return l.Text(field)
}

// ID reads an identifier that SDKs write as text or as a number, such as a thread ID.
func (l *Lenient) ID(field string) string {
	if c := l.S.Peek(); c == '-' || IsDigit(c) {
		return string(l.S.Number())
	}
	return l.Text(field)
}

// UUID reads an ID in the form that Sentry compares: 32 lower-case hex digits. It returns other
// text unchanged.
func (l *Lenient) UUID(field string) string {
	text := l.Text(field)
	if id := SimpleID(text); id != "" {
		return id
	}
	return text
}

func (l *Lenient) Flag(field string) Optional[bool] {
	switch l.S.Peek() {
	case 't', 'f':
		return Some(string(l.S.Value()) == "true")
	}
	l.TypeMismatch(field)
	return Optional[bool]{}
}

// Int reads a whole number, sent as a number or as text.
func (l *Lenient) Int(field string) Optional[int64] {
	switch c := l.S.Peek(); {
	case c == '"', c == '-', IsDigit(c):
		text, _, _ := l.S.Scalar()
		if number, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return Some(number)
		}
		l.AddFlaw(field)
	default:
		l.TypeMismatch(field)
	}
	return Optional[int64]{}
}

func (l *Lenient) Float(field string) Optional[float64] {
	if c := l.S.Peek(); c == '-' || IsDigit(c) {
		if number, err := strconv.ParseFloat(string(l.S.Number()), 64); err == nil {
			return Some(number)
		}
		l.AddFlaw(field)
		return Optional[float64]{}
	}
	l.TypeMismatch(field)
	return Optional[float64]{}
}

// Lineno reads a line or column number; 0 means none.
func (l *Lenient) Lineno(field string) uint32 {
	number := l.S.Uint()
	if number.Bad || number.Value > 1<<32-1 {
		l.AddFlaw(field)
		return 0
	}
	return uint32(number.Value)
}

// Time reads an instant like Timestamp, but treats text without a time zone, which raven SDKs send,
// as UTC.
func (l *Lenient) Time(field string) (t Timestamp) {
	if value := l.S.Value(); len(value) > 0 && l.S.Err == nil {
		t, _ = timestamp(value)
	}
	if t.Bad {
		l.AddFlaw(field)
	}
	return t
}

// Raw returns the JSON text of any value, or nil for null.
func (l *Lenient) Raw() []byte {
	value := l.Value()
	if len(value) == 0 || IsNull(value) {
		return nil
	}
	return value
}

// RawObject is like Raw, but accepts only objects.
func (l *Lenient) RawObject(field string) []byte {
	if l.S.Peek() != '{' {
		l.TypeMismatch(field)
		return nil
	}
	return l.Value()
}

// Value returns the JSON text of a value of any shape. It counts a flaw "too_many_members" for each
// object in it that has more than MaxMembers members and therefore becomes text.
func (l *Lenient) Value() []byte {
	before := l.S.wideObjects
	text := l.S.Value()
	for ; before < l.S.wideObjects; before++ {
		l.AddFlaw("too_many_members")
	}
	return text
}

// Texts reads a list of strings.
func (l *Lenient) Texts(field string) (all []string) {
	l.List(field, func() { all = append(all, l.Text(field)) })
	return all
}

// TraceID and SpanID read IDs in the form of OpenTelemetry: lower-case hex digits without hyphens.
// They return "" for other text and for all zeros, which is invalid in both formats.
func (l *Lenient) TraceID(field string) string { return l.hexID(field, 32, l.InternedText(field)) }
func (l *Lenient) SpanID(field string) string  { return l.hexID(field, 16, l.Text(field)) }

func (l *Lenient) hexID(field string, digits int, text string) string {
	id := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	valid := len(id) == digits && strings.Trim(id, "0") != ""
	for i := 0; valid && i < len(id); i++ {
		valid = isHex(id[i])
	}
	if valid {
		return id
	}
	if text != "" {
		l.AddFlaw(field)
	}
	return ""
}
