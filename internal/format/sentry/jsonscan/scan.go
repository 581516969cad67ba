// SPDX-License-Identifier: Apache-2.0

package jsonscan

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Scanner walks JSON text and returns views of its values without building a tree: the fast path of
// the product. It accepts exactly the text that encoding/json accepts (a fuzz test compares the
// two), up to a nesting depth of MaxJSONDepth.
//
// Err keeps the first error, and all later calls return nothing, so callers check it once at the
// end.
type Scanner struct {
	Data        []byte
	Pos         int
	depth       int
	wideObjects int // number of skipped objects with more than MaxMembers members
	Err         *discard.Error
}

// ReasonMalformed is the reason of the scanner: the text is not the expected JSON. The name is
// Relay's. Profiles have a reason of their own.
const ReasonMalformed discard.Reason = "invalid_json"

func (s *Scanner) Fail(format string, args ...any) {
	s.Stop(discard.Errorf(ReasonMalformed, format, args...))
}

func (s *Scanner) Stop(err *discard.Error) {
	if s.Err == nil {
		s.Err = err
	}
	s.Pos = len(s.Data)
}

func (s *Scanner) FailHere(expected string) {
	s.Fail("expected %s at byte %d of %d", expected, s.Pos, len(s.Data))
}

// Peek skips white space and returns the next byte, or 0 at the end.
func (s *Scanner) Peek() byte {
	for s.Pos < len(s.Data) {
		c := s.Data[s.Pos]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
			return c
		}
		s.Pos++
	}
	return 0
}

// consume skips c, which must be the next byte.
func (s *Scanner) consume(c byte) bool {
	if s.Peek() != c {
		s.FailHere("'" + string(rune(c)) + "'")
		return false
	}
	s.Pos++
	return true
}

// Open enters an object ('{') or an array ('['). The caller then calls Member or Element until it
// returns false.
func (s *Scanner) Open(bracket byte) bool {
	if !s.consume(bracket) {
		return false
	}
	if s.depth++; s.depth > MaxJSONDepth {
		s.Stop(discard.Errorf(discard.ReasonTooDeep, "more than %d levels of JSON at byte %d", MaxJSONDepth, s.Pos))
		return false
	}
	return true
}

// more advances to the next entry of the object or array that Open entered, or leaves it.
func (s *Scanner) more(n *int, bracket byte) bool {
	c := s.Peek()
	if c == bracket {
		s.Pos++
		s.depth--
		return false
	}
	if *n > 0 {
		if c != ',' {
			s.FailHere("',' or '" + string(rune(bracket)) + "'")
			return false
		}
		s.Pos++
	}
	*n++
	return s.Err == nil
}

// Element reports whether the array has another element. n counts the elements and starts at 0.
func (s *Scanner) Element(n *int) bool { return s.more(n, ']') }

// Member returns the key of the next member of an object. The caller then reads its value. n counts
// the members and starts at 0.
func (s *Scanner) Member(n *int) (key []byte, ok bool) {
	if !s.more(n, '}') {
		return nil, false
	}
	key = s.Text()
	s.consume(':')
	return key, s.Err == nil
}

// Text returns the unescaped content of a string. The result is a view into the data unless the
// string has escapes.
func (s *Scanner) Text() []byte {
	content, escaped := s.rawText()
	if !escaped {
		return content
	}
	var text string
	if json.Unmarshal(s.Data[s.Pos-len(content)-2:s.Pos], &text) != nil {
		s.Fail("invalid escape in the string that ends at byte %d", s.Pos)
	}
	return []byte(text)
}

// rawText validates a string and returns the text between its quotes.
func (s *Scanner) rawText() (content []byte, escaped bool) {
	if !s.consume('"') {
		return nil, false
	}
	start := s.Pos
	for {
		s.Pos = NextSpecial(s.Data, s.Pos)
		if s.Pos >= len(s.Data) {
			s.Fail("unterminated string at byte %d", start)
			return nil, false
		}
		switch c := s.Data[s.Pos]; {
		case c == '"':
			s.Pos++
			return s.Data[start : s.Pos-1], escaped
		case c == '\\':
			escaped = true
			s.escape()
		default:
			s.Fail("control character in the string at byte %d", s.Pos)
			return nil, false
		}
	}
}

// escape skips one escape sequence.
func (s *Scanner) escape() {
	rest := s.Data[s.Pos+1:]
	if len(rest) == 0 {
		s.Pos++
		return
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.Pos += 2
		return
	case 'u':
		if len(rest) >= 5 && isHex(rest[1]) && isHex(rest[2]) && isHex(rest[3]) && isHex(rest[4]) {
			s.Pos += 6
			return
		}
	}
	s.FailHere("a valid escape")
}

