// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// Comparison is the tree of two graphs. Totals are sums of both. The first graph is scaled to the
// weight of the second, because recordings rarely have the same length.
type Comparison struct {
	*Graph
	Before, After               int64 // total weights
	BeforeSamples, AfterSamples int64
	Delta                       []int64 // by node: second minus first, in weights of the second; 0 if chance explains it
	Changes                     []FrameChange
}

// FrameChange is a function of a comparison, with its weights in both graphs.
type FrameChange struct {
	Frame         int32
	Before, After FrameTotal // weights of the second; their own frames are unset
	// SelfChance and TotalChance report whether chance explains the difference.
	SelfChance, TotalChance bool
}

func (c *FrameChange) self() int64 { return c.After.Self - c.Before.Self }

// Compare returns the comparison of two graphs, which must have the same measure.
func Compare(before, after *Graph) *Comparison {
	c := &comparer{
		out: &Comparison{
			Graph:  &Graph{Measure: after.Measure, Tree: Tree{{Parent: -1, Frame: -1}}},
			Before: before.Tree[0].Total, BeforeSamples: before.Tree[0].Samples,
			After: after.Tree[0].Total, AfterSamples: after.Tree[0].Samples,
			Delta: []int64{0},
		},
		frames:   map[timeline.Frame]int32{},
		children: map[call]int32{},
		before:   []int64{0},
	}
	scale := 1.0
	if c.out.Before > 0 && c.out.After > 0 {
		scale = float64(c.out.After) / float64(c.out.Before)
	}
	c.add(before, scale, -1)
	c.add(after, 1, 1)
	c.out.Samples = before.Samples + after.Samples
	chance := chanceOf(c.out.BeforeSamples, c.out.AfterSamples, len(c.out.Tree))
	for id := range c.out.Delta {
		if chance.explains(c.before[id], c.out.Tree[id].Samples-c.before[id]) {
			c.out.Delta[id] = 0
		}
	}
	c.out.Changes = c.changes(before, after, scale, chance)
	return c.out
}

// changes returns all functions, those whose self weight has changed the most first; those whose
// difference chance explains are last.
func (c *comparer) changes(before, after *Graph, scale float64, chance chance) []FrameChange {
	list := make([]FrameChange, len(c.out.Frames))
	for i := range list {
		list[i].Frame = int32(i)
	}
	for _, f := range before.Top() {
		list[c.frames[before.Frames[f.Frame]]].Before = FrameTotal{
			Self: scaled(f.Self, scale), Total: scaled(f.Total, scale), SelfSamples: f.SelfSamples, Samples: f.Samples,
		}
	}
	for _, f := range after.Top() {
		list[c.frames[after.Frames[f.Frame]]].After = FrameTotal{
			Self: f.Self, Total: f.Total, SelfSamples: f.SelfSamples, Samples: f.Samples,
		}
	}
	for i := range list {
		f := &list[i]
		f.SelfChance = chance.explains(f.Before.SelfSamples, f.After.SelfSamples)
		f.TotalChance = chance.explains(f.Before.Samples, f.After.Samples)
	}
	magnitude := func(n int64) int64 { return max(n, -n) }
	slices.SortFunc(list, func(a, b FrameChange) int {
		return cmp.Or(compareBools(a.SelfChance, b.SelfChance), cmp.Compare(magnitude(b.self()), magnitude(a.self())),
			cmp.Compare(magnitude(b.After.Total-b.Before.Total), magnitude(a.After.Total-a.Before.Total)), cmp.Compare(a.Frame, b.Frame))
	})
	return list
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func scaled(weight int64, scale float64) int64 { return int64(float64(weight) * scale) }

// Size returns the approximate size of the comparison in memory.
func (c *Comparison) Size() int {
	const change = 96
	return c.Graph.Size() + 8*len(c.Delta) + change*len(c.Changes)
}

// Draw returns the boxes of the comparison, as [Graph.Draw] does.
func (c *Comparison) Draw(w Window) Drawing { return c.draw(w, c.Delta) }

type comparer struct {
	out      *Comparison
	frames   map[timeline.Frame]int32
	children map[call]int32
	before   []int64 // by node: samples of the first graph
}

func (c *comparer) add(g *Graph, scale float64, sign int64) {
	nodes := make([]int32, len(g.Tree)) // positions in c of the nodes of g
	for id, n := range g.Tree {
		if id > 0 {
			nodes[id] = c.child(nodes[n.Parent], g.Frames[n.Frame])
		}
		sum := &c.out.Tree[nodes[id]]
		self, total := scaled(n.Self, scale), scaled(n.Total, scale)
		sum.Self += self
		sum.Total += total
		sum.Samples += n.Samples
		if c.out.Delta[nodes[id]] += sign * total; sign < 0 {
			c.before[nodes[id]] += n.Samples
		}
	}
}

func (c *comparer) child(parent int32, frame timeline.Frame) int32 {
	number, known := c.frames[frame]
	if !known {
		number = int32(len(c.out.Frames))
		c.frames[frame] = number
		c.out.Frames = append(c.out.Frames, frame)
	}
	child, known := c.children[call{parent, number}]
	if !known {
		child = int32(len(c.out.Tree))
		c.children[call{parent, number}] = child
		c.out.Tree = append(c.out.Tree, Node{Parent: parent, Frame: number})
		c.out.Delta, c.before = append(c.out.Delta, 0), append(c.before, 0)
	}
	return child
}
