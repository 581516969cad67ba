// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// defaultIgnorable are the ranges of Default_Ignorable_Code_Point in Unicode's
// DerivedCoreProperties.txt.
var defaultIgnorable = [][2]rune{
	{0xad, 0xad}, {0x34f, 0x34f}, {0x61c, 0x61c}, {0x115f, 0x1160}, {0x17b4, 0x17b5}, {0x180b, 0x180f}, {0x200b, 0x200f}, {0x202a, 0x202e},
	{0x2060, 0x206f}, {0x3164, 0x3164}, {0xfe00, 0xfe0f}, {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfff8}, {0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
}

// TestPrintableHidesNothing: no character that programs display as nothing leaves, wherever it
// stands, and a text of any number of them is visible or gone.
func TestPrintableHidesNothing(t *testing.T) {
	all := [][2]rune{{0, 8}, {0xb, 0x1f}, {0x7f, 0x9f}, {0x2028, 0x2029}}
	n := 0
	for _, r := range append(all, defaultIgnorable...) {
		for c := r[0]; c <= r[1]; c++ {
			n++
			for _, text := range []string{string(c), "a" + string(c) + "b", "\u2764" + string(c), strings.Repeat(string(c), 50), "\u0915" + string(c) + string(c) + "\u0915"} {
				if got := Printable(text, MaxText); strings.ContainsRune(got, c) {
					t.Errorf("%U is in %q, the display of %q", c, got, text)
				}
			}
		}
	}
	t.Logf("%d code points", n)
	assert.Equal(t, "ok\\u{e0069}\\u{200b}", Printable("ok\U000e0069\u200b", MaxText))
	assert.Equal(t, "heart \u2764 is", Printable("heart \u2764\ufe0f\ufe0e\U000e0100 is", MaxText))
	assert.Equal(t, "\u0645\u06cc\u200c\u062e", Printable("\u0645\u06cc\u200c\u062e", MaxText), "Persian needs the non-joiner")
	assert.Equal(t, "a\\u{200d}b", Printable("a\u200db", MaxText))
	assert.Equal(t, "line\n\ttab é 号 👍", Printable("line\n\ttab é 号 👍", MaxText))
}
