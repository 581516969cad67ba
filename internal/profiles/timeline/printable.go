// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text for display: clipped, with control and format characters as escapes, and
// without a reference to the memory of the text.
func Printable(text string, longest int) string {
	text = Clip(text, longest)
	if !strings.ContainsFunc(text, unprintable) && utf8.ValidString(text) {
		return strings.Clone(text)
	}
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "\uFFFD") {
		if b.Len() >= longest { // escapes are longer than the characters
			b.WriteString("…")
			break
		}
		if unprintable(r) {
			fmt.Fprintf(&b, "\\u{%x}", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unprintable reports whether r is a control or format character, for instance one that changes the
// text direction. Joiners are printable, because many scripts need them.
func unprintable(r rune) bool {
	if ' ' <= r && r <= '~' { // most text; lookups in Unicode tables take a hundred times as long
		return false
	}
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	switch r {
	case '\n', '\t', zeroWidthNonJoiner, zeroWidthJoiner:
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}
