// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// forest is who is above whom, among some spans of the index and all that are above them. It is a copy: the index may go on.
type forest struct {
	trees []tree
	nodes []*node // of which the trees are copies, while they are gathered
	last  int32   // the one that was added last, or none

	first, next, walk []int32 // see number and cutCycles
}

func (f *forest) begin() { f.trees, f.nodes = f.trees[:0], f.nodes[:0] }

// grow prepares for about this many spans more, of another thread.
func (f *forest) grow(n int) {
	f.trees, f.nodes, f.last = slices.Grow(f.trees, n), slices.Grow(f.nodes, n), none
}

// tree is one span of a forest.
type tree struct {
	trace  pcommon.TraceID
	id     pcommon.SpanID
	parent pcommon.SpanID // may be unknown to the index
	above  int32          // number of the span that it hangs below; none at a root

	// Its numbers when walking the forest from above to below, and from below to above. A span is below another if its first
	// number is greater and its second smaller.
	pre, post int32

	running int32 // intervals that are going on, see timeline
}

const none = -1

// add gives the number of a span, and adds it and all above it if they are new.
func (f *forest) add(x *Index, n *node) int32 {
	first := int32(none)
	below := int32(none)
	for n != nil {
		known := n.epoch == x.epoch
		if !known {
			n.epoch, n.number = x.epoch, int32(len(f.trees))
			f.trees = append(f.trees, tree{trace: n.trace, id: n.id, parent: n.parent, above: none})
			f.nodes = append(f.nodes, n)
		}
		if below != none {
			f.trees[below].above = n.number
		} else {
			first = n.number
		}
		if known {
			break
		}
		below = n.number
		if near := f.near(n); near != nil {
			n = near
		} else {
			n = x.above(n)
		}
	}
	f.last = first
	return first
}

// maxNear is how far near looks: farther up it takes as long as asking the index.
const maxNear = 8

// near looks for the parent of a span in the span that was added before and what is above that. It is there if spans are added
// by their starts, and run within each other.
func (f *forest) near(n *node) *node {
	for at, climbed := f.last, 0; at != none && climbed < maxNear; climbed++ {
		if above := f.nodes[at]; above.id == n.parent && above.trace == n.trace && above.tenant == n.tenant {
			return above
		}
		at = f.trees[at].above
	}
	return nil
}

// above gives the span that a span hangs below: its parent, else its segment.
func (x *Index) above(n *node) *node {
	for _, id := range [...]pcommon.SpanID{n.parent, n.segment} {
		if id.IsEmpty() || id == n.id {
			continue
		}
		if above := x.nodes[n.inTrace(id)]; above != nil {
			return above
		}
	}
	return nil
}

// number walks the forest, once it is complete.
func (f *forest) number() {
	clear(f.nodes)
	f.cutCycles()
	// The children of each, as a list; the roots are those of an extra one at the end.
	f.first, f.next = filled(f.first, len(f.trees)+1, none), filled(f.next, len(f.trees), none)
	first, next := f.first, f.next
	for i := range f.trees {
		above := f.trees[i].above
		if above == none {
			above = int32(len(f.trees))
		}
		next[i], first[above] = first[above], int32(i)
	}
	pre, post := int32(0), int32(0)
	for at := first[len(f.trees)]; at != none; {
		f.trees[at].pre = pre
		pre++
		if first[at] != none {
			at = first[at]
			continue
		}
		for at != none {
			f.trees[at].post = post
			post++
			if next[at] != none {
				at = next[at]
				break
			}
			at = f.trees[at].above
		}
	}
}

// cutCycles makes roots of spans that are above themselves, which only broken or hostile data has.
func (f *forest) cutCycles() {
	f.walk = filled(f.walk, len(f.trees), none)
	walk := f.walk // the walk that came by
	for i := range f.trees {
		at := int32(i)
		for ; at != none && walk[at] == none; at = f.trees[at].above {
			walk[at] = int32(i)
		}
		for at != none && walk[at] == int32(i) { // this walk has come round
			at, f.trees[at].above = f.trees[at].above, none
		}
	}
}

// filled is n times a value, in the memory of a list if that is enough.
func filled[T any](list []T, n int, value T) []T {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = value
	}
	return list
}

// covers says whether a span is another or above it.
func (f *forest) covers(a, b int32) bool {
	return f.trees[a].pre <= f.trees[b].pre && f.trees[b].post <= f.trees[a].post
}

// below says whether a span is properly below one that need not be in the forest.
func (f *forest) below(at int32, trace pcommon.TraceID, id pcommon.SpanID) bool {
	for climbed := 0; at != none && climbed < maxClimb; climbed++ {
		t := &f.trees[at]
		if t.trace != trace {
			return false
		}
		if t.parent == id {
			return true
		}
		if at = t.above; at != none && f.trees[at].id == id {
			return true // by its segment
		}
	}
	return false
}

// maxClimb bounds the way up. Traces are hardly deeper than a hundred spans; with a thousand on each of a hundred thousand
// instants, the way would be what linking takes its time for.
const maxClimb = 256
