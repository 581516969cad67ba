// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"regexp"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// literalPattern matches quoted texts and numbers in a query. Placeholders such as $1 and names
// such as t1 do not match.
var literalPattern = regexp.MustCompile(`'(?:[^'\\]|\\.|'')*'|\B-\d+(?:\.\d+)?\b|(?:^|[\s(,=<>])(\d+(?:\.\d+)?)\b`)

// isQuery reports whether an attribute is a database query.
func isQuery(key string) bool {
	return key == semconv.DBQueryText || key == semconv.DBStatement
}

// withoutLiterals replaces the literals of a query.
func (w *walker) withoutLiterals(query string) string {
	clean := literalPattern.ReplaceAllStringFunc(query, func(match string) string {
		if digits := strings.IndexAny(match, "0123456789"); digits == 1 && match[0] != '-' && match[0] != '\'' {
			return match[:1] + "?"
		}
		return "?"
	})
	if clean != query {
		w.count(ruleSQL)
	}
	return clean
}
