package sentry

import (
	"slices"
	"strconv"
	"strings"
)

// Reasons for which the items here are discarded, beside ReasonTooDeep.
const (
	// ReasonMalformed: no JSON, or no object. Relay's name.
	ReasonMalformed Reason = "invalid_json"
	// ReasonTooManyElements: beyond maxLooseParts in one payload.
	ReasonTooManyElements Reason = "too_many_elements"
	// ReasonTooLarge: a payload beyond ItemType.MaxSize.
	ReasonTooLarge Reason = "item_too_large"
	// ReasonNothingUsable: an object, but without the fields that make it say anything.
	ReasonNothingUsable Reason = "nothing_usable"
)

// loose reads the JSON objects of events and logs, where by Sentry's rule a field of the wrong type costs itself only. Such
// a field counts as a flaw; text that is no JSON ends in the scanner's error, as everywhere.
//
// Texts are copies, raw values are views into the payload.
type loose struct {
	s     scanner
	flaws []Flaw
	parts int // list elements taken so far
	words words

	// Lists of which there is one in each of a thousand elements. They grow here, and are copied when their size is known.
	attributeBuf []Attribute
	valueBuf     []NamedValue
}

// atItsSize copies a list out of a buffer; nil where there is nothing in it.
func atItsSize[T any](buf []T) []T {
	if len(buf) == 0 {
		return nil
	}
	return slices.Clone(buf)
}

// maxLooseParts is how many frames, threads, breadcrumbs, logs and the like one payload may have: the rest is skipped, with
// a flaw "too_many". Relay cuts stacks at 250 frames and SDKs breadcrumbs at 100; java sends the stacks of all threads. The
// smallest element takes 3 bytes of payload and some 300 of memory, so that there has to be an end.
const maxLooseParts = 50_000

// maxAttributes is how many attributes one element may have: pdata compares each new key with all before it, so that a
// thousand elements of a thousand attributes take seconds. SDKs send a few dozen.
const maxAttributes = 256

func (l *loose) flaw(field string) {
	for i := range l.flaws {
		if l.flaws[i].Field == field {
			l.flaws[i].Count++
			return
		}
	}
	l.flaws = append(l.flaws, Flaw{field, 1})
}

// document visits the members of the object that the payload is.
func (l *loose) document(visit func(key string)) *Discard {
	if l.s.open('{') {
		for n := 0; ; {
			key, more := l.s.member(&n)
			if !more {
				break
			}
			visit(string(key))
		}
	}
	l.s.end()
	return malformed(l.s.err)
}

// malformed gives the scanner's error for what is no profile: its own word is that of profiles.
func malformed(err *Discard) *Discard {
	if err != nil && err.Reason == ReasonInvalidJSON {
		return &Discard{Reason: ReasonMalformed, Detail: err.Detail}
	}
	return err
}

// wrong skips a value that is not of the expected type. Null is absent, hence no flaw.
func (l *loose) wrong(field string) {
	if l.s.peek() != 'n' {
		l.flaw(field)
	}
	l.s.skip()
}

// object visits the members of an object. Each visit must take or skip the member's value.
func (l *loose) object(field string, visit func(key string)) (ok bool) {
	if l.s.peek() != '{' {
		l.wrong(field)
		return false
	}
	l.s.open('{')
	for n := 0; ; {
		key, more := l.s.member(&n)
		if !more {
			return l.s.err == nil
		}
		visit(l.words.of(key))
	}
}

// list visits the elements of an array. Each visit must take or skip the element. Skipped are the elements beyond
// maxLooseParts.
func (l *loose) list(field string, visit func()) (skipped int) {
	if l.s.peek() != '[' {
		l.wrong(field)
		return 0
	}
	l.s.open('[')
	for n := 0; l.s.element(&n); {
		if l.parts++; l.parts > maxLooseParts {
			l.flaw("too_many")
			l.s.skip()
			skipped++
			continue
		}
		visit()
	}
	return skipped
}

// values visits the elements of what is {"values": […]} in some SDKs, the flat list in others, and where there is only one element
// also just that. All three are the same to Relay.
func (l *loose) values(field string, visit func()) {
	if l.s.peek() != '{' {
		l.list(field, visit)
		return
	}
	before := l.s
	empty, wrapped := true, false
	l.object(field, func(key string) {
		empty = false
		if key != "values" {
			l.s.skip()
			return
		}
		wrapped = true
		l.list(field, visit)
	})
	if !empty && !wrapped && l.s.err == nil {
		l.s = before
		visit()
	}
}

