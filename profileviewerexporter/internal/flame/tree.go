// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"
)

// Node is a function with its callers. Its parent precedes it in the tree; the parent of node 0,
// the root, is -1.
type Node struct {
	Parent int32
	Frame  int32 // index in Graph.Frames; -1 for the root
	Self   int64
	Total  int64
	// Samples is the number of observations of the function and of its calls; 0 in views.
	Samples int64
}

// Tree is a list of nodes, parents first.
type Tree []Node

// addUp computes the totals from the values of the functions themselves.
func (t Tree) addUp() {
	for i := len(t) - 1; i >= 0; i-- {
		t[i].Total += t[i].Self
		if parent := t[i].Parent; parent >= 0 {
			t[parent].Total += t[i].Total
			t[parent].Samples += t[i].Samples
		}
	}
}

// Draw returns the boxes of a merged graph, heaviest siblings first. A position is the weight of
// everything before it.
func (g *Graph) Draw(w Window) Drawing { return g.draw(w, nil) }

func (g *Graph) draw(w Window, delta []int64) Drawing {
	g.order()
	total := g.Tree[0].Total
	if w.To <= 0 || w.To > total {
		w.To = total
	}
	found := g.Tree.found(w.Match)
	return draw(w, func(d *drawer) {
		var visit func(id int32, start int64)
		visit = func(id int32, start int64) { // recursion is limited by MaxDepth
			n, change := &g.Tree[id], int64(0)
			if delta != nil {
				change = delta[id]
			}
			d.begin(n.Frame, start)
			if n.Total >= d.smallest && !d.overflow {
				at := start
				for _, child := range g.children[id] {
					if at < w.To && at+g.Tree[child].Total > w.From {
						visit(child, at)
					}
					at += g.Tree[child].Total
				}
			}
			call := &d.running[len(d.running)-1]
			call.found = call.found || found != nil && found[id]
			call.inner = n.Total - n.Self // includes calls outside the window
			d.end(start+n.Total, n.Total, change)
		}
		visit(0, 0)
	})
}

// order lists the children of each node, heaviest first.
func (g *Graph) order() {
	if g.children != nil {
		return
	}
	g.children = make([][]int32, len(g.Tree))
	for id := 1; id < len(g.Tree); id++ {
		if g.Tree[id].Total > 0 {
			parent := g.Tree[id].Parent
			g.children[parent] = append(g.children[parent], int32(id))
		}
	}
	for _, list := range g.children {
		slices.SortFunc(list, g.heaviest)
	}
}

// found returns, for each node, whether its function or that of a descendant matches.
func (t Tree) found(match []bool) []bool {
	if match == nil {
		return nil
	}
	list := make([]bool, len(t))
	for id := len(t) - 1; id > 0; id-- {
		list[id] = list[id] || match[t[id].Frame]
		list[t[id].Parent] = list[t[id].Parent] || list[id]
	}
	return list
}

// Matched returns the weight of the functions that match, with everything that they call.
func (g *Graph) Matched(match []bool) (weight int64) {
	inside := make([]bool, len(g.Tree))
	for id := 1; id < len(g.Tree); id++ {
		n := &g.Tree[id]
		if inside[id] = inside[n.Parent]; !inside[id] && match[n.Frame] {
			inside[id] = true
			weight += n.Total
		}
	}
	return weight
}

// heaviest compares siblings by total, then by name.
func (g *Graph) heaviest(a, b int32) int {
	return cmp.Or(cmp.Compare(g.Tree[b].Total, g.Tree[a].Total), cmp.Compare(g.name(a), g.name(b)), cmp.Compare(a, b))
}

func (g *Graph) name(node int32) string { return g.Frames[g.Tree[node].Frame].Name }
