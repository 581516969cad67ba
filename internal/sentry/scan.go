package sentry

import (
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
	"unsafe"
)

// scanner walks JSON text and hands out pieces of it, without building a tree: the fast path of the product. It accepts
// exactly what encoding/json accepts (a fuzz test holds the two together), except that it nests at most MaxJSONDepth deep.
//
// The first error stays in err and every later call gives nothing, so that callers check once, at the end.
type scanner struct {
	data  []byte
	pos   int
	depth int
	wide  int // objects with more than MaxMembers members that were skipped
	err   *Discard
}

func (s *scanner) fail(format string, args ...any) {
	s.stop(discard(ReasonInvalidJSON, format, args...))
}

func (s *scanner) stop(err *Discard) {
	if s.err == nil {
		s.err = err
	}
	s.pos = len(s.data)
}

func (s *scanner) failHere(expected string) {
	s.fail("expected %s at byte %d of %d", expected, s.pos, len(s.data))
}

// peek skips white space and gives the next byte, 0 at the end.
func (s *scanner) peek() byte {
	for s.pos < len(s.data) {
		c := s.data[s.pos]
		if c > ' ' || (c != ' ' && c != '\n' && c != '\r' && c != '\t') {
			return c
		}
		s.pos++
	}
	return 0
}

// take steps over the byte c.
func (s *scanner) take(c byte) bool {
	if s.peek() != c {
		s.failHere("'" + string(rune(c)) + "'")
		return false
	}
	s.pos++
	return true
}

// open enters an object ('{') or an array ('['). To be followed by calls of member or element until they say no.
func (s *scanner) open(bracket byte) bool {
	if !s.take(bracket) {
		return false
	}
	if s.depth++; s.depth > MaxJSONDepth {
		s.stop(discard(ReasonTooDeep, "more than %d levels of JSON at byte %d", MaxJSONDepth, s.pos))
		return false
	}
	return true
}

// more steps to the next entry of an object or array that `open` entered, or leaves it.
func (s *scanner) more(n *int, bracket byte) bool {
	c := s.peek()
	if c == bracket {
		s.pos++
		s.depth--
		return false
	}
	if *n > 0 {
		if c != ',' {
			s.failHere("',' or '" + string(rune(bracket)) + "'")
			return false
		}
		s.pos++
	}
	*n++
	return s.err == nil
}

// element says whether the array has another element; n counts them and starts at 0.
func (s *scanner) element(n *int) bool { return s.more(n, ']') }

// member gives the key of the object's next member and stands before its value; n counts them and starts at 0.
func (s *scanner) member(n *int) (key []byte, ok bool) {
	if !s.more(n, '}') {
		return nil, false
	}
	key = s.text()
	s.take(':')
	return key, s.err == nil
}

// text gives the content of a string, unescaped: a view into the data unless it had escapes.
func (s *scanner) text() []byte {
	content, escaped := s.rawText()
	if !escaped {
		return content
	}
	var text string
	if json.Unmarshal(s.data[s.pos-len(content)-2:s.pos], &text) != nil {
		s.fail("invalid escape in the string that ends at byte %d", s.pos)
	}
	return []byte(text)
}

// rawText gives the content of a string as it stands between the quotes, validated.
func (s *scanner) rawText() (content []byte, escaped bool) {
	if !s.take('"') {
		return nil, false
	}
	start := s.pos
	for {
		s.pos = nextSpecial(s.data, s.pos)
		if s.pos >= len(s.data) {
			s.fail("string at byte %d has no end", start)
			return nil, false
		}
		switch c := s.data[s.pos]; {
		case c == '"':
			s.pos++
			return s.data[start : s.pos-1], escaped
		case c == '\\':
			escaped = true
			s.escape()
		default:
			s.fail("control character in the string at byte %d", s.pos)
			return nil, false
		}
	}
}

