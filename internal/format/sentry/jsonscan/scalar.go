// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Scalar types that SDKs write in more than one way. Their UnmarshalJSON never fails: a value of
// the wrong type leaves the scalar unset and marked Bad, so that the other members of the object
// survive.

// Decimal is the text of a whole number that SDKs send as a JSON number (Go, Cocoa) or as a string
// (all others).
type Decimal struct {
	Text string // "" = absent
	Bad  bool   // sent, but not as a whole number: React Native sends ""
}

// UnmarshalJSON keeps the digits of a number unchanged, or the content of a string.
func (d *Decimal) UnmarshalJSON(token []byte) error {
	text, _ := StringOrNumber(token)
	_, isUint := ParseUint([]byte(text))
	*d = Decimal{Text: text, Bad: !isUint && !IsNull(token)}
	return nil
}

// Uint is an unsigned number sent as a JSON number or as a numeric string.
type Uint struct {
	Value uint64
	Set   bool
	Bad   bool // sent, but not as an unsigned number
}

// UnmarshalJSON accepts 12 and "12". Null means absent.
func (u *Uint) UnmarshalJSON(token []byte) error {
	s := Scanner{Data: token}
	*u = s.Uint()
	return nil
}

// Address is a memory address sent as "0x…" text, as decimal text or as a number.
type Address struct {
	Value uint64
	Set   bool
	Bad   bool // sent, but not as an address
}

// Address decodes "0x1a2b", "6699" and 6699. Null and empty text mean absent.
func (s *Scanner) Address() Address {
	if s.Peek() == 'n' {
		s.Skip()
		return Address{}
	}
	text, quoted, ok := s.Scalar()
	if quoted && len(text) == 0 {
		return Address{}
	}
	value, isAddress := parseAddress(text)
	return Address{Value: value, Set: ok && isAddress, Bad: !ok || !isAddress}
}

func parseAddress(text []byte) (value uint64, ok bool) {
	if len(text) < 2 || text[0] != '0' || text[1]|0x20 != 'x' {
		return ParseUint(text)
	}
	digits := text[2:]
	for _, c := range digits {
		if !isHex(c) || value>>60 != 0 {
			return 0, false
		}
		value = value<<4 | uint64(hexDigit(c))
	}
	return value, len(digits) > 0
}

