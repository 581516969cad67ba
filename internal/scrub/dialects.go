// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// statement is a text that may be or contain an SQL statement. The quotes around a name depend on
// the database: "x" in the standard, `x` in MySQL, [x] in SQL Server.
type statement struct {
	system  string // db.system.name, "" if unknown
	start   int    // of the statement in the text
	certain bool   // it is a statement, not a sentence that begins with one of its verbs
	columns bool   // words without quotes are columns, not values in a sentence
}

// namesInDoubleQuotes has the databases in which a text in double quotes is always a name. In MySQL
// it is a literal, and in SQLite a literal unless a column has the name. Sentry's servers remove a
// query with a sensitive word as a whole, so texts of unknown databases are literals.
var namesInDoubleQuotes = map[string]bool{
	"aws.redshift": true, "cassandra": true, "clickhouse": true, "cockroachdb": true, "db2": true, "derby": true, "duckdb": true,
	"firebird": true, "firebirdsql": true, "h2": true, "h2database": true, "hanadb": true, "hsqldb": true, "ibm.db2": true,
	"ibm.netezza": true, "microsoft.sql_server": true, "mssql": true, "netezza": true, "oracle": true, "oracle.db": true, "pgsql": true,
	"postgres": true, "postgresql": true, "redshift": true, "sap.hana": true, "snowflake": true, "sqlsrv": true, "teradata": true,
	"trino": true, "vertica": true,
}

// namesInBrackets has the databases in which a text in square brackets is a name.
var namesInBrackets = map[string]bool{"mssql": true, "microsoft.sql_server": true, "sqlite": true, "sqlsrv": true}

// statementIn returns the statement in a text under a key, with its database, which the attributes
// of the span or log record name; nil if there is none.
func statementIn(element pcommon.Map, key, text string) *statement {
	s := &statement{}
	database := isQuery(key)
	if element != (pcommon.Map{}) {
		for _, name := range [...]string{semconv.DBSystemName, semconv.DBSystem} {
			if system, known := element.Get(name); known {
				s.system = strings.ToLower(system.AsString())
				break
			}
		}
		op, known := element.Get(semconv.SentryOp)
		database = database || s.system != "" || known && strings.HasPrefix(op.AsString(), "db")
	}
	sql := isSQL(text)
	if sql && (database || definitionPattern.MatchString(text)) {
		s.certain, s.columns = true, true
		return s
	}
	if at := statementPattern.FindStringIndex(text); at != nil {
		s.start, s.certain = at[0], true
		s.columns = sql || text[at[0]] < 'a'
		return s
	}
	if sql {
		return s
	}
	return nil
}

// valuesAt returns the literals of the value that starts at from, after a name from word to name,
// and the end of the text that was read; 0 if no structure distinguishes literals from names.
func (s *statement) valuesAt(text string, word, name, from int) (literals [][2]int, end int) {
	start := nameStart(text, word)
	switch {
	case start > 0 && text[start-1] == '{' && s.isPlaceholder(text[start-1:]), // of ClickHouse, {token:String}
		strings.IndexByte(text[word:name], '.') >= 0: // of the table: the column after it is not sensitive
		return nil, name
	case !strings.HasSuffix(strings.TrimRight(text[name:from], " \t"), "="): // as in JSON
		return nil, 0
	case s.isPlaceholder(text[from:]) || s.isReference(text, name, from):
		return nil, name
	case !s.certain:
		return nil, 0
	}
	end = from + wordLength(text[from:])
	isWord := end > from && !isDigit(text[from])
	switch {
	case end < len(text) && text[end] == '\'' && end-from <= len("_utf8"): // also with a prefix, N'x'
		return within(text, end, quoteEnd(text, end)), quoteEnd(text, end)
	case end < len(text) && text[end] == '(':
		if subquery(text[end+1:]) {
			return nil, name
		}
		closing := closingParenthesis(text, end)
		for _, span := range s.literalSpans(text[end:closing]) {
			literals = append(literals, [2]int{end + span[0], end + span[1]})
		}
		return literals, closing
	case s.columns && isWord && text[from-1] == ' ' && isOneOf(text, end, " \t\r\n,;)"):
		return nil, end // a column: texts that are appended to statements have no blank before the value
	}
	return nil, 0
}