// NextSpecial returns the position of the next byte that ends a run of plain text: a quote, a
// backslash or a control character. It reads eight bytes at a time, with the zero-byte test of "Bit
// Twiddling Hacks" (x-ones &^ x & highs is exact up to the first zero byte).
func NextSpecial(data []byte, pos int) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x8080808080808080
	)
	for ; pos+8 <= len(data); pos += 8 {
		word := binary.LittleEndian.Uint64(data[pos:])
		quote := word ^ ones*'"'
		slash := word ^ ones*'\\'
		found := ((quote-ones)&^quote | (slash-ones)&^slash | (word-ones*' ')&^word) & highs
		if found != 0 {
			return pos + bits.TrailingZeros64(found)/8
		}
	}
	for ; pos < len(data); pos++ {
		if c := data[pos]; c == '"' || c == '\\' || c < ' ' {
			break
		}
	}
	return pos
}

// Number validates a number and returns its text.
func (s *Scanner) Number() []byte {
	s.Peek()
	start := s.Pos
	if s.at('-') {
		s.Pos++
	}
	if s.at('0') {
		s.Pos++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.Pos++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		s.Pos++
		if s.at('+') || s.at('-') {
			s.Pos++
		}
		s.digits()
	}
	if s.Err != nil {
		return nil
	}
	return s.Data[start:s.Pos]
}

func (s *Scanner) at(c byte) bool { return s.Pos < len(s.Data) && s.Data[s.Pos] == c }

func (s *Scanner) digits() {
	start := s.Pos
	for s.Pos < len(s.Data) && IsDigit(s.Data[s.Pos]) {
		s.Pos++
	}
	if s.Pos == start {
		s.FailHere("a digit")
	}
}

// Scalar returns the content of a string or the text of a number. It skips any other value and
// returns false.
func (s *Scanner) Scalar() (text []byte, quoted, ok bool) {
	switch c := s.Peek(); {
	case c == '"':
		return s.Text(), true, true
	case c == '-' || IsDigit(c):
		return s.Number(), false, true
	}
	s.Skip()
	return nil, false, false
}

// Value validates the next value and returns its text.
func (s *Scanner) Value() []byte {
	s.Peek()
	start := s.Pos
	s.Skip()
	return s.Data[start:s.Pos]
}

// Skip validates and skips the next value.
func (s *Scanner) Skip() {
	switch c := s.Peek(); {
	case c == '"':
		s.rawText()
	case c == '{':
		if s.Open('{') {
			n := 0
			for s.more(&n, '}') {
				s.rawText()
				s.consume(':')
				s.Skip()
			}
			if n > MaxMembers {
				s.wideObjects++
			}
		}
	case c == '[':
		if s.Open('[') {
			for n := 0; s.Element(&n); {
				s.Skip()
			}
		}
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	case c == '-' || IsDigit(c):
		s.Number()
	default:
		s.FailHere("a value")
	}
}

func (s *Scanner) literal(word string) {
	if len(s.Data)-s.Pos < len(word) || string(s.Data[s.Pos:s.Pos+len(word)]) != word {
		s.FailHere(word)
		return
	}
	s.Pos += len(word)
}

// End checks that only white space follows.
func (s *Scanner) End() {
	if s.Peek(); s.Err == nil && s.Pos < len(s.Data) {
		s.FailHere("the end")
	}
}

// ValidJSON reports whether text is one JSON value with a nesting depth of at most MaxJSONDepth.
func ValidJSON(text []byte) bool {
	s := Scanner{Data: text}
	s.Skip()
	s.End()
	return s.Err == nil
}

func isHex(c byte) bool {
	return IsDigit(c) || c|0x20-'a' < 6
}

// ValidUTF8 replaces every byte that is not part of valid UTF-8 with U+FFFD, as encoding/json does
// in strings. Valid text, the normal case, is returned unchanged.
func ValidUTF8(data []byte) []byte {
	if utf8.Valid(data) {
		return data
	}
	clean := make([]byte, 0, len(data)+len(data)/8)
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		clean = utf8.AppendRune(clean, r)
		data = data[size:]
	}
	return clean
}

// View returns the bytes as a string without a copy. The string is valid until the bytes change.
func View(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func IsSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }

// MaxJSONDepth bounds the nesting of JSON. The deepest recorded payload has 9 levels; SDKs limit
// event contexts to 10 by default ("normalizeDepth").
const MaxJSONDepth = 128

// MaxMembers bounds the JSON objects that become maps of attributes; a larger object becomes JSON
// text. pdata compares each new key of a map with all previous ones, so an object of a megabyte
// would take minutes. The largest recorded object, a list of Python modules, has 140 members.
const MaxMembers = 512