// text takes a string; the text of a number or of a boolean, with a flaw.
func (l *loose) text(field string) string {
	switch c := l.s.peek(); c {
	case '"':
		return string(validUTF8(l.s.text()))
	case '{', '[', 'n':
		l.wrong(field)
		return ""
	}
	l.flaw(field)
	return string(l.s.value())
}

// word is text for what is one of a few.
func (l *loose) word(field string) string {
	if l.s.peek() == '"' {
		return l.words.of(validUTF8(l.s.text()))
	}
	return l.text(field)
}

// id takes an identifier that SDKs write as text or as a number: thread ids.
func (l *loose) id(field string) string {
	if c := l.s.peek(); c == '-' || isDigit(c) {
		return string(l.s.number())
	}
	return l.text(field)
}

// uuid takes an id in the form in which Sentry compares them, 32 lower-case hex digits; text that is no UUID as it is.
func (l *loose) uuid(field string) string {
	text := l.text(field)
	if id := simpleID(text); id != "" {
		return id
	}
	return text
}

func (l *loose) flag(field string) Optional[bool] {
	switch l.s.peek() {
	case 't', 'f':
		return Some(string(l.s.value()) == "true")
	}
	l.wrong(field)
	return Optional[bool]{}
}

// int takes a whole number, as a number or as text.
func (l *loose) int(field string) Optional[int64] {
	switch c := l.s.peek(); {
	case c == '"', c == '-', isDigit(c):
		text, _, _ := l.s.scalar()
		if number, err := strconv.ParseInt(string(text), 10, 64); err == nil {
			return Some(number)
		}
		l.flaw(field)
	default:
		l.wrong(field)
	}
	return Optional[int64]{}
}

func (l *loose) float(field string) Optional[float64] {
	if c := l.s.peek(); c == '-' || isDigit(c) {
		if number, err := strconv.ParseFloat(string(l.s.number()), 64); err == nil {
			return Some(number)
		}
		l.flaw(field)
		return Optional[float64]{}
	}
	l.wrong(field)
	return Optional[float64]{}
}

// lineno takes a line or column number; 0 is none.
func (l *loose) lineno(field string) uint32 {
	number := l.s.uint()
	if number.Bad || number.Value > 1<<32-1 {
		l.flaw(field)
		return 0
	}
	return uint32(number.Value)
}

// time takes an instant as Timestamp does, and text without a zone as UTC: what raven's SDKs send.
func (l *loose) time(field string) (t Timestamp) {
	if value := l.s.value(); len(value) > 0 && l.s.err == nil {
		_ = t.UnmarshalJSON(value) // gives no error, but Bad
		if t.Bad && value[0] == '"' {
			_ = t.UnmarshalJSON(append(append([]byte{}, value[:len(value)-1]...), `Z"`...))
		}
	}
	if t.Bad {
		l.flaw(field)
	}
	return t
}

// raw gives the JSON text of any value, nil for null.
func (l *loose) raw() []byte {
	value := l.value()
	if len(value) == 0 || isNull(value) {
		return nil
	}
	return value
}

// rawObject is raw for what must be an object.
func (l *loose) rawObject(field string) []byte {
	if l.s.peek() != '{' {
		l.wrong(field)
		return nil
	}
	return l.value()
}

// value gives the JSON text of a value whose shape is the sender's. Each object in it that has more than MaxMembers members,
// and so becomes a text, is a flaw "too_many_members".
func (l *loose) value() []byte {
	before := l.s.wide
	text := l.s.value()
	for ; before < l.s.wide; before++ {
		l.flaw("too_many_members")
	}
	return text
}

// texts takes a list of strings.
func (l *loose) texts(field string) (all []string) {
	l.list(field, func() { all = append(all, l.text(field)) })
	return all
}

// traceID and spanID are ids in the form OpenTelemetry's are written in: lower-case hex digits without hyphens, "" where the
// text is no such id or all zeros, which is the same by both formats.
func (l *loose) traceID(field string) string { return l.hexID(field, 32) }
func (l *loose) spanID(field string) string  { return l.hexID(field, 16) }

func (l *loose) hexID(field string, digits int) string {
	text := l.text(field)
	id := strings.ToLower(strings.ReplaceAll(text, "-", ""))
	valid := len(id) == digits && strings.Trim(id, "0") != ""
	for i := 0; valid && i < len(id); i++ {
		valid = isHex(id[i])
	}
	if valid {
		return id
	}
	if text != "" {
		l.flaw(field)
	}
	return ""
}
