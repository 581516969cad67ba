// SPDX-License-Identifier: Apache-2.0

package flame

import (
	"cmp"
	"slices"
)

// Node is a function where it was called. Its parent comes before it in the list; that of node 0, the root, is -1.
type Node struct {
	Parent int32
	Frame  int32 // into Graph.Frames; of the root -1
	Self   int64
	Total  int64
	Start  uint64 // Unix nanoseconds, in the order of time only
}

// Tree is a list of nodes, parents first.
type Tree []Node

// addUp fills in the totals from Self.
func (t Tree) addUp() {
	for i := len(t) - 1; i >= 0; i-- {
		t[i].Total += t[i].Self
		if parent := t[i].Parent; parent >= 0 {
			t[parent].Total += t[i].Total
		}
	}
}

// Visible is a node of a tree that was cut down.
type Visible struct {
	ID     int32 // in the whole tree
	Parent int32 // in the list; -1: the first
	Hidden bool  // some of its children are too small to be in the list
	Node   Node
}

// Part says what to keep of a tree.
type Part struct {
	Root  int32   // where to begin
	Share float64 // of the root's total that a node must have
	Most  int     // nodes; the smallest of too many go
}

// Prune gives the part of a tree that can be seen: parents first, children in the order that less says, and the smallest
// total that was kept.
func (t Tree) Prune(part Part, less func(a, b int32) int) (list []Visible, smallest int64) {
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
		position := int32(len(list))
		group := children[at.id]
		list = append(list, Visible{ID: at.id, Parent: at.parent, Hidden: group.hidden, Node: t[at.id]})
		slices.SortFunc(group.list, less)
		for _, child := range slices.Backward(group.list) {
			stack = append(stack, step{child, position})
		}
	}
	return list, smallest
}

// group is the children of a node that are kept.
type group struct {
	list   []int32
	hidden bool // there are others
}

func (t Tree) children(root int32, smallest int64) map[int32]group {
	groups := map[int32]group{root: {}}
	for id := root + 1; int(id) < len(t); id++ {
		parent, kept := groups[t[id].Parent]
		if !kept {
			continue // below another root, or below something small
		}
		if t[id].Total >= smallest {
			parent.list = append(parent.list, id)
			groups[id] = group{}
		} else {
			parent.hidden = true
		}
		groups[t[id].Parent] = parent
	}
	return groups
}

func (t Tree) totals(kept map[int32]group) []int64 {
	list := make([]int64, 0, len(kept))
	for id := range kept {
		list = append(list, t[id].Total)
	}
	return list
}

// Ancestors lists what called a node, the root first.
func (t Tree) Ancestors(id int32) (list []int32) {
	for id = t[id].Parent; id >= 0; id = t[id].Parent {
		list = append(list, id)
	}
	slices.Reverse(list)
	return list
}
