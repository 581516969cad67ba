// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"container/heap"
)

// slowest has the spans of an operation as a heap, the slowest first.
type slowest []*Node

// Len implements heap.Interface.
func (s slowest) Len() int { return len(s) }

// Less implements heap.Interface.
func (s slowest) Less(i, j int) bool { return s[i].duration > s[j].duration }

// Swap implements heap.Interface.
func (s slowest) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].place, s[j].place = int32(i), int32(j)
}

// Push implements heap.Interface.
func (s *slowest) Push(n any) {
	n.(*Node).place = int32(len(*s))
	*s = append(*s, n.(*Node))
}

// Pop implements heap.Interface.
func (s *slowest) Pop() any {
	last := len(*s) - 1
	n := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return n
}

func (s *slowest) push(n *Node)   { heap.Push(s, n) }
func (s *slowest) remove(n *Node) { heap.Remove(s, int(n.place)) }

// first returns the slowest spans. It visits most of their children in the heap, not all spans.
func (s slowest) first(most int) (list []*Node) {
	next := candidates{s, nil}
	if len(s) > 0 {
		next.places = []int{0}
	}
	for len(next.places) > 0 && len(list) < most {
		place := heap.Pop(&next).(int)
		list = append(list, s[place])
		for _, child := range []int{2*place + 1, 2*place + 2} {
			if child < len(s) {
				heap.Push(&next, child)
			}
		}
	}
	return list
}

// candidates are places in a heap whose parents were visited.
type candidates struct {
	of     slowest
	places []int
}

// Len implements heap.Interface.
func (c candidates) Len() int { return len(c.places) }

// Less implements heap.Interface.
func (c candidates) Less(i, j int) bool { return c.of.Less(c.places[i], c.places[j]) }

// Swap implements heap.Interface.
func (c candidates) Swap(i, j int) { c.places[i], c.places[j] = c.places[j], c.places[i] }

// Push implements heap.Interface.
func (c *candidates) Push(place any) { c.places = append(c.places, place.(int)) }

// Pop implements heap.Interface.
func (c *candidates) Pop() any {
	last := len(c.places) - 1
	place := c.places[last]
	c.places = c.places[:last]
	return place
}
