// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"fmt"
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Printable returns a text for display: clipped, without characters that a reader does not see, and
// without a reference to the memory of the text. Invisible characters can hide a sentence of any
// length from people, but not from models and tools that read the text.
func Printable(text string, longest int) string { return visible(Clip(text, longest), longest) }

// Visible is Printable for texts of any length.
func Visible(text string) string { return visible(text, math.MaxInt) }

func visible(text string, longest int) string {
	if !strings.ContainsFunc(text, Invisible) && utf8.ValidString(text) {
		return strings.Clone(text)
	}
	var b strings.Builder
	var last rune
	text = strings.ToValidUTF8(text, "\uFFFD")
	for i, r := range text {
		if b.Len() >= longest { // escapes are longer than the characters
			b.WriteString("…")
			break
		}
		next, _ := utf8.DecodeRuneInString(text[i+utf8.RuneLen(r):])
		switch {
		case !Invisible(r), joins(last, r, next):
			b.WriteRune(r)
		case unicode.Is(unicode.Variation_Selector, r): // it selects a glyph of the character before it
		default:
			fmt.Fprintf(&b, "\\u{%x}", r)
		}
		last = r
	}
	return b.String()
}

// Invisible reports whether r is a control or format character, for instance one that changes the
// text direction, or another one that Unicode lets programs display as nothing
// (Default_Ignorable_Code_Point). Line feeds and tabs are visible.
func Invisible(r rune) bool {
	if ' ' <= r && r <= '~' || r == '\n' || r == '\t' { // most text; lookups in Unicode tables take a hundred times as long
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// joins reports whether r is a joiner or a non-joiner between two letters of a script that needs
// it: Arabic and the scripts of India and South East Asia.
func joins(last, r, next rune) bool {
	const zeroWidthNonJoiner, zeroWidthJoiner = '\u200c', '\u200d'
	return (r == zeroWidthNonJoiner || r == zeroWidthJoiner) && isJoined(last) && isJoined(next)
}

func isJoined(r rune) bool {
	const first, last = '\u0600', '\u1cff'
	return first <= r && r <= last && unicode.In(r, unicode.L, unicode.M) && !Invisible(r)
}
