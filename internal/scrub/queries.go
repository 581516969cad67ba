// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"regexp"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// literal is a literal or a comment of a query.
type literal struct {
	kind     literalKind
	from, to int
}

type literalKind uint8

const (
	quotedLiteral literalKind = iota // in single quotes
	numberLiteral
	otherLiteral // in dollar quotes or double quotes, or a comment
)

// literals returns the literals of a query in order, in one pass. Placeholders such as $1 and names
// such as t1 are none.
func (s *statement) literals(query string) (found []literal) {
	add := func(kind literalKind, from, to int) int {
		found = append(found, literal{kind, from, to})
		return to
	}
	last := byte(0) // before i, without blanks
	for i := 0; i < len(query); {
		b, rest := query[i], query[i:]
		switch {
		case b == '\'':
			i = add(quotedLiteral, i, quoteEnd(query, i))
		case b == '"' || b == '`':
			end := quoteEnd(query, i)
			if b == '"' && !namesInDoubleQuotes[s.system] && strings.IndexByte("=<>(,", last) >= 0 && isOneOf(query, skipBlanks(query, end), ",;)") {
				add(otherLiteral, i, end)
			}
			i = end
		case strings.HasPrefix(rest, "--"):
			i = add(otherLiteral, i, endAt(query, i, "\n"))
		case strings.HasPrefix(rest, "/*"):
			i = add(otherLiteral, i, endAt(query, i, "*/"))
		case strings.HasPrefix(rest, "$$"):
			i = add(otherLiteral, i, endAt(query, i+2, "$$"))
		case isDigit(b):
			end := numberEnd(query, i)
			switch {
			case end > i && i > 0 && query[i-1] == '-' && (i == 1 || !isWord(query[i-2])):
				add(numberLiteral, i-1, end)
			case end > i && (i == 0 || strings.IndexByte(" \t\r\n\f(,=<>", query[i-1]) >= 0):
				add(numberLiteral, i, end)
			}
			for i = max(end, i+1); i < len(query) && isWord(query[i]); i++ {
			}
		case isWord(b):
			for i++; i < len(query) && isWord(query[i]); i++ {
			}
		default:
			i++
		}
		if b != ' ' && b != '\t' {
			last = b
		}
	}
	return found
}

func isOneOf(query string, i int, bytes string) bool {
	return i >= len(query) || strings.IndexByte(bytes, query[i]) >= 0
}

// endAt returns the end of the next mark, or of the query.
func endAt(query string, i int, mark string) int {
	if n := strings.Index(query[i:], mark); n >= 0 {
		return i + n + len(mark)
	}
	return len(query)
}

// quoteEnd returns the end of a text in quotes. Two quotes in it are one.
func quoteEnd(query string, i int) int {
	quote := query[i]
	for {
		end := closingQuote(query, i+1, quote)
		if end+1 >= len(query) || query[end+1] != quote {
			return min(end+1, len(query))
		}
		i = end + 1
	}
}

// numberEnd returns the end of the number that starts at i, i if a name follows its digits.
func numberEnd(query string, i int) int {
	end := i
	for end < len(query) && isDigit(query[end]) {
		end++
	}
	whole := end
	if end+1 < len(query) && query[end] == '.' && isDigit(query[end+1]) {
		for end++; end < len(query) && isDigit(query[end]); end++ {
		}
	}
	if end < len(query) && isWord(query[end]) {
		end = whole
	}
	if end < len(query) && isWord(query[end]) {
		return i
	}
	return end
}

func isDigit(b byte) bool { return b >= '0' && b <= '9' }

func isWord(b byte) bool { return isAlphanumeric(b) || b == '_' }

// literalSpans returns the contents of a query's literals, except replacements.
func (s *statement) literalSpans(query string) (found [][2]int) {
	for _, l := range s.literals(query) {
		from, to := l.from, l.to
		if l.kind != numberLiteral {
			from++
		}
		if l.kind == quotedLiteral || query[l.from] == '"' {
			to = max(from, to-1)
		}
		if strings.Trim(query[from:to], nul+"'\"") != "" && !strings.HasPrefix(query[from:to], Filtered) {
			found = append(found, [2]int{from, to})
		}
	}
	return found
}

// verbs begin the statements that are scrubbed as SQL.
var verbs = map[string]bool{
	"select": true, "insert": true, "update": true, "delete": true, "merge": true, "replace": true, "with": true, "explain": true,
	"create": true, "alter": true, "drop": true,
}

// isSQL reports whether a text begins like a statement of SQL. Sentry's servers replace a query as
// a whole if it mentions a password. In a statement, names and keywords are not secret; commands of
// other databases have no such structure.
func isSQL(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(")
	for strings.HasPrefix(text, "/*") {
		text = strings.TrimLeft(text[endAt(text, 0, "*/"):], " \t\r\n(")
	}
	end := 0
	for end < len(text) && end <= len("replace") && isAlphanumeric(text[end]) {
		end++
	}
	return verbs[strings.ToLower(text[:end])]
}

// statementPattern matches the beginning of a statement inside a text, for example an error
// message. Sentences rarely match it, and never with verbs in capitals.
var statementPattern = regexp.MustCompile(`(?is)\b(?:(?:insert|merge|replace)\s+into|delete\s+from|update\s+\S+\s+set|select\s.*?\sfrom)[\s(]`)

// definitionPattern matches the beginning of a text that is another statement.
var definitionPattern = regexp.MustCompile(`(?is)^\s*(?:with\s.*?\sas|(?:create|alter|drop)\s+(?:unique\s+)?` +
	`(?:table|index|view|user|role|function|procedure|trigger|sequence|schema|database|type|materialized))[\s(]`)

// isQuery reports whether an attribute is a database query.
func isQuery(key string) bool {
	return key == semconv.DBQueryText || key == semconv.DBStatement
}

// withoutLiterals replaces the literals of a query.
func (w *walker) withoutLiterals(query string) string {
	var out strings.Builder
	pos := 0
	var s statement // literals in double quotes are kept in any case
	for _, l := range s.literals(query) {
		if l.kind != otherLiteral {
			out.WriteString(query[pos:l.from] + "?")
			pos = l.to
		}
	}
	if pos == 0 {
		return query
	}
	w.count(ruleSQL)
	return out.String() + query[pos:]
}
