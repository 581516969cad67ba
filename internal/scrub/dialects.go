// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// statement is a text that may be a statement of SQL. The quotes around a name depend on the
// database: "x" in the standard, `x` in MySQL, [x] in SQL Server.
type statement struct {
	system  string // db.system.name, "" if unknown
	certain bool   // the text is a statement, not a sentence that begins with one of its verbs
}

// namesInDoubleQuotes has the databases in which a text in double quotes is always a name. In MySQL
// it is a literal, and in SQLite a literal unless a column has the name. Sentry's servers remove a
// query with a sensitive word as a whole, so texts of unknown databases are literals.
var namesInDoubleQuotes = map[string]bool{
	"postgresql": true, "aws.redshift": true, "redshift": true, "cockroachdb": true, "oracle": true, "oracle.db": true, "mssql": true,
	"microsoft.sql_server": true, "db2": true, "ibm.db2": true, "cassandra": true, "clickhouse": true, "derby": true, "firebird": true,
	"firebirdsql": true, "h2": true, "h2database": true, "hanadb": true, "sap.hana": true, "hsqldb": true, "teradata": true, "trino": true, "vertica": true,
}

// namesInBrackets has the databases in which a text in square brackets is a name.
var namesInBrackets = map[string]bool{"mssql": true, "microsoft.sql_server": true, "sqlite": true}

// statementIn returns the statement under a key, with its database, which the attributes of the
// span or log record name.
func statementIn(element pcommon.Map, key string) (s statement) {
	s.certain = isQuery(key)
	if element == (pcommon.Map{}) {
		return s
	}
	for _, name := range [...]string{semconv.DBSystemName, semconv.DBSystem} {
		if system, known := element.Get(name); known {
			s.system = strings.ToLower(system.AsString())
			break
		}
	}
	op, known := element.Get(semconv.SentryOp)
	s.certain = s.certain || s.system != "" || known && strings.HasPrefix(op.AsString(), "db")
	return s
}

// isReference reports whether something else than a literal starts at i: the name of a table or a
// column, or a placeholder. A qualified name has a dot.
func (s *statement) isReference(text string, i int) bool {
	if s.isPlaceholder(text[i:]) {
		return true
	}
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
	case quoted == '"':
		return namesInDoubleQuotes[s.system]
	case quoted == '[':
		return namesInBrackets[s.system]
	}
	return quoted == '`' && s.certain // in no database a literal
}

// isPlaceholder reports whether a text starts with a placeholder for a value: ?, $1, %s, %(name)s,
// :name or @name. The last two may also begin a value in a sentence.
func (s *statement) isPlaceholder(text string) bool {
	end := 0
	switch {
	case strings.HasPrefix(text, "?"):
		end = 1
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
	return end > 0 && (end == len(text) || strings.IndexByte(" \t\r\n,;)", text[end]) >= 0)
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
