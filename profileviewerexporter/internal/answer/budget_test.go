// SPDX-License-Identifier: Apache-2.0

package answer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// TestBudget: a text takes at most half of what is left of its budget, and some of it in any case.
func TestBudget(t *testing.T) {
	var out Omissions
	b := PerEntry(1000, 1, &out)
	long := strings.Repeat("x", 10_000)
	assert.Equal(t, "short", b.Text("short"))
	for _, longest := range []int{500, 250, 140, briefText, briefText} {
		text := b.Text(long)
		assert.LessOrEqual(t, len(text), longest+timeline.ClipSlack)
		assert.GreaterOrEqual(t, len(text), briefText)
		assert.Contains(t, text, " bytes]…")
	}
	assert.Equal(t, 5, out.Omitted)
	assert.Equal(t, "short", b.Text("short"))
	assert.Equal(t, 5, out.Omitted)
}

// TestAttributeLists: all attributes are listed up to MaxAttributes of them, and then how many more
// there are.
func TestAttributeLists(t *testing.T) {
	for all, want := range map[int]int{0: 0, 3: 3, MaxAttributes: MaxAttributes, MaxAttributes + 2: MaxAttributes + 1} {
		var out Omissions
		b := PerEntry(1<<20, 1, &out)
		list, m := make([]dictionary.Attribute, all), pcommon.NewMap()
		for i := range list {
			list[i] = dictionary.Attribute{Key: fmt.Sprint("k", i), Unit: "By", Value: pcommon.NewValueInt(int64(i))}
			m.PutInt(list[i].Key, int64(i))
		}
		listed, entries := b.List(list), b.Map(m)
		require.Len(t, listed, want)
		require.Len(t, entries, want)
		for i := range min(all, MaxAttributes) {
			require.Equal(t, Attribute{Key: list[i].Key, Value: fmt.Sprint(i), Unit: "By"}, listed[i])
			require.Equal(t, Attribute{Key: list[i].Key, Value: fmt.Sprint(i)}, entries[i])
		}
		if all > MaxAttributes {
			more := Attribute{Key: "…", Value: More(2)}
			assert.Equal(t, []Attribute{more, more}, []Attribute{listed[MaxAttributes], entries[MaxAttributes]})
		}
		assert.Zero(t, out.Omitted, "the list says it")
	}
}

// TestEncodedLen: the length of a text in JSON is known before it is encoded.
func TestEncodedLen(t *testing.T) {
	for _, text := range []string{"", "plain", `"quoted" \ back`, "line\nand\ttab", "<script>&", "\x00\x7f\u2028\u202e", "half \xff rune", "𝓊nicode", strings.Repeat("\x01", 3000)} {
		short := Display(text)
		assert.LessOrEqual(t, len(short), LongestText+timeline.ClipSlack)
		encoded, err := JSON(short)
		require.NoError(t, err)
		assert.Equal(t, len(encoded), encodedLen(short)+len("\"\"\n"), "%q", text)
		assert.Equal(t, short, Display(short), "not clipped twice")
	}
}
