// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/bits"
	"slices"
	"unsafe"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// spanTree contains some spans of the index with all their ancestors. It may have several roots. It
// is a copy, because the index may change meanwhile.
//
// The tree consists of parts, which are built one after another. No span of a part is related to a
// span of another part: a span may be in several parts.
type spanTree struct {
	nodes     []treeNode
	begin     int       // of the nodes of the last part
	last      []nodeKey // of each node of the last part
	positions []int32   // a hash table of positions in last plus one, of the first nodes
	placed    int       // number of these

	firstChild, nextSibling, visitedBy []int32 // see assignOrder and cutCycles
}

// nodeKey is the part of a node that is needed until the tree is complete.
type nodeKey struct {
	hash    uint32 // if the node is in positions
	tenant  tenantRef
	segment pcommon.SpanID
}

func (tree *spanTree) reset() { tree.nodes = tree.nodes[:0] }

// beginPart begins another part.
func (tree *spanTree) beginPart() {
	tree.begin, tree.last, tree.positions, tree.placed = len(tree.nodes), tree.last[:0], tree.positions[:0], 0
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

// add returns the position in the tree of the span of an interval, which it adds if necessary. The
// caller adds an interval once per part, before ancestors.
func (tree *spanTree) add(spans *spanTable, i *interval) int32 {
	segment := &spans.segments.At(i.segment).spanKey
	if i.sibling != 0 {
		key := segment.inTrace(i.id)
		if at := tree.find(&key, key.hash()); at != none {
			return at
		}
	}
	return tree.append(i, segment)
}

func (tree *spanTree) append(i *interval, segment *spanKey) int32 {
	tree.nodes = append(tree.nodes, treeNode{trace: segment.trace, id: i.id, parentID: i.parent, parent: none})
	tree.last = append(tree.last, nodeKey{tenant: segment.tenant, segment: segment.id})
	return int32(len(tree.nodes) - 1)
}

// addParent finds the parent of a node, or else its segment. It reports whether it copied that from
// the index. The nodes before it have their parents.
func (tree *spanTree) addParent(at int, spans *spanTable, tenant tenantRef) (added bool) {
	node := &tree.nodes[at]
	if node.parent = tree.recentParent(at); node.parent != none {
		return false
	}
	for _, id := range [...]pcommon.SpanID{node.parentID, tree.last[at-tree.begin].segment} {
		if id.IsEmpty() || id == node.id {
			continue
		}
		key := spanKey{node.trace, id, tenant}
		hash := key.hash()
		if node.parent = tree.find(&key, hash); node.parent != none {
			return false
		}
		if r := spans.findHashed(&key, hash); r != 0 {
			i := spans.intervals.At(r)
			parent := tree.append(i, &spans.segments.At(i.segment).spanKey)
			tree.nodes[at].parent = parent
			return true
		}
	}
	return false
}

// maxRecentSteps bounds the search in recentParent. A longer search costs as much as a lookup.
const maxRecentSteps = 8

// recentParent searches for the parent of a node: the previous node or one of its ancestors. This
// usually succeeds, because spans are nested and are added by start.
func (tree *spanTree) recentParent(at int) int32 {
	node := &tree.nodes[at]
	if at == tree.begin || node.parentID.IsEmpty() || node.parentID == node.id {
		return none
	}
	for recent, steps := int32(at-1), 0; recent != none && steps < maxRecentSteps; steps++ {
		other := &tree.nodes[recent]
		if other.id == node.parentID && other.trace == node.trace {
			return recent
		}
		recent = other.parent
	}
	return none
}

// find returns the position of a span of the last part, or none.
func (tree *spanTree) find(key *spanKey, hash uint64) int32 {
	tree.place()
	for slot := tree.slot(uint32(hash)); len(tree.positions) > 0 && tree.positions[slot] != 0; slot = tree.slot(uint32(slot) + 1) {
		last := tree.positions[slot] - 1
		at := int32(tree.begin) + last
		if node := &tree.nodes[at]; tree.last[last].hash == uint32(hash) && node.id == key.id && node.trace == key.trace {
			return at
		}
	}
	return none
}

// place adds the nodes to positions that are not there yet.
func (tree *spanTree) place() {
	if n := len(tree.last); 2*n > len(tree.positions) {
		tree.positions = filled(tree.positions, max(64, 1<<bits.Len(uint(2*n))), 0)
		tree.placed = 0
	}
	for ; tree.placed < len(tree.last); tree.placed++ {
		last, node := &tree.last[tree.placed], &tree.nodes[tree.begin+tree.placed]
		if last.hash == 0 {
			key := spanKey{node.trace, node.id, last.tenant}
			last.hash = uint32(key.hash())
		}
		slot := tree.slot(last.hash)
		for tree.positions[slot] != 0 {
			slot = tree.slot(uint32(slot) + 1)
		}
		tree.positions[slot] = int32(tree.placed) + 1
	}
}

// slot returns a slot of positions, whose number is a power of two.
func (tree *spanTree) slot(n uint32) int { return int(n) & (len(tree.positions) - 1) }

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

func bytesOf[T any](list []T) int {
	var record T
	return cap(list) * int(unsafe.Sizeof(record))
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
