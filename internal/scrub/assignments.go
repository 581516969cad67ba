// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Assignments in texts that are too important to be replaced as a whole: messages, queries, URLs.
// Sentry's servers keep most of them or replace them as a whole; this package replaces the value
// next to a sensitive name.
//
//	password=x   "api_key": "x"   secret: 'x'   access_token => x   Authorization: Basic x   ?token=x&   Cookie: a=b; c=d
//
// The search is one pass of the automaton, without backtracking.

// syntax selects which assignments are found.
type syntax uint8

const (
	anySyntax   syntax = iota
	codeSyntax         // only literals in quotes: lines of source code
	urlSyntax          // only parameters of URLs: names of code
	stackSyntax        // names before a colon are types of exceptions at the start and in causes
)

// assignments replaces the values next to sensitive names, and reports whether there were any. sql
// is nil for other texts than statements.
func (r *redacted) assignments(s syntax, sql *statement) bool {
	return r.replaceSpans(spans(r.text, s, sql))
}

// replaceSpans replaces parts of the text, and reports whether there were any.
func (r *redacted) replaceSpans(found [][2]int) bool {
	if len(found) == 0 {
		return false
	}
	var out strings.Builder
	var marks []string
	pos, next := 0, 0
	for _, span := range append(found, [2]int{len(r.text), len(r.text)}) {
		before := r.text[pos:span[0]]
		out.WriteString(before)
		n := strings.Count(before, nul)
		marks = append(marks, r.marks[next:next+n]...)
		next += n + strings.Count(r.text[span[0]:span[1]], nul)
		if span[0] < span[1] {
			out.WriteString(nul)
			marks = append(marks, Filtered)
		}
		pos = span[1]
	}
	r.text, r.marks = out.String(), marks
	return true
}

// spans returns the positions of the values, in order and without overlaps.
func spans(text string, s syntax, sql *statement) (found [][2]int) {
	state, until := uint8(0), 0 // until is the end of the last value, or of the last name without a value: a name may contain several of the words
	for i := 0; i < len(text); i++ {
		state = automaton.next[state][text[i]]
		hit := automaton.found[state] & (hasWord | hasCookie)
		if hit == 0 || i < until || notAuth(text, i) {
			continue
		}
		name := nameEnd(text, i+1)
		from := valueAfter(text, name)
		until = name
		if from < 0 || s == urlSyntax && (text[from-1] != '=' || !inQuery(text, i)) || isCode(text, i+1, name, from, s) {
			continue
		}
		if sql != nil && i >= sql.start {
			values, end := sql.valuesAt(text, i+1, name, from)
			found = append(found, values...)
			if end > 0 {
				until = end
				continue
			}
		}
		at := s
		if s == codeSyntax && inQuery(text, i) {
			at = anySyntax
		}
		from, to := valueSpan(text, from, at, hit&hasCookie != 0)
		if isValue(text, from, to) {
			found = append(found, [2]int{from, to})
			until, i, state = to, to-1, 0
		}
	}
	return found
}

// isValue reports whether a part of a text is neither empty, nor a replacement, nor a word such as
// null.
func isValue(text string, from, to int) bool {
	return from < to && strings.Trim(text[from:to], nul) != "" && !strings.HasPrefix(text[from:], Filtered) && !isNothing(text[from:to])
}

// notAuth reports whether the word that ends at i is the start of author or authority.
func notAuth(text string, i int) bool {
	const or = "or"
	if i+1 < len(authWord) || !strings.EqualFold(text[i+1-len(authWord):i+1], authWord) || len(text) < i+1+len(or) || !strings.EqualFold(text[i+1:i+1+len(or)], or) {
		return false
	}
	rest := text[i+1+len(or):]
	return len(rest) < 2 || !strings.EqualFold(rest[:2], "iz") && !strings.EqualFold(rest[:2], "is")
}

// nameEnd returns the end of the name around i.
func nameEnd(text string, i int) int {
	for i < len(text) && isName(text[i]) {
		i++
	}
	return i
}

