// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"errors"
	"strings"
	"unicode/utf8"
)

// lexeme is a token of JavaScript.
type lexeme struct {
	kind    lexemeKind
	text    string
	at, end place
	newline bool // a line ended before it
}

type lexemeKind uint8

const (
	endOfFile lexemeKind = iota
	word                 // identifiers, keywords, private names
	number
	text  // a string
	punct // operators and brackets
	regex
	template     // `text` without substitutions, or its last part
	templateOpen // `text${ or }text${
)

// scanner splits JavaScript, as minifiers write it, into lexemes. It does not check the grammar:
// the caller knows whether a slash can start a regular expression.
type scanner struct {
	src       string
	i         int
	line      uint32
	lineStart int // position of the line's first byte
	surplus   int // bytes of the line so far minus their UTF-16 units
}

var errUnclosed = errors.New("a string, comment, template or regular expression does not end")

func (s *scanner) place() place {
	return place{s.line, uint32(s.i - s.lineStart - s.surplus)}
}

// moveTo goes to a later byte, and counts lines and columns.
func (s *scanner) moveTo(end int) {
	for s.i < end {
		c := s.src[s.i]
		switch {
		case c == '\n' || c == '\r' && !strings.HasPrefix(s.src[s.i+1:], "\n"):
			s.i++
			s.line++
			s.lineStart, s.surplus = s.i, 0
		case c < utf8.RuneSelf:
			s.i++
		default:
			_, size := utf8.DecodeRuneInString(s.src[s.i:])
			s.i += size
			switch size {
			case 4:
				s.surplus += 2
			default:
				s.surplus += size - 1
			}
		}
	}
}

// next returns the next lexeme. A slash starts a regular expression if slashIsRegex is set.
func (s *scanner) next(slashIsRegex bool) (lexeme, error) {
	before := s.line
	if err := s.skipSpace(); err != nil {
		return lexeme{}, err
	}
	t := lexeme{at: s.place(), newline: s.line != before}
	start := s.i
	if start == len(s.src) {
		t.end = t.at
		return t, nil
	}
	var end int
	var err error
	switch c := s.src[start]; {
	case isWord(c) && (c < '0' || c > '9'):
		t.kind, end = word, s.endOfWord(start)
	case c >= '0' && c <= '9' || c == '.' && start+1 < len(s.src) && s.src[start+1] >= '0' && s.src[start+1] <= '9':
		t.kind, end = number, s.endOfNumber(start)
	case c == '"' || c == '\'':
		t.kind = text
		end, err = s.endOfString(start, c)
	case c == '`':
		t.kind, end, err = s.endOfTemplate(start + 1)
	case c == '/' && slashIsRegex:
		t.kind = regex
		end, err = s.endOfRegex(start)
	default:
		t.kind, end = punct, start+lengthOfPunct(s.src[start:])
	}
	t.text = s.src[start:end]
	s.moveTo(end)
	t.end = s.place()
	return t, err
}

// afterSubstitution returns the rest of a template, after the closing brace of a substitution.
func (s *scanner) afterSubstitution() (lexeme, error) {
	t := lexeme{at: s.place()}
	kind, end, err := s.endOfTemplate(s.i)
	t.kind = kind
	s.moveTo(end)
	t.end = s.place()
	return t, err
}

func (s *scanner) skipSpace() error {
	for s.i < len(s.src) {
		rest := s.src[s.i:]
		switch {
		case rest[0] <= ' ':
			s.moveTo(s.i + 1)
		case strings.HasPrefix(rest, "//") || s.i == 0 && strings.HasPrefix(rest, "#!"):
			end := strings.IndexAny(rest, "\r\n")
			if end < 0 {
				end = len(rest)
			}
			s.moveTo(s.i + end)
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errUnclosed
			}
			s.moveTo(s.i + end + 4)
		case strings.HasPrefix(rest, "\u00a0") || strings.HasPrefix(rest, "\ufeff") || strings.HasPrefix(rest, "\u2028") || strings.HasPrefix(rest, "\u2029"):
			_, size := utf8.DecodeRuneInString(rest)
			s.moveTo(s.i + size)
		default:
			return nil
		}
	}
	return nil
}

func isWord(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '$' || c == '#' || c == '\\' || c >= utf8.RuneSelf
}

func (s *scanner) endOfWord(i int) int {
	for i < len(s.src) && isWord(s.src[i]) {
		if strings.HasPrefix(s.src[i:], `\u{`) {
			i += 3
			for i < len(s.src) && s.src[i] != '}' && isWord(s.src[i]) {
				i++
			}
		}
		i++
	}
	return min(i, len(s.src))
}

func (s *scanner) endOfNumber(i int) int {
	hex := strings.HasPrefix(s.src[i:], "0x") || strings.HasPrefix(s.src[i:], "0X")
	for i++; i < len(s.src); i++ {
		c := s.src[i]
		sign := (c == '+' || c == '-') && !hex && (s.src[i-1] == 'e' || s.src[i-1] == 'E')
		if !sign && c != '.' && (!isWord(c) || c >= utf8.RuneSelf) {
			break
		}
	}
	return i
}

func (s *scanner) endOfString(i int, quote byte) (int, error) {
	for i++; i < len(s.src); i++ {
		switch s.src[i] {
		case quote:
			return i + 1, nil
		case '\\':
			i++
		case '\n':
			return i, errUnclosed
		}
	}
	return len(s.src), errUnclosed
}

func (s *scanner) endOfTemplate(i int) (lexemeKind, int, error) {
	for ; i < len(s.src); i++ {
		switch s.src[i] {
		case '`':
			return template, i + 1, nil
		case '\\':
			i++
		case '$':
			if strings.HasPrefix(s.src[i:], "${") {
				return templateOpen, i + 2, nil
			}
		}
	}
	return template, len(s.src), errUnclosed
}

func (s *scanner) endOfRegex(i int) (int, error) {
	class := false // in brackets, where a slash is literal
	for i++; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '\\':
			i++
		case c == '\n':
			return i, errUnclosed
		case c == '[':
			class = true
		case c == ']':
			class = false
		case c == '/' && !class:
			return s.endOfWord(i + 1), nil // with its flags
		}
	}
	return len(s.src), errUnclosed
}

// lengthOfPunct recognizes the multi-character operators that matter here.
func lengthOfPunct(s string) int {
	for _, p := range []string{">>>=", "...", "===", "!==", "**=", "<<=", ">>=", "&&=", "||=", "??=", ">>>",
		"=>", "==", "!=", "<=", ">=", "&&", "||", "??", "?.", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "**"} {
		if strings.HasPrefix(s, p) {
			if p == "?." && len(s) > 2 && s[2] >= '0' && s[2] <= '9' { // a?.5:b
				return 1
			}
			return len(p)
		}
	}
	return 1
}
