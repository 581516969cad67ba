// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

const (
	// longestText of a name or value that goes to the page. The longest function names of our recordings (Swift, closures in
	// closures) have 300 bytes, statements of databases some thousand.
	longestText = timeline.MaxText
	clipSlack   = timeline.ClipSlack
)

// shorten makes text fit to be listed and shown, without a reference to where it came from. Characters that change how what is
// around them is shown, and those that cannot be seen, are written out.
func shorten(text string) string { return clip(text, longestText) }

// clip is shorten to another length.
func clip(text string, longest int) string {
	text = timeline.Clip(text, longest)
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return strings.Clone(text)
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if b.Len() >= longest { // characters that are written out take more bytes
			b.WriteString("…")
			break
		}
		if hidden(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func moreText(n int) string { return strconv.Itoa(n) + " more" }

// texts are those of one message, each shortened once: a long one of its dictionary may be named by every profile.
type texts map[string]string

func (t texts) of(text string) string {
	short, known := t[text]
	if !known {
		short = shorten(text)
		t[text] = short
	}
	return short
}

// hidden tells control and format characters, among them the marks that turn the direction of writing. The joiners stay: many
// scripts need them.
func hidden(r rune) bool {
	if ' ' <= r && r <= '~' { // nearly all of all text, and the tables of Unicode take a hundred times as long
		return false
	}
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
