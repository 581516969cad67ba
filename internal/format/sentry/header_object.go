// SPDX-License-Identifier: Apache-2.0

package sentry

import (
	"math"
	"slices"
	"strconv"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// headerObject walks a JSON object of an envelope and stops at known members. It skips all others,
// so that new fields of future SDKs never invalidate an envelope.
//
// Its getters treat a value of the wrong type as absent. Only invalid JSON stops the scanner with
// an error.
type headerObject struct {
	s     *jsonscan.Scanner // nil = not an object
	known []string
	key   string // one of known: the key of the next value
	n     int
	seen  uint32 // bit i: known[i] was present
	once  bool   // a second value for a known key is an error
}

// openHeader enters the object of a complete header. As in Relay, a repeated known key is an error,
// because two readers must not see different lengths or DSNs in the same body.
func openHeader(s *jsonscan.Scanner, known []string) headerObject {
	s.Open('{')
	return headerObject{s: s, known: known, once: true}
}

// object enters the object that is the value of the member.
func (o *headerObject) object(known []string) headerObject {
	if o.s.Peek() != '{' {
		o.s.Skip()
		return headerObject{}
	}
	o.s.Open('{')
	return headerObject{s: o.s, known: known}
}

func (o *headerObject) entered() bool { return o.s != nil }

// next advances to the next known member and reports whether there is one. The caller must then
// read its value with one of the getters.
func (o *headerObject) next() bool {
	if o.s == nil {
		return false
	}
	for {
		key, ok := o.s.Member(&o.n)
		if !ok {
			return false
		}
		i := slices.IndexFunc(o.known, func(known string) bool { return known == string(key) })
		if i < 0 {
			o.s.Skip()
			continue
		}
		if o.once && o.seen&(1<<i) != 0 {
			o.s.Fail("the key %q occurs twice", o.known[i])
			return false
		}
		o.seen |= 1 << i
		o.key = o.known[i]
		return true
	}
}

// text returns a string.
func (o *headerObject) text() string {
	if o.s.Peek() != '"' {
		o.s.Skip()
		return ""
	}
	return intern(jsonscan.ValidUTF8(o.s.Text()))
}

// scalar returns a string, or the JSON text of a number or a boolean.
func (o *headerObject) scalar() string {
	switch c := o.s.Peek(); c {
	case '"', '{', '[', 'n':
		return o.text()
	default:
		return string(o.s.Value())
	}
}

// count returns a non-negative integer. A number that overflows int becomes the largest int, which
// is larger than any payload, instead of being absent.
func (o *headerObject) count() jsonscan.Optional[int] {
	text := o.s.Value()
	for _, c := range text {
		if !jsonscan.IsDigit(c) {
			return jsonscan.Optional[int]{}
		}
	}
	count, err := strconv.Atoi(string(text))
	if err != nil {
		count = math.MaxInt
	}
	return jsonscan.Some(count)
}

// flag returns a boolean.
func (o *headerObject) flag() jsonscan.Optional[bool] {
	switch string(o.s.Value()) {
	case "true":
		return jsonscan.Some(true)
	case "false":
		return jsonscan.Some(false)
	}
	return jsonscan.Optional[bool]{}
}

// intern returns a constant for common texts, which covers nearly all item headers, and a copy for
// any other text. It never returns a view, because bodies are reused.
func intern(text []byte) string {
	if known, ok := commonTexts[string(text)]; ok {
		return known
	}
	return string(text)
}
