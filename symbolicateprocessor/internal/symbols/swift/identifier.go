// SPDX-License-Identifier: Apache-2.0

package swift

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// maxWords is the number of words that have a letter.
const maxWords = 26

// number reads a decimal number.
func (m *machine) number() int {
	n, start := 0, m.at
	for c := m.peek(); c >= '0' && c <= '9'; c = m.peek() {
		n = 10*n + int(c-'0')
		m.at++
		if n > maxLength {
			break
		}
	}
	m.bad = m.bad || m.at == start || n > maxLength
	return n
}

// natural reads a number that is not zero.
func (m *machine) natural() int {
	n := m.number()
	m.bad = m.bad || n == 0
	return n
}

// index reads "_" as 0, and "n_" as n + 1.
func (m *machine) index() int {
	if m.accept('_') {
		return 0
	}
	n := m.number()
	m.bad = !m.accept('_') || m.bad
	return n + 1
}

// identifier reads "3foo", "02Myac1_B" with words of earlier identifiers, and "0012vergenza_JFa" in
// Punycode.
func (m *machine) identifier() node {
	words, coded := false, false
	if m.accept('0') {
		coded = m.accept('0')
		words = !coded
	}
	text := ""
	for {
		for words {
			c := m.peek()
			if lower := c | 0x20; lower < 'a' || lower > 'z' {
				break
			}
			m.at++
			words = c >= 'a'
			i := int(c|0x20) - 'a'
			if i >= len(m.words) {
				m.bad = true
				return node{}
			}
			text = m.join(text, m.words[i])
		}
		if m.accept('0') {
			break
		}
		n := m.natural()
		if coded {
			m.accept('_')
		}
		if m.bad || n > len(m.in)-m.at {
			m.bad = true
			return node{}
		}
		part := m.in[m.at : m.at+n]
		m.at += n
		if coded {
			part = m.punycode(part)
		} else {
			m.collectWords(part)
		}
		text = m.join(text, part)
		if !words {
			break
		}
	}
	n := node{kind: identifier, text: text}
	if text == "" || m.bad {
		m.bad = true
		return node{}
	}
	m.remember(n)
	return n
}

// collectWords keeps the words of a part of an identifier: an underscore, or an uppercase letter
// after another character, ends them.
func (m *machine) collectWords(text string) {
	upper := func(c byte) bool { return c >= 'A' && c <= 'Z' }
	start := -1
	for i := 0; i <= len(text); i++ {
		end := i == len(text) || text[i] == '_'
		if start >= 0 && (end || upper(text[i]) && !upper(text[i-1])) {
			if i-start >= 2 && len(m.words) < maxWords {
				m.words = append(m.words, text[start:i])
			}
			start = -1
		}
		if start < 0 && !end && (text[i] < '0' || text[i] > '9') {
			start = i
		}
	}
}

// punycode decodes Swift's variant, with "_" as the delimiter and A to J as digits.
func (m *machine) punycode(text string) string {
	plain, code := "", text
	if i := strings.LastIndexByte(text, '_'); i > 0 {
		plain, code = text[:i]+"-", text[i+1:]
	}
	standard := strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'J' {
			return r - 'A' + '0'
		}
		return r
	}, code)
	decoded, err := idna.Punycode.ToUnicode("xn--" + plain + standard)
	m.bad = m.bad || err != nil || strings.ContainsRune(decoded, utf8.RuneError)
	return decoded
}

// operatorName replaces the letters of an identifier by the operators that they stand for.
func (m *machine) operatorName() {
	const letters, operators = "abcdefghijklmnopqrstuvwxyz", "& @/= >    <*!|+?%-~   ^ ."
	text := strings.Map(func(r rune) rune {
		switch {
		case r >= utf8.RuneSelf:
			return r
		case r < 'a' || r > 'z' || operators[r-'a'] == ' ':
			m.bad = true
			return -1
		}
		return rune(operators[r-'a'])
	}, m.pop(identifier).text)
	fixity, ok := map[byte]string{'i': " infix", 'p': " prefix", 'P': " postfix"}[m.next()]
	m.bad = m.bad || !ok
	m.push(node{kind: declName, text: m.join(text, fixity), flags: symbolic})
}

// localName reads the discriminators of local and private names.
func (m *machine) localName() {
	switch {
	case m.accept('L'):
		m.pop(identifier)
		n := m.declName()
		n.kind = declName
		m.push(n)
	case m.accept('l'):
		m.pop(identifier)
		m.push(node{kind: privateName})
	default:
		i := m.index()
		n := m.declName()
		m.push(node{kind: declName, text: m.join(n.text, " #", strconv.Itoa(i+1)), flags: local})
	}
}

func (m *machine) declName() node {
	if m.top() == declName {
		return m.pop(declName)
	}
	return m.pop(identifier)
}
