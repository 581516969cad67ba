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
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame/flametest"
)

func frameOf(t *testing.T, g *flame.Graph, name string) int32 {
	for i, f := range g.Frames {
		if f.Name == name {
			return int32(i)
		}
	}
	require.Fail(t, "no frame", name)
	return 0
}

func TestInverted(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	inverted, err := g.Inverted()
	require.NoError(t, err)
	assert.Equal(t, []string{
		"all 50ms/0s",
		" libquery 30ms/0s",
		"  handle 30ms/0s",
		"   main 30ms/30ms",
		" handle 10ms/0s @30ms",
		"  main 10ms/10ms",
		" main 10ms/0s @40ms",
		"  render 10ms/0s",
		"   main 10ms/10ms",
	}, text(inverted, inverted.Draw(whole)))
}

func TestCallersAndCallees(t *testing.T) {
	g, err := flame.New(all(read(shop...)))
	require.NoError(t, err)
	handle := frameOf(t, g, "handle")
	callers, err := g.Callers(handle)
	require.NoError(t, err)
	assert.Equal(t, []string{"all 40ms/0s", " handle 40ms/0s", "  main 40ms/40ms"}, text(callers, callers.Draw(whole)))
	callees, err := g.Callees(handle)
	require.NoError(t, err)
	assert.Equal(t, []string{"all 40ms/0s", " handle 40ms/10ms", "  libquery 30ms/30ms"}, text(callees, callees.Draw(whole)))

	main := frameOf(t, g, "main")
	callers, err = g.Callers(main)
	require.NoError(t, err)
	assert.Equal(t, []string{"all 50ms/0s", " main 50ms/50ms"}, text(callers, callers.Draw(whole)), "the inner call of main has no callers of its own")
}

// TestViewsKeepWeights compares the views of random graphs with the table of functions. The self
// weight of a function is the weight of its stacks in the inverted graph, and its total is the
// total of both its callers and its callees.
func TestViewsKeepWeights(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		var samples []timelinetest.Sample
		for i := range 1 + random.IntN(200) {
			var names []string
			for range random.IntN(8) {
				names = append(names, string(rune('a'+random.IntN(5))))
			}
			samples = append(samples, timelinetest.Sample{Thread: 1, Stack: strings.Join(names, ";"), At: []time.Duration{time.Duration(i) * 7 * ms}})
		}
		g, err := flame.New(all(read(samples...)))
		require.NoError(t, err)
		inverted, err := g.Inverted()
		require.NoError(t, err)
		require.Equal(t, g.Tree[0].Total, inverted.Tree[0].Total)
		require.Equal(t, g.Tree[0].Total, flametest.Self(inverted.Draw(whole)))
		again, err := inverted.Inverted()
		require.NoError(t, err)
		require.Equal(t, text(g, g.Draw(whole)), text(again, again.Draw(whole)), "inverted twice")

		leaves := map[int32]int64{}
		for _, n := range inverted.Tree[1:] {
			if n.Parent == 0 {
				leaves[n.Frame] += n.Total
			}
		}
		totals := map[int32]int64{}
		for _, f := range inverted.Top() {
			totals[f.Frame] = f.Total
		}
		for _, f := range g.Top() {
			require.Equal(t, f.Self, leaves[f.Frame])
			require.Equal(t, f.Total, totals[f.Frame], "the order of a stack does not change totals")
			callers, err := g.Callers(f.Frame)
			require.NoError(t, err)
			callees, err := g.Callees(f.Frame)
			require.NoError(t, err)
			for _, part := range []*flame.Graph{callers, callees} {
				require.Equal(t, f.Total, part.Tree[0].Total)
				require.Equal(t, f.Total, flametest.Self(part.Draw(whole)))
				require.Equal(t, f.Frame, part.Tree[1].Frame, "the function is the only one below the root")
				require.Equal(t, f.Total, part.Tree[1].Total)
			}
		}
	}
}
