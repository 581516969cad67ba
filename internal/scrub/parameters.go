// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"net/url"
	"strings"
)

// parameters replaces the values of query parameters that are sensitive after decoding
// (p%61ssword=x): Sentry's servers decode queries before they scrub them. The search for
// assignments finds the rest. It reports whether it replaced any.
func (r *redacted) parameters() bool {
	var found [][2]int
	for from := strings.IndexByte(r.text, '?') + 1; from < len(r.text); {
		end := len(r.text)
		if n := strings.IndexAny(r.text[from:], "&#"); n >= 0 {
			end = from + n
		}
		if name, value, is := strings.Cut(r.text[from:end], "="); is && sensitiveParameter(name, value) {
			found = append(found, [2]int{end - len(value), end})
		}
		from = end + 1
	}
	return r.replaceSpans(found)
}

// sensitiveParameter reports whether a query parameter is sensitive after decoding.
func sensitiveParameter(name, value string) bool {
	if value == Filtered || strings.Trim(value, nul) == "" {
		return false
	}
	if strings.ContainsAny(name, "%+ \t\r\n") && sensitiveKey(decoded(name)) {
		return true
	}
	value = decoded(value)
	return len(spans(value, anySyntax, nil)) > 0 || strings.ContainsAny(value, " \t\r\n\"'<>") && sensitiveText(value, scan(value))
}

// decoded returns a text without percent-encoding, unchanged if the encoding is invalid.
func decoded(text string) string {
	if clean, err := url.QueryUnescape(text); err == nil {
		return clean
	}
	return text
}

// isURL reports whether a text may be a URL, a path or an encoded query: it has no blanks, quotes,
// brackets or control characters.
func isURL(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || strings.ContainsRune("\"'`<>{}\\|", r)
	})
}
