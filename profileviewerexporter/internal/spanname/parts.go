// SPDX-License-Identifier: Apache-2.0

package spanname

import "strings"

const (
	// maxRead is the number of bytes of a statement, URL or path that are read.
	maxRead = 2000
	// maxWords is the maximum number of words of a name that says nothing. Each is compared with
	// all words of attributes, of which there may be any number.
	maxWords = 20
	// maxSegments is the maximum number of segments of a path in a name.
	maxSegments = 16
	// longSegment is the length from which a segment with digits is an identifier: a token, a hash.
	longSegment = 20
)

// splitURL returns the host and the path of a URL, or of a path with a query.
func splitURL(url string) (host, path string) {
	url = url[:min(len(url), maxRead)]
	if i := strings.IndexAny(url, "?#"); i >= 0 {
		url = url[:i]
	}
	if _, rest, absolute := strings.Cut(url, schemeEnd); absolute {
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			host, path = rest[:i], rest[i:]
		} else {
			host, path = rest, "/"
		}
		return host[strings.LastIndexByte(host, '@')+1:], path
	}
	return "", url
}

// withoutIDs replaces the segments of a path that are identifiers.
func withoutIDs(path string) string {
	segments := strings.SplitN(path, "/", maxSegments+1)
	for i, segment := range segments {
		if isID(segment) {
			segments[i] = "{id}"
		}
	}
	if len(segments) > maxSegments {
		segments[maxSegments] = "…"
	}
	return strings.Join(segments, "/")
}

// isID reports whether a segment is a number, a UUID, a hexadecimal ID, an address of e-mail or a
// long token. Versions such as v2 and names with a number are none.
func isID(segment string) bool {
	digits, hex := 0, 0
	for i := range len(segment) {
		switch c := segment[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' || c == '-':
			hex++
		case c == '@':
			return true
		}
	}
	switch {
	case digits == 0:
		return false
	case digits == len(segment):
		return true
	case digits+hex == len(segment):
		return len(segment) >= 8
	}
	return len(segment) >= longSegment && !strings.ContainsAny(segment, ".{")
}

// tableWords precede the name of a table in SQL.
var tableWords = map[string]bool{"FROM": true, "INTO": true, "UPDATE": true, "TABLE": true, "JOIN": true, "CALL": true}

// summary returns the verb and the table of a statement, as in
// https://opentelemetry.io/docs/specs/semconv/db/database-spans/#generating-a-summary-of-the-query
// but for the first table only.
func summary(statement string) string {
	words := strings.Fields(statement[:min(len(statement), maxRead)])
	if len(words) == 0 {
		return ""
	}
	verb := strings.ToUpper(strings.Trim(words[0], "(;"))
	if table := tableOf(statement); table != "" {
		return verb + " " + table
	}
	return verb
}

// tableOf returns the first table of a statement, or "".
func tableOf(statement string) string {
	words := strings.Fields(statement[:min(len(statement), maxRead)])
	for i, word := range words[:max(0, len(words)-1)] {
		if tableWords[strings.ToUpper(word)] {
			table, _, _ := strings.Cut(words[i+1], "(")
			if table = strings.Trim(table, "\"`'[];,)"); table != "" && !strings.EqualFold(table, "SELECT") {
				return table
			}
		}
	}
	return ""
}
