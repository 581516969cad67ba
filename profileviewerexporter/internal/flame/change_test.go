// SPDX-License-Identifier: Apache-2.0

package flame_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
)

func TestChanged(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	handle, query := frameOf(t, g, "handle"), frameOf(t, g, "libquery")
	for name, want := range map[string]struct {
		change flame.Change
		text   []string
	}{
		"focus": {flame.Change{Focus: []int32{query}}, []string{"all 30ms/0s", " main 30ms/0s", "  handle 30ms/0s", "   libquery 30ms/30ms"}},
		"fold":  {flame.Change{Focus: []int32{query}, Fold: []int32{handle}}, []string{"all 30ms/0s", " main 30ms/0s", "  handle 30ms/30ms"}},
		"hide":  {flame.Change{Focus: []int32{query}, Hide: []int32{handle}}, []string{"all 30ms/0s", " main 30ms/0s", "  libquery 30ms/30ms"}},
	} {
		changed, err := g.Changed(want.change)
		require.NoError(t, err)
		assert.Equal(t, want.text, text(changed, changed.Draw(whole)), name)
	}
}

// TestChangesKeepWeights: a focused graph weighs as much as the functions that it selects, and
// hiding or folding a function keeps the weight of all stacks with another function.
func TestChangesKeepWeights(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		var samples []timelinetest.Sample
		for i := range 1 + random.IntN(200) {
			names := []string{"root"}
			for range random.IntN(8) {
				names = append(names, string(rune('a'+random.IntN(5))))
			}
			samples = append(samples, timelinetest.Sample{Thread: 1, Stack: strings.Join(names, ";"), At: []time.Duration{time.Duration(i) * 7 * ms}})
		}
		g, err := flame.New(all(read(samples...)))
		require.NoError(t, err)
		for _, f := range g.Top() {
			focused, err := g.Changed(flame.Change{Focus: []int32{f.Frame}})
			require.NoError(t, err)
			require.Equal(t, f.Total, focused.Tree[0].Total)
			if g.Frames[f.Frame].Name == "root" {
				continue
			}
			for _, change := range []flame.Change{{Hide: []int32{f.Frame}}, {Fold: []int32{f.Frame}}} {
				changed, err := g.Changed(change)
				require.NoError(t, err)
				require.Equal(t, g.Tree[0].Total, changed.Tree[0].Total)
				for _, now := range changed.Top() {
					if now.Frame == f.Frame && change.Fold != nil {
						require.Equal(t, f.Total, now.Self, "the function has the weight of its calls")
					}
					require.False(t, now.Frame == f.Frame && change.Hide != nil && now.Total > 0, "hidden")
				}
			}
		}
	}
}
