// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/counted"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestGrowth: twice the input takes twice the work, for every form at every place. Work is the
// number of executed blocks of this package, of the regular expressions and of the functions for
// texts, which the program testdata/counted counts.
func TestGrowth(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	const (
		most       = 2.3
		mostNested = 4.5 // with selectors, each level has a longer path
	)
	units := append([]string{"k", "a.", "' 1 \\", "\\' 1 ", "/*", "--", "$$", `"`, "%41=", "&a=%", "{", "[[", `{"a":`, "é", "_id", "sentry.", "''"}, repeated...)
	input, err := json.Marshal(units)
	require.NoError(t, err)
	run := counted.Command(t, "./internal/scrub", "regexp", "strings", "net/url")
	run.Stdin = bytes.NewReader(input)
	output, err := run.Output()
	require.NoError(t, err)
	type growth struct {
		Place, Settings, Text string
		Nested                bool
		Factor                float64
	}
	var all []growth
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var g growth
		require.NoError(t, decoder.Decode(&g))
		limit := most
		if g.Nested && g.Settings != "default" {
			limit = mostNested
		}
		assert.LessOrEqual(t, g.Factor, limit, "%+v", g)
		all = append(all, g)
	}
	require.Greater(t, len(all), 2*10*len(units))
	worst := slices.MaxFunc(all, func(a, b growth) int { return int(1000*a.Factor) - int(1000*b.Factor) })
	t.Logf("%d specimens; the work grows most for %+v", len(all), worst)
}

// TestNestedPairs: each element is visited once at any depth, also with selectors. Two visits per
// level would never end.
func TestNestedPairs(t *testing.T) {
	c := DefaultConfig()
	c.SafeFields = []string{"**.safe"}
	for range 2 {
		s, err := New(c)
		require.NoError(t, err)
		value := any("password=x")
		for range 90 {
			value = []any{"a", value}
		}
		got, _ := after(t, s, map[string]any{"k": value})
		assert.NotContains(t, fmt.Sprint(got), "password=x")
		c.SafeFields = nil
	}
}

// TestLongKeys: the search for the place of a key reads at most a prefix of the longest line, so
// that its cost does not depend on the square of the length of the key.
func TestLongKeys(t *testing.T) {
	assert.Less(t, longestPrefix, 64)
	key := strings.Repeat("k", 16<<20)
	attributes := pcommon.NewMap()
	attributes.PutStr(key, "v")
	newDefault(t).Attributes(attributes)
	_, kept := attributes.Get(key)
	assert.True(t, kept)
}