// within returns the content of a literal in quotes, unless it is no value.
func within(text string, from, to int) [][2]int {
	if from, to = from+1, max(from+1, to-1); isValue(text, from, to) {
		return [][2]int{{from, to}}
	}
	return nil
}

// subquery reports whether a text begins with a query, which has column names of its own.
func subquery(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n(")
	return len(text) > 6 && strings.EqualFold(text[:6], "select")
}

// closingParenthesis returns the end of an expression in parentheses.
func closingParenthesis(text string, i int) int {
	depth := 0
	for ; i < len(text); i++ {
		switch text[i] {
		case '\'':
			i = quoteEnd(text, i) - 1
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// isReference reports whether the name of a table or a column starts at i, after a name that ends
// at left. A qualified name has a dot.
func (s *statement) isReference(text string, left, i int) bool {
	parts, quoted := 0, byte(0)
	for {
		end, quote := namePart(text, i)
		if end == i {
			return false
		}
		parts, quoted = parts+1, max(quoted, quote)
		if end == len(text) || text[end] != '.' {
			break
		}
		i = end + 1
	}
	switch {
	case parts > 1:
		return s.certain || quoted > 0
	case quoted == '"': // the quotes around the other name tell in other databases
		return namesInDoubleQuotes[s.system] || s.certain && text[left] == '"'
	case quoted == '[':
		return namesInBrackets[s.system] || s.certain && text[left] == ']'
	}
	return quoted == '`' && s.certain // in no database a literal
}

// isPlaceholder reports whether a text starts with a placeholder for a value: ?, ?1, $1, %s,
// %(name)s, {name:Type}, :name or @name. The last two may also begin a value in a sentence.
func (s *statement) isPlaceholder(text string) bool {
	end := 0
	switch {
	case strings.HasPrefix(text, "?"):
		end = 1 + wordLength(text[1:])
	case strings.HasPrefix(text, "{"):
		end = 1 + wordLength(text[1:])
		if !strings.HasPrefix(text[end:], ":") {
			return false
		}
		if end += 1 + wordLength(text[end+1:]); !strings.HasPrefix(text[end:], "}") {
			return false
		}
		end++
	case strings.HasPrefix(text, "%s"):
		end = 2
	case strings.HasPrefix(text, "%("):
		end = 2 + wordLength(text[2:])
		if !strings.HasPrefix(text[end:], ")s") {
			return false
		}
		end += 2
	case strings.HasPrefix(text, "$") && len(text) > 1 && isDigit(text[1]),
		s.certain && (strings.HasPrefix(text, ":") || strings.HasPrefix(text, "@")):
		end = 1 + wordLength(text[1:])
	}
	return end > 0 && (isOneOf(text, end, " \t\r\n,;)") || strings.HasPrefix(text[end:], "::"))
}

// wordLength returns the length of a word at the start of a text.
func wordLength(text string) (n int) {
	for n < len(text) && n < maxNamePart && isWord(text[n]) {
		n++
	}
	return n
}

// maxNamePart bounds the search for the end of a name: names in SQL Server and Oracle have up to
// 128 characters, others less.
const maxNamePart = 130

// namePart returns the end of a part of a name, and its opening quote, 0 if it has none.
func namePart(text string, i int) (end int, quote byte) {
	rest := text[i:min(len(text), i+maxNamePart)]
	if rest == "" {
		return i, 0
	}
	if at := strings.IndexByte("\"`[", rest[0]); at >= 0 {
		end := strings.IndexByte(rest[1:], "\"`]"[at])
		if end < 1 || strings.ContainsAny(rest[1:1+end], "=:;,{}[]()<>\\\r\n\t'") {
			return i, 0
		}
		return i + end + 2, rest[0]
	}
	if isDigit(rest[0]) {
		return i, 0
	}
	return i + wordLength(rest), 0
}
