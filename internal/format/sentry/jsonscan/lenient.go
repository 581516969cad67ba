// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"slices"
	"strconv"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Reasons for which the items here are discarded, beside ReasonTooDeep.
const (
	// ReasonMalformed: no JSON, or no object. Relay's name.
	ReasonMalformed discard.Reason = "invalid_json"
	// ReasonTooManyElements: beyond MaxElements in one payload.
	ReasonTooManyElements discard.Reason = "too_many_elements"
	// ReasonTooLarge: a payload beyond ItemType.MaxSize.
	ReasonTooLarge discard.Reason = "item_too_large"
	// ReasonNothingUsable: an object, but without the fields that make it say anything.
	ReasonNothingUsable discard.Reason = "nothing_usable"
)

// Lenient reads JSON objects of which, by Sentry's rule, a field of the wrong type costs itself only. Such a field counts as a flaw;
// text that is no JSON ends in the scanner's error, as everywhere.
//
// Texts are copies, raw values are views into the payload.
type Lenient struct {
	S        Scanner
	Flaws    []discard.Flaw
	elements int // list elements read so far
	Interner interner
}

// NewLenient returns a reader of a payload.
func NewLenient(payload []byte) Lenient { return Lenient{S: Scanner{Data: payload}} }

// Clipped copies a list out of a buffer; nil where there is nothing in it.
func Clipped[T any](buf []T) []T {
	if len(buf) == 0 {
		return nil
	}
	return slices.Clone(buf)
}

// MaxElements is how many frames, threads, breadcrumbs, logs and the like one payload may have: the rest is skipped, with
// a flaw "too_many". Relay cuts stacks at 250 frames and SDKs breadcrumbs at 100; java sends the stacks of all threads. The
// smallest element takes 3 bytes of payload and some 300 of memory, so that there has to be an end.
const MaxElements = 50_000

// MaxAttributes is how many attributes one element may have: pdata compares each new key with all before it, so that a
// thousand elements of a thousand attributes take seconds. SDKs send a few dozen.
const MaxAttributes = 256

func (l *Lenient) AddFlaw(field string) {
	for i := range l.Flaws {
		if l.Flaws[i].Field == field {
			l.Flaws[i].Count++
			return
		}
	}
	l.Flaws = append(l.Flaws, discard.Flaw{Field: field, Count: 1})
}

// Document visits the members of the object that the payload is.
func (l *Lenient) Document(visit func(key string)) *discard.Error {
	if l.S.Open('{') {
		for n := 0; ; {
			key, more := l.S.Member(&n)
			if !more {
				break
			}
			visit(string(key))
		}
	}
	l.S.End()
	return Malformed(l.S.Err)
}

// Malformed gives the scanner's error for what is no profile: its own word is that of profiles.
func Malformed(err *discard.Error) *discard.Error {
	if err != nil && err.Reason == discard.ReasonInvalidJSON {
		return &discard.Error{Reason: ReasonMalformed, Detail: err.Detail}
	}
	return err
}

// TypeMismatch skips a value that is not of the expected type. Null is absent, hence no flaw.
func (l *Lenient) TypeMismatch(field string) {
	if l.S.Peek() != 'n' {
		l.AddFlaw(field)
	}
	l.S.Skip()
}

// Object visits the members of an object. Each visit must take or skip the member's value.
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
		visit(l.Interner.Intern(key))
	}
}

// List visits the elements of an array. Each visit must take or skip the element. Skipped are the elements beyond
// MaxElements.
func (l *Lenient) List(field string, visit func()) (skipped int) {
	if l.S.Peek() != '[' {
		l.TypeMismatch(field)
		return 0
	}
	l.S.Open('[')
	for n := 0; l.S.Element(&n); {
		if l.elements++; l.elements > MaxElements {
			l.AddFlaw("too_many")
			l.S.Skip()
			skipped++
			continue
		}
		visit()
	}
	return skipped
}

// Values visits the elements of what is {"values": […]} in some SDKs, the flat list in others, and where there is only one element
// also just that. All three are the same to Relay.
func (l *Lenient) Values(field string, visit func()) {
	if l.S.Peek() != '{' {
		l.List(field, visit)
		return
	}
	before := l.S
	empty, wrapped := true, false
	l.Object(field, func(key string) {
		empty = false
		if key != "values" {
			l.S.Skip()
			return
		}
		wrapped = true
		l.List(field, visit)
	})
	if !empty && !wrapped && l.S.Err == nil {
		l.S = before
		visit()
	}
}

// Text takes a string; the text of a number or of a boolean, with a flaw.
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

// InternedText is text for what is one of a few.
func (l *Lenient) InternedText(field string) string {
	if l.S.Peek() == '"' {
		return l.Interner.Intern(ValidUTF8(l.S.Text()))
	}
	return l.Text(field)
}

// ID takes an identifier that SDKs write as text or as a number: thread ids.
func (l *Lenient) ID(field string) string {
	if c := l.S.Peek(); c == '-' || IsDigit(c) {
		return string(l.S.Number())
	}
	return l.Text(field)
}

// UUID takes an id in the form in which Sentry compares them, 32 lower-case hex digits; text that is no UUID as it is.
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

// Int takes a whole number, as a number or as text.
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

// Lineno takes a line or column number; 0 is none.
func (l *Lenient) Lineno(field string) uint32 {
	number := l.S.Uint()
	if number.Bad || number.Value > 1<<32-1 {
		l.AddFlaw(field)
		return 0
	}
	return uint32(number.Value)
}

// Time takes an instant as Timestamp does, and text without a zone as UTC: what raven's SDKs send.
func (l *Lenient) Time(field string) (t Timestamp) {
	if value := l.S.Value(); len(value) > 0 && l.S.Err == nil {
		_ = t.UnmarshalJSON(value) // gives no error, but Bad
		if t.Bad && value[0] == '"' {
			_ = t.UnmarshalJSON(append(append([]byte{}, value[:len(value)-1]...), `Z"`...))
		}
	}
	if t.Bad {
		l.AddFlaw(field)
	}
	return t
}

// Raw gives the JSON text of any value, nil for null.
func (l *Lenient) Raw() []byte {
	value := l.Value()
	if len(value) == 0 || IsNull(value) {
		return nil
	}
	return value
}

// RawObject is raw for what must be an object.
func (l *Lenient) RawObject(field string) []byte {
	if l.S.Peek() != '{' {
		l.TypeMismatch(field)
		return nil
	}
	return l.Value()
}

// Value gives the JSON text of a value whose shape is the sender's. Each object in it that has more than MaxMembers members,
// and so becomes a text, is a flaw "too_many_members".
func (l *Lenient) Value() []byte {
	before := l.S.wideObjects
	text := l.S.Value()
	for ; before < l.S.wideObjects; before++ {
		l.AddFlaw("too_many_members")
	}
	return text
}

// Texts takes a list of strings.
func (l *Lenient) Texts(field string) (all []string) {
	l.List(field, func() { all = append(all, l.Text(field)) })
	return all
}

// TraceID and SpanID are ids in the form OpenTelemetry's are written in: lower-case hex digits without hyphens, "" where the
// text is no such id or all zeros, which is the same by both formats.
func (l *Lenient) TraceID(field string) string { return l.hexID(field, 32) }
func (l *Lenient) SpanID(field string) string  { return l.hexID(field, 16) }

func (l *Lenient) hexID(field string, digits int) string {
	text := l.Text(field)
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
