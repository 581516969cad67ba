// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/bits"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// spanTree contains some spans of the index with all their ancestors. It may have several roots. It
// is a copy, because the index may change meanwhile.
type spanTree struct {
	nodes     []treeNode
	indexed   []intervalRef // the first interval of each node, while the tree is built
	positions []int32       // a hash table of node positions plus one, by interval
	lastAdded int32         // the last added node, or none

	firstChild, nextSibling, visitedBy []int32 // see assignOrder and cutCycles
}

func (tree *spanTree) reset() {
	tree.nodes, tree.indexed, tree.positions = tree.nodes[:0], tree.indexed[:0], tree.positions[:0]
}

// grow prepares for about n more spans from another track.
func (tree *spanTree) grow(n int) {
	tree.nodes, tree.indexed, tree.lastAdded = slices.Grow(tree.nodes, n), slices.Grow(tree.indexed, n), none
	tree.growPositions(len(tree.nodes) + n)
}

// growPositions makes room for n nodes.
func (tree *spanTree) growPositions(n int) {
	size := 1 << bits.Len(uint(2*n))
	if size <= len(tree.positions) {
		return
	}
	tree.positions = filled(tree.positions, size, 0)
	for at, r := range tree.indexed {
		tree.positions[tree.slot(r)] = int32(at) + 1
	}
}

// slot returns the slot of an interval in positions, or a free slot.
func (tree *spanTree) slot(r intervalRef) int {
	mask := len(tree.positions) - 1
	i := int(uint32(r)*0x9e3779b1>>8) & mask
	for tree.positions[i] != 0 && tree.indexed[tree.positions[i]-1] != r {
		i = (i + 1) & mask
	}
	return i
}

// treeNode is one span of a spanTree.
type treeNode struct {
	trace    pcommon.TraceID
	id       pcommon.SpanID
	parentID pcommon.SpanID // may not be in the index
	parent   int32          // position of the parent in the tree, or of the segment if the parent is unknown; none for a root

	// The positions of the span in the pre-order and the post-order of a depth-first walk. A span
	// is a descendant of another if its pre is greater and its post is smaller.
	pre, post int32

	running int32 // number of its runs at the current instant, see timeline
}

const none = -1

// add returns the position in the tree of the span of an interval. It adds the span and its
// ancestors if necessary.
func (tree *spanTree) add(x *Index, r intervalRef) int32 {
	first := int32(none)
	child := int32(none)
	for r != 0 {
		r = x.first(r)
		at, known := tree.position(r)
		i := x.intervals.At(r)
		if !known {
			tree.nodes = append(tree.nodes, treeNode{trace: x.segments.At(i.segment).trace, id: i.id, parentID: i.parent, parent: none})
		}
		if child != none {
			tree.nodes[child].parent = at
		} else {
			first = at
		}
		if known {
			break
		}
		child = at
		if r = tree.recentParent(x, i); r == 0 {
			r = x.parentOf(i)
		}
	}
	tree.lastAdded = first
	return first
}

// position returns the position of the span with this first interval. It notes the next free
// position if the span is new.
func (tree *spanTree) position(r intervalRef) (at int32, known bool) {
	tree.growPositions(len(tree.nodes) + 1)
	slot := &tree.positions[tree.slot(r)]
	if *slot != 0 {
		return *slot - 1, true
	}
	tree.indexed = append(tree.indexed, r)
	*slot = int32(len(tree.indexed))
	return *slot - 1, false
}

// maxRecentSteps bounds the search in recentParent. A longer search costs as much as a lookup in
// the index.
const maxRecentSteps = 8

// recentParent searches for the parent of a span: the last added span or one of its ancestors. This
// usually succeeds, because spans are nested and are added by start.
func (tree *spanTree) recentParent(x *Index, i *interval) intervalRef {
	for at, steps := tree.lastAdded, 0; at != none && steps < maxRecentSteps; steps++ {
		if node := &tree.nodes[at]; node.id == i.parent {
			if r := tree.indexed[at]; x.inOneTrace(x.intervals.At(r), i) {
				return r
			}
		}
		at = tree.nodes[at].parent
	}
	return 0
}

