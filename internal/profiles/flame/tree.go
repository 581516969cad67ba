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
	Start  uint64 // Unix nanoseconds; only in graphs in order of time
}

// Tree is a list of nodes, parents first.
type Tree []Node

// addUp computes the totals from Self.
func (t Tree) addUp() {
	for i := len(t) - 1; i >= 0; i-- {
		t[i].Total += t[i].Self
		if parent := t[i].Parent; parent >= 0 {
			t[parent].Total += t[i].Total
		}
	}
}

// Visible is a node of a pruned tree.
type Visible struct {
	ID     int32 // index in the whole tree
	Parent int32 // index in the list; -1 for the first
	Hidden bool  // some of its children are not in the list
	Node   Node
}

// Part selects a part of a tree.
type Part struct {
	Root  int32   // of the part
	Share float64 // minimum share of a node in the total of the root
	Most  int     // maximum number of nodes; the largest are kept
}

// Prune returns a part of a tree, parents first and siblings ordered by compare, and the minimum
// total of its nodes.
func (t Tree) Prune(part Part, compare func(a, b int32) int) (list []Visible, smallest int64) {
	smallest = max(1, int64(part.Share*float64(t[part.Root].Total)))
	children := t.children(part.Root, smallest)
	if totals := t.totals(children); len(totals) > part.Most {
		slices.SortFunc(totals, func(a, b int64) int { return cmp.Compare(b, a) })
		smallest = totals[part.Most] + 1
		children = t.children(part.Root, smallest)
	}
	type step struct{ id, parent int32 }
	stack := []step{{part.Root, -1}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		index := int32(len(list))
		siblings := children[at.id]
		list = append(list, Visible{ID: at.id, Parent: at.parent, Hidden: siblings.hidden, Node: t[at.id]})
		slices.SortFunc(siblings.list, compare)
		for _, child := range slices.Backward(siblings.list) {
			stack = append(stack, step{child, index})
		}
	}
	return list, smallest
}

// siblings are the remaining children of a node.
type siblings struct {
	list   []int32
	hidden bool // others were removed
}

func (t Tree) children(root int32, smallest int64) map[int32]siblings {
	byParent := map[int32]siblings{root: {}}
	for id := root + 1; int(id) < len(t); id++ {
		of, kept := byParent[t[id].Parent]
		if !kept {
			continue // not a descendant of root, or of a removed node
		}
		if t[id].Total >= smallest {
			of.list = append(of.list, id)
			byParent[id] = siblings{}
		} else {
			of.hidden = true
		}
		byParent[t[id].Parent] = of
	}
	return byParent
}

func (t Tree) totals(kept map[int32]siblings) []int64 {
	list := make([]int64, 0, len(kept))
	for id := range kept {
		list = append(list, t[id].Total)
	}
	return list
}

// Ancestors returns the ancestors of a node, the root first.
func (t Tree) Ancestors(id int32) (list []int32) {
	for id = t[id].Parent; id >= 0; id = t[id].Parent {
		list = append(list, id)
	}
	slices.Reverse(list)
	return list
}