// valueAfter returns where the value starts after a name that ends at i, -1 if there is none.
func valueAfter(text string, i int) int {
	if from := valueOfPair(text, i); from >= 0 {
		return from
	}
	for n := 0; n < 2 && i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '\\' || text[i] == ']'); n++ {
		i++
	}
	i = skipBlanks(text, i)
	switch {
	case strings.HasPrefix(text[i:], "=>"), strings.HasPrefix(text[i:], ":="), strings.HasPrefix(text[i:], "=="):
		i += 2
	case strings.HasPrefix(text[i:], "%3D"), strings.HasPrefix(text[i:], "%3d"), strings.HasPrefix(text[i:], "%3A"):
		i += 3
	case strings.HasPrefix(text[i:], "://"), strings.HasPrefix(text[i:], "::"): // a name space, or a cast in SQL
		return -1
	case strings.HasPrefix(text[i:], "="), strings.HasPrefix(text[i:], ":"):
		i++
	default:
		return -1
	}
	return skipBlanks(text, i)
}

// pairPattern matches what follows a name in a pair or in an object with a name and a value, as
// JSON writes them.
var pairPattern = regexp.MustCompile(`^"\s*,\s*(?:"[Vv]alues?"\s*:\s*"|"(?:[^"\\]|\\.)*"\s*\])`)

// valueOfPair returns where the value of a pair starts, -1 if the name is not part of one.
func valueOfPair(text string, i int) int {
	if i >= len(text) || text[i] != '"' {
		return -1
	}
	match := pairPattern.FindString(text[i:min(len(text), i+maxPairText)])
	if match == "" {
		return -1
	}
	if strings.HasSuffix(match, "]") { // up to the quote that opens the value
		return i + 1 + strings.IndexByte(match[1:], '"')
	}
	return i + len(match) - 1
}

// maxPairText bounds the search for the value of a pair.
const maxPairText = 4096

// isName reports whether a byte belongs to a name.
func isName(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-' || b == '.'
}

func skipBlanks(text string, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\t') {
		i++
	}
	return i
}

// valueSpan returns the value that starts at i: a text in quotes, a list or an object, or a word.
// The scheme of a header is kept.
func valueSpan(text string, i int, s syntax, line bool) (from, to int) {
	if i >= len(text) {
		return i, i
	}
	escaped := strings.HasPrefix(text[i:], `\"`)
	switch {
	case escaped:
		if end := strings.Index(text[i+2:], `\"`); end >= 0 {
			return i + 2, i + 2 + end
		}
		return i + 2, len(text)
	case text[i] == '"' || text[i] == '\'' || text[i] == '`':
		return i + 1, closingQuote(text, i+1, text[i])
	case s == codeSyntax:
		if from = afterScheme(text, i); from > i {
			return from, wordEnd(text, from)
		}
		return i, i
	case text[i] == '{' || text[i] == '[':
		return i, closingBracket(text, i)
	case line: // all cookies
		end := strings.IndexAny(text[i:], "\r\n\"'")
		if end < 0 {
			return i, len(text)
		}
		return i, i + end
	}
	from = afterScheme(text, i)
	return from, wordEnd(text, from)
}

// inQuery reports whether the name around i is a parameter of a URL.
func inQuery(text string, i int) bool {
	for i >= 0 && isName(text[i]) {
		i--
	}
	return i >= 0 && (text[i] == '?' || text[i] == '&')
}

// afterScheme returns where the value of a header starts: after its scheme, if it has one.
func afterScheme(text string, i int) int {
	for _, scheme := range []string{"basic", "bearer", "digest", "token", "negotiate", "apikey"} {
		if end := i + len(scheme); end < len(text) && text[end] == ' ' && strings.EqualFold(text[i:end], scheme) {
			return skipBlanks(text, end)
		}
	}
	return i
}

// wordEnd returns the end of a value without quotes.
func wordEnd(text string, i int) int {
	for i < len(text) {
		c, size := utf8.DecodeRuneInString(text[i:])
		if strings.ContainsRune(" \t\r\n,;&\"'`)]}<>|", c) || c == '\u00a0' {
			break
		}
		i += size
	}
	return i
}

func closingQuote(text string, i int, quote byte) int {
	for ; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case quote:
			return i
		}
	}
	return len(text)
}

// closingBracket returns the end of an object or a list in a text like JSON.
func closingBracket(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = closingQuote(text, i+1, '"')
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}
