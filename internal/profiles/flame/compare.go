// SPDX-License-Identifier: Apache-2.0

package flame

import "github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"

// Comparison is the tree of two graphs. Totals are sums of both. The first graph is scaled to the
// weight of the second, because recordings rarely have the same length.
type Comparison struct {
	*Graph
	Before, After int64   // total weights
	Delta         []int64 // by node: second minus first, in weights of the second
}

// Compare returns the comparison of two graphs, which must have the same measure.
func Compare(before, after *Graph) *Comparison {
	c := &comparer{
		out: &Comparison{
			Graph:  &Graph{Measure: after.Measure, Tree: Tree{{Parent: -1, Frame: -1}}},
			Before: before.Tree[0].Total,
			After:  after.Tree[0].Total,
			Delta:  []int64{0},
		},
		frames:   map[timeline.Frame]int32{},
		children: map[call]int32{},
	}
	scale := 1.0
	if c.out.Before > 0 && c.out.After > 0 {
		scale = float64(c.out.After) / float64(c.out.Before)
	}
	c.add(before, scale, -1)
	c.add(after, 1, 1)
	c.out.Samples = before.Samples + after.Samples
	return c.out
}

// Draw returns the boxes of the comparison, as [Graph.Draw] does.
func (c *Comparison) Draw(w Window) Drawing { return c.draw(w, c.Delta) }

type comparer struct {
	out      *Comparison
	frames   map[timeline.Frame]int32
	children map[call]int32
}

func (c *comparer) add(g *Graph, scale float64, sign int64) {
	nodes := make([]int32, len(g.Tree)) // positions in c of the nodes of g
	for id, n := range g.Tree {
		if id > 0 {
			nodes[id] = c.child(nodes[n.Parent], g.Frames[n.Frame])
		}
		sum := &c.out.Tree[nodes[id]]
		self, total := int64(float64(n.Self)*scale), int64(float64(n.Total)*scale)
		sum.Self += self
		sum.Total += total
		c.out.Delta[nodes[id]] += sign * total
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
		c.out.Delta = append(c.out.Delta, 0)
	}
	return child
}
