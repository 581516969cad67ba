// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/bits"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// spanTree contains some spans of the index with all their ancestors. It may have several roots. It
// is a copy, because the index may change meanwhile.
//
// The tree consists of parts, which are built one after another. No span of a part is related to a
// span of another part: a span may be in several parts.
type spanTree struct {
	nodes     []treeNode
	begin     int           // of the nodes of the last part
	indexed   []intervalRef // the first interval of each node of the last part
	positions []int32       // a hash table of positions in indexed plus one, by interval
	lastAdded int32         // the last added node, or none
	climbed   int           // ancestors that were looked up, see takeClimbed

	firstChild, nextSibling, visitedBy []int32 // see assignOrder and cutCycles
}

func (tree *spanTree) reset() { tree.nodes = tree.nodes[:0] }

// beginPart begins another part, of about n spans. Intervals of the previous part may no longer
// exist.
func (tree *spanTree) beginPart(n int) {
	tree.begin, tree.indexed, tree.positions = len(tree.nodes), tree.indexed[:0], tree.positions[:0]
	tree.nodes, tree.indexed, tree.lastAdded = slices.Grow(tree.nodes, n), slices.Grow(tree.indexed, n), none
	tree.growPositions(n)
}

// interval returns the first interval of a node of the last part.
func (tree *spanTree) interval(at int32) intervalRef { return tree.indexed[int(at)-tree.begin] }

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
// ancestors if necessary, but looks up at most maxClimb ancestors.
func (tree *spanTree) add(x *Index, r intervalRef, maxClimb int) int32 {
	first := int32(none)
	child := int32(none)
	for r != 0 && tree.climbed <= maxClimb {
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
		if child != none {
			tree.climbed++
		}
		child = at
		if r = tree.recentParent(x, i); r == 0 {
			r = x.parentOf(i)
		}
	}
	tree.lastAdded = first
	return first
}

// takeClimbed returns, and resets, the number of ancestors that were looked up.
func (tree *spanTree) takeClimbed() (n int) {
	n, tree.climbed = tree.climbed, 0
	return n
}

// position returns the position of the span with this first interval. It notes the next free
// position if the span is new.
func (tree *spanTree) position(r intervalRef) (at int32, known bool) {
	tree.growPositions(len(tree.indexed) + 1)
	slot := &tree.positions[tree.slot(r)]
	if known = *slot != 0; !known {
		tree.indexed = append(tree.indexed, r)
		*slot = int32(len(tree.indexed))
	}
	return int32(tree.begin) + *slot - 1, known
}

// maxRecentSteps bounds the search in recentParent. A longer search costs as much as a lookup in
// the index.
const maxRecentSteps = 8

// recentParent searches for the parent of a span: the last added span or one of its ancestors. This
// usually succeeds, because spans are nested and are added by start.
func (tree *spanTree) recentParent(x *Index, i *interval) intervalRef {
	for at, steps := tree.lastAdded, 0; at != none && steps < maxRecentSteps; steps++ {
		if node := &tree.nodes[at]; node.id == i.parent {
			if r := tree.interval(at); x.inOneTrace(x.intervals.At(r), i) {
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

// assignOrder walks the last part of the tree, which must be complete, and sets pre and post.
func (tree *spanTree) assignOrder() {
	tree.cutCycles()
	nodes, begin := tree.nodes[tree.begin:], int32(tree.begin)
	// The children of each node, as a linked list. The roots are the children of an extra node at
	// the end. Positions in the lists count from the begin of the part.
	tree.firstChild, tree.nextSibling = filled(tree.firstChild, len(nodes)+1, none), filled(tree.nextSibling, len(nodes), none)
	firstChild, nextSibling := tree.firstChild, tree.nextSibling
	for i := range nodes {
		parent := nodes[i].parent - begin
		if nodes[i].parent == none {
			parent = int32(len(nodes))
		}
		nextSibling[i], firstChild[parent] = firstChild[parent], int32(i)
	}
	pre, post := int32(0), int32(0)
	for at := firstChild[len(nodes)]; at != none; {
		nodes[at].pre = pre
		pre++
		if firstChild[at] != none {
			at = firstChild[at]
			continue
		}
		for at != none {
			nodes[at].post = post
			post++
			if nextSibling[at] != none {
				at = nextSibling[at]
				break
			}
			if at = nodes[at].parent; at != none {
				at -= begin
			}
		}
	}
}

// cutCycles makes each span that is its own ancestor a root. Only broken or hostile data contains
// such spans.
func (tree *spanTree) cutCycles() {
	begin := int32(tree.begin)
	tree.visitedBy = filled(tree.visitedBy, len(tree.nodes)-tree.begin, none)
	visitedBy := tree.visitedBy // the walk that visited the node
	for i := begin; i < int32(len(tree.nodes)); i++ {
		at := i
		for ; at != none && visitedBy[at-begin] == none; at = tree.nodes[at].parent {
			visitedBy[at-begin] = i
		}
		for at != none && visitedBy[at-begin] == i { // this walk was here before: a cycle
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