// escape steps over one escape sequence.
func (s *scanner) escape() {
	rest := s.data[s.pos+1:]
	if len(rest) == 0 {
		s.pos++
		return
	}
	switch rest[0] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.pos += 2
		return
	case 'u':
		if len(rest) >= 5 && isHex(rest[1]) && isHex(rest[2]) && isHex(rest[3]) && isHex(rest[4]) {
			s.pos += 6
			return
		}
	}
	s.failHere("a valid escape")
}

// nextSpecial finds the next byte that ends a run of plain text: a quote, a backslash or a control character.
// Eight bytes at a time, by the zero-byte test of "Bit Twiddling Hacks" (x-ones &^ x & highs finds zero bytes exactly
// up to the first one, which is the one wanted).
func nextSpecial(data []byte, pos int) int {
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

// number gives the text of a number, validated.
func (s *scanner) number() []byte {
	s.peek()
	start := s.pos
	if s.at('-') {
		s.pos++
	}
	if s.at('0') {
		s.pos++
	} else {
		s.digits()
	}
	if s.at('.') {
		s.pos++
		s.digits()
	}
	if s.at('e') || s.at('E') {
		s.pos++
		if s.at('+') || s.at('-') {
			s.pos++
		}
		s.digits()
	}
	if s.err != nil {
		return nil
	}
	return s.data[start:s.pos]
}

func (s *scanner) at(c byte) bool { return s.pos < len(s.data) && s.data[s.pos] == c }

func (s *scanner) digits() {
	start := s.pos
	for s.pos < len(s.data) && isDigit(s.data[s.pos]) {
		s.pos++
	}
	if s.pos == start {
		s.failHere("a digit")
	}
}

// scalar gives the content of a string or the text of a number; ok is false, and the value skipped, where it is neither.
func (s *scanner) scalar() (text []byte, quoted, ok bool) {
	switch c := s.peek(); {
	case c == '"':
		return s.text(), true, true
	case c == '-' || isDigit(c):
		return s.number(), false, true
	}
	s.skip()
	return nil, false, false
}

// value gives the text of the next value, validated.
func (s *scanner) value() []byte {
	s.peek()
	start := s.pos
	s.skip()
	return s.data[start:s.pos]
}

// skip steps over the next value, validating it.
func (s *scanner) skip() {
	switch c := s.peek(); {
	case c == '"':
		s.rawText()
	case c == '{':
		if s.open('{') {
			n := 0
			for s.more(&n, '}') {
				s.rawText()
				s.take(':')
				s.skip()
			}
			if n > MaxMembers {
				s.wide++
			}
		}
	case c == '[':
		if s.open('[') {
			for n := 0; s.element(&n); {
				s.skip()
			}
		}
	case c == 't':
		s.literal("true")
	case c == 'f':
		s.literal("false")
	case c == 'n':
		s.literal("null")
	case c == '-' || isDigit(c):
		s.number()
	default:
		s.failHere("a value")
	}
}

func (s *scanner) literal(word string) {
	if len(s.data)-s.pos < len(word) || string(s.data[s.pos:s.pos+len(word)]) != word {
		s.failHere(word)
		return
	}
	s.pos += len(word)
}

// end checks that nothing but white space is left.
func (s *scanner) end() {
	if s.peek(); s.err == nil && s.pos < len(s.data) {
		s.failHere("the end")
	}
}

// ValidJSON reports whether a text is one JSON value that nests at most MaxJSONDepth deep.
func ValidJSON(text []byte) bool {
	s := scanner{data: text}
	s.skip()
	s.end()
	return s.err == nil
}

func isHex(c byte) bool {
	return isDigit(c) || c|0x20-'a' < 6
}

// validUTF8 replaces every byte that is not part of valid UTF-8 by U+FFFD, as encoding/json does inside strings. Valid
// text, the rule, is given back as it is.
func validUTF8(data []byte) []byte {
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

// view gives the bytes as a string without copying them: valid as long as they are not changed.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