// inOneTrace reports whether two spans belong to the same trace of the same tenant.
func (x *Index) inOneTrace(a, b *interval) bool {
	if a.segment == b.segment {
		return true
	}
	s, t := x.segments.At(a.segment), x.segments.At(b.segment)
	return s.trace == t.trace && s.tenant == t.tenant
}

// parentOf returns the parent of a span, else its segment, else none.
func (x *Index) parentOf(i *interval) intervalRef {
	segment := &x.segments.At(i.segment).spanKey
	for _, id := range [...]pcommon.SpanID{i.parent, segment.id} {
		if id.IsEmpty() || id == i.id {
			continue
		}
		if parent := x.span(segment.inTrace(id)); parent != 0 {
			return parent
		}
	}
	return 0
}

// assignOrder walks the complete tree and sets pre and post.
func (tree *spanTree) assignOrder() {
	tree.cutCycles()
	// The children of each node, as a linked list. The roots are the children of an extra node at
	// the end.
	tree.firstChild, tree.nextSibling = filled(tree.firstChild, len(tree.nodes)+1, none), filled(tree.nextSibling, len(tree.nodes), none)
	firstChild, nextSibling := tree.firstChild, tree.nextSibling
	for i := range tree.nodes {
		parent := tree.nodes[i].parent
		if parent == none {
			parent = int32(len(tree.nodes))
		}
		nextSibling[i], firstChild[parent] = firstChild[parent], int32(i)
	}
	pre, post := int32(0), int32(0)
	for at := firstChild[len(tree.nodes)]; at != none; {
		tree.nodes[at].pre = pre
		pre++
		if firstChild[at] != none {
			at = firstChild[at]
			continue
		}
		for at != none {
			tree.nodes[at].post = post
			post++
			if nextSibling[at] != none {
				at = nextSibling[at]
				break
			}
			at = tree.nodes[at].parent
		}
	}
}

// cutCycles makes each span that is its own ancestor a root. Only broken or hostile data contains
// such spans.
func (tree *spanTree) cutCycles() {
	tree.visitedBy = filled(tree.visitedBy, len(tree.nodes), none)
	visitedBy := tree.visitedBy // the walk that visited the node
	for i := range tree.nodes {
		at := int32(i)
		for ; at != none && visitedBy[at] == none; at = tree.nodes[at].parent {
			visitedBy[at] = int32(i)
		}
		for at != none && visitedBy[at] == int32(i) { // this walk was here before: a cycle
			at, tree.nodes[at].parent = tree.nodes[at].parent, none
		}
	}
}

// filled returns a list of n equal values. It reuses the memory of list if that is large enough.
func filled[T any](list []T, n int, value T) []T {
	list = slices.Grow(list[:0], n)[:n]
	for i := range list {
		list[i] = value
	}
	return list
}

// isAncestorOrSelf reports whether a is b or an ancestor of b.
func (tree *spanTree) isAncestorOrSelf(a, b int32) bool {
	return tree.nodes[a].pre <= tree.nodes[b].pre && tree.nodes[b].post <= tree.nodes[a].post
}

// isDescendant reports whether a span is a proper descendant of another span, which may be missing
// from the tree.
func (tree *spanTree) isDescendant(at int32, trace pcommon.TraceID, id pcommon.SpanID) bool {
	for steps := 0; at != none && steps < maxAncestors; steps++ {
		t := &tree.nodes[at]
		if t.trace != trace {
			return false
		}
		if t.parentID == id {
			return true
		}
		if at = t.parent; at != none && tree.nodes[at].id == id {
			return true // its segment is that span
		}
	}
	return false
}

// maxAncestors bounds walks to the root. Traces are rarely deeper than a hundred spans. Without the
// bound, these walks would dominate the cost of linking for a hundred thousand instants with a
// thousand nested spans each.
const maxAncestors = 256
