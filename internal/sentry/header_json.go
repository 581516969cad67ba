package sentry

import (
	"math"
	"slices"
	"strconv"
)

// Optional is a header field whose zero value means something else than its absence.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some is an Optional that is set.
func Some[T any](value T) Optional[T] { return Optional[T]{Value: value, Set: true} }

// headerObject walks a JSON object of an envelope and stops at the members it was told to know; all others are skipped, so
// that a field that some future SDK adds never costs an envelope.
//
// Its getters take a value of the wrong type for an absent one. Only what is no JSON at all ends in the scanner's error.
type headerObject struct {
	s     *scanner // nil = not an object
	known []string
	key   string // one of known: the member whose value comes next
	n     int
	seen  uint32 // bit i: known[i] was there
	once  bool   // a second value for a known key is an error
}

// openHeader enters the object that is a header as a whole. A known key given twice is an error there, as it is for Relay:
// two readers must not be able to see two different lengths or DSNs in one body.
func openHeader(s *scanner, known []string) headerObject {
	s.open('{')
	return headerObject{s: s, known: known, once: true}
}

// object enters the member's value.
func (o *headerObject) object(known []string) headerObject {
	if o.s.peek() != '{' {
		o.s.skip()
		return headerObject{}
	}
	o.s.open('{')
	return headerObject{s: o.s, known: known}
}

func (o *headerObject) entered() bool { return o.s != nil }

// next steps to the next known member and says whether there is one. Its value must then be taken by one of the getters.
func (o *headerObject) next() bool {
	if o.s == nil {
		return false
	}
	for {
		key, ok := o.s.member(&o.n)
		if !ok {
			return false
		}
		i := slices.IndexFunc(o.known, func(known string) bool { return known == string(key) })
		if i < 0 {
			o.s.skip()
			continue
		}
		if o.once && o.seen&(1<<i) != 0 {
			o.s.fail("the key %q is there twice", o.known[i])
			return false
		}
		o.seen |= 1 << i
		o.key = o.known[i]
		return true
	}
}

// text gives a string.
func (o *headerObject) text() string {
	if o.s.peek() != '"' {
		o.s.skip()
		return ""
	}
	return intern(validUTF8(o.s.text()))
}

// scalar gives a string, or the JSON text of a number or a boolean.
func (o *headerObject) scalar() string {
	switch c := o.s.peek(); c {
	case '"', '{', '[', 'n':
		return o.text()
	default:
		return string(o.s.value())
	}
}

// count gives a non-negative integer. One too large to count with is still larger than any payload, hence not absent.
func (o *headerObject) count() Optional[int] {
	text := o.s.value()
	for _, c := range text {
		if !isDigit(c) {
			return Optional[int]{}
		}
	}
	count, err := strconv.Atoi(string(text))
	if err != nil {
		count = math.MaxInt
	}
	return Some(count)
}

// flag gives a boolean.
func (o *headerObject) flag() Optional[bool] {
	switch string(o.s.value()) {
	case "true":
		return Some(true)
	case "false":
		return Some(false)
	}
	return Optional[bool]{}
}

// intern gives the constant for the texts that nearly all item headers consist of, and a copy of any other: never a view,
// because bodies are reused.
func intern(text []byte) string {
	if known, ok := wellKnown[string(text)]; ok {
		return known
	}
	return string(text)
}

// The writers are the inverse of the getters: absent fields are left out.

// appendKey opens a member of the object that dst ends in.
func appendKey(dst []byte, key string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(appendJSONText(dst, key), ':')
}

func appendText(dst []byte, key, text string) []byte {
	if text == "" {
		return dst
	}
	return appendJSONText(appendKey(dst, key), text)
}

func appendCount(dst []byte, key string, count Optional[int]) []byte {
	if !count.Set {
		return dst
	}
	return strconv.AppendInt(appendKey(dst, key), int64(count.Value), 10)
}

func appendFlag(dst []byte, key string, flag Optional[bool]) []byte {
	if !flag.Set {
		return dst
	}
	return strconv.AppendBool(appendKey(dst, key), flag.Value)
}