func hexDigit(c byte) byte {
	if IsDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// Uint decodes 12 and "12". Null means absent.
func (s *Scanner) Uint() Uint {
	if s.Peek() == 'n' {
		s.Skip()
		return Uint{}
	}
	text, _, ok := s.Scalar()
	value, isUint := ParseUint(text)
	return Uint{Value: value, Set: ok && isUint, Bad: !ok || !isUint}
}

// ParseUint reads decimal digits.
func ParseUint(text []byte) (value uint64, ok bool) {
	if len(text) > 19 { // 19 digits cannot overflow
		value, err := strconv.ParseUint(string(text), 10, 64)
		if err != nil {
			return 0, false // not the maximum that strconv returns for numbers that are too large
		}
		return value, true
	}
	for _, c := range text {
		if !IsDigit(c) {
			return 0, false
		}
		value = value*10 + uint64(c-'0')
	}
	return value, len(text) > 0
}

// Timestamp is an instant, exact to the nanosecond of the text that was sent.
type Timestamp struct {
	UnixNano     uint64
	Set          bool
	Bad          bool // sent, but not as an instant after 1970
	WholeSeconds bool // text without a fraction of a second, which Ruby truncates
}

// UnmarshalJSON accepts Unix seconds and text with a time zone.
func (t *Timestamp) UnmarshalJSON(token []byte) error {
	zoned := false
	if *t, zoned = timestamp(token); t.Set && !zoned {
		*t = Timestamp{Bad: true}
	}
	return nil
}

// timestamp reads a number or a text. zoned is false for a text without a time zone.
func timestamp(token []byte) (t Timestamp, zoned bool) {
	switch c := token[0]; {
	case IsNull(token):
		return Timestamp{}, true
	case c == '-' || IsDigit(c):
		nanos, ok := ParseUnixNanos(token)
		return Timestamp{UnixNano: nanos, Set: ok, Bad: !ok}, true
	case c != '"':
		return Timestamp{Bad: true}, true
	}
	text := view(token)
	if text == "" {
		return Timestamp{}, true
	}
	instant, zoned, ok := Instant(text)
	if !ok || instant.Unix() < 0 || instant.Unix() >= MaxUnixSeconds {
		return Timestamp{Bad: true}, zoned
	}
	nanos := uint64(instant.Unix())*NanosPerSecond + uint64(instant.Nanosecond())
	return Timestamp{UnixNano: nanos, Set: true, WholeSeconds: !strings.Contains(text, ".")}, zoned
}

const (
	NanosPerSecond = 1_000_000_000
	// MaxUnixSeconds keeps every instant below 2^63 nanoseconds (the year 2262), so that sums of
	// two cannot overflow 64 bits.
	MaxUnixSeconds = 1 << 33
	// MaxUnixNano is the same bound in nanoseconds. All instants are below it.
	MaxUnixNano = MaxUnixSeconds * NanosPerSecond
)

// ParseUnixNanos converts the decimal text of Unix seconds to nanoseconds. It keeps the exact
// decimal value and rounds once, half away from zero, if there are more than nine decimals. A
// double would be off by up to 120 ns for current times, and SDKs send more digits than
// milliseconds (1795224053.0711603).
//
// The number must be well-formed JSON. ok is false if it is negative or beyond MaxUnixSeconds.
func ParseUnixNanos(number []byte) (nanos uint64, ok bool) {
	mantissa, exponent := number, 0
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		var err error
		mantissa = number[:i]
		if exponent, err = strconv.Atoi(string(number[i+1:])); err != nil || exponent > 1<<20 || exponent < -1<<20 {
			// The exponent is extreme: the number is either zero or out of range.
			return 0, !bytes.ContainsAny(mantissa, "123456789") || number[i+1] == '-'
		}
	}
	if mantissa[0] == '-' {
		return 0, !bytes.ContainsAny(mantissa, "123456789")
	}
	integer, fraction, _ := bytes.Cut(mantissa, []byte{'.'})

	// Digits are at positions 0, 1, … of integer+fraction; those before `end` are whole
	// nanoseconds.
	end := len(integer) + exponent + 9
	for i := 0; i < end; i++ {
		digit := uint64(0)
		switch {
		case i < len(integer):
			digit = uint64(integer[i] - '0')
		case i < len(integer)+len(fraction):
			digit = uint64(fraction[i-len(integer)] - '0')
		case nanos == 0:
			return 0, true // only zeros, whatever the exponent is
		}
		if nanos >= MaxUnixSeconds*NanosPerSecond/10 {
			return 0, false
		}
		nanos = nanos*10 + digit
	}
	if end >= 0 && roundsUp(integer, fraction, end) {
		nanos++
	}
	return nanos, nanos < MaxUnixSeconds*NanosPerSecond
}

func roundsUp(integer, fraction []byte, position int) bool {
	switch {
	case position < len(integer):
		return integer[position] >= '5'
	case position < len(integer)+len(fraction):
		return fraction[position-len(integer)] >= '5'
	}
	return false
}

// StringOrNumber returns the text of a JSON string or number token.
func StringOrNumber(token []byte) (text string, ok bool) {
	switch c := token[0]; {
	case c == '"':
		if inside, ok := Unescaped(token); ok {
			return string(inside), true // a fast path for IDs, of which there are thousands
		}
		return text, json.Unmarshal(token, &text) == nil
	case c == '-' || IsDigit(c):
		return string(token), true
	}
	return "", false
}

// view is StringOrNumber for a text that is not kept, as of instants, of which there are thousands.
func view(token []byte) string {
	if inside, ok := Unescaped(token); ok {
		return View(inside)
	}
	text, _ := StringOrNumber(token)
	return text
}

// Unescaped returns the content of a JSON string without escapes.
func Unescaped(token []byte) (inside []byte, ok bool) {
	if len(token) < 2 || token[0] != '"' {
		return nil, false
	}
	inside = token[1 : len(token)-1]
	return inside, bytes.IndexByte(inside, '\\') < 0 && utf8.Valid(inside)
}

func IsNull(token []byte) bool { return token[0] == 'n' }

func IsDigit(c byte) bool { return c-'0' <= 9 }

// Optional is a field whose zero value differs from absence.
type Optional[T any] struct {
	Value T
	Set   bool
}

// Some returns an Optional that is set.
func Some[T any](value T) Optional[T] { return Optional[T]{Value: value, Set: true} }
