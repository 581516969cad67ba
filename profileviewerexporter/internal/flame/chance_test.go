// SPDX-License-Identifier: Apache-2.0

package flame_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/flame"
)

// program is a program that spends shares of its time in functions: the few heaviest take most of
// it, and hundreds a little, as in recorded programs.
type program []float64 // cumulative shares

func newProgram(functions int, change func(function int, share float64) float64) (p program) {
	sum := 0.0
	for i := range functions {
		sum += change(i, 1/math.Pow(float64(i+1), 1.3))
		p = append(p, sum)
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

func unchanged(_ int, share float64) float64 { return share }

// record returns the graph of a number of samples. Functions are in two levels.
func (p program) record(samples int, r *rand.Rand) *flame.Graph {
	const perGroup = 20
	g := &flame.Graph{Samples: int64(samples), Tree: flame.Tree{{Parent: -1, Frame: -1, Samples: int64(samples), Total: int64(samples)}}}
	add := func(parent int32, name string) int32 {
		g.Frames = append(g.Frames, timeline.Frame{Name: name})
		g.Tree = append(g.Tree, flame.Node{Parent: parent, Frame: int32(len(g.Frames) - 1)})
		return int32(len(g.Tree) - 1)
	}
	var nodes []int32
	group := int32(0)
	for i := range p {
		if i%perGroup == 0 {
			group = add(0, fmt.Sprint("group ", i/perGroup))
		}
		nodes = append(nodes, add(group, fmt.Sprint("function ", i)))
	}
	for range samples {
		n := &g.Tree[nodes[min(sort.SearchFloat64s(p, r.Float64()), len(p)-1)]]
		n.Self++
		for _, n := range []*flame.Node{n, &g.Tree[n.Parent]} {
			n.Total++
			n.Samples++
		}
	}
	return g
}

// changed returns the number of boxes and of functions that a comparison shows as changed.
func changed(c *flame.Comparison) (boxes, functions int) {
	for _, delta := range c.Delta {
		if delta != 0 {
			boxes++
		}
	}
	for _, f := range c.Changes {
		if !f.SelfChance {
			functions++
		}
	}
	return boxes, functions
}

// TestNoiseIsNoChange: of comparisons of a program with itself, at most one in twenty shows a
// change, whatever the numbers of samples are.
func TestNoiseIsNoChange(t *testing.T) {
	runs := 40
	if testsize.Full() {
		runs = 400
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, samples := range [][2]int{{50, 50}, {300, 300}, {3000, 3000}, {100, 10_000}, {10_000, 100}} {
		shown := 0
		for range runs {
			p := newProgram(400, unchanged)
			if boxes, functions := changed(flame.Compare(p.record(samples[0], random), p.record(samples[1], random))); boxes+functions > 0 {
				shown++
			}
		}
		assert.LessOrEqual(t, shown, runs/20, "%v samples", samples)
		t.Logf("%v samples: %d of %d comparisons show a change", samples, shown, runs)
	}
}

// TestChange: a function that takes half as much again is shown, in all recordings of a minute.
func TestChange(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const slow = 3
	before := newProgram(400, unchanged)
	after := newProgram(400, func(function int, share float64) float64 {
		if function == slow {
			return 1.5 * share
		}
		return share
	})
	for range 20 {
		c := flame.Compare(before.record(6000, random), after.record(6000, random))
		first := c.Changes[0]
		assert.Equal(t, "function 3", c.Frames[first.Frame].Name)
		assert.False(t, first.SelfChance)
		assert.Greater(t, first.After.SelfSamples, first.Before.SelfSamples)
		assert.Equal(t, first.After.SelfSamples, first.After.Samples)
	}
}

// TestChanceOfStatedCounts: the counts that clients state may be larger than any recording.
// Comparing them ends, and shows a difference of more than chance.
func TestChanceOfStatedCounts(t *testing.T) {
	graph := func(all, some int64) *flame.Graph {
		return &flame.Graph{Frames: []timeline.Frame{{Name: "f"}}, Tree: flame.Tree{
			{Parent: -1, Frame: -1, Samples: all, Total: all}, {Parent: 0, Frame: 0, Samples: some, Total: some, Self: some},
		}}
	}
	for _, before := range []int64{1, 3, 63, 127, 255, 257, 1000, math.MaxInt64} {
		for exponent := 38; exponent < 63; exponent++ {
			for _, part := range []int64{1, 2, 4} {
				all := int64(1) << exponent
				for some := int64(0); some <= before && some <= 1000; some += 1 + min(before, 1000)/50 {
					flame.Compare(graph(before, some), graph(all, all/part))
				}
			}
		}
	}
	assert.NotZero(t, flame.Compare(graph(1<<60, 0), graph(1<<60, 1<<59)).Delta[1])
	assert.Zero(t, flame.Compare(graph(1<<60, 1<<59), graph(1<<61, 1<<60)).Delta[1])
	flame.Compare(graph(-1<<62, 1<<62), graph(1<<62, -1<<62)) // sums that overflowed
}
