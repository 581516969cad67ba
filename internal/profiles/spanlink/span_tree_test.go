// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// Copies of a span are one node.
func TestCopiesAreOneNode(t *testing.T) {
	x := newStore(Limits{Spans: 100, MaxAge: time.Hour})
	x.add(on(1, 0, 0, 10), 0)
	x.add(on(2, 1, 0, 10), 0)
	x.add(on(2, 1, 0, 11), 0)
	var tree spanTree
	tree.beginPart()
	for r, want := range []int32{0, 1, 1} {
		assert.Equal(t, want, tree.add(x.spans, x.spans.intervals.At(intervalRef(r+1))))
	}
}

// TestParents: the parent of a span, or else its segment, is found in the tree and in the index if
// it has the same trace and tenant.
func TestParents(t *testing.T) {
	x := newStore(Limits{Spans: 100, MaxAge: time.Hour})
	on := func(tenant string, trace, id, parent, segment uint64) *interval {
		s := Span{Trace: traceID(trace), ID: spanID(id), Parent: spanID(parent), Segment: spanID(segment), Start: id}
		return x.spans.intervals.At(x.insert(spanKey{s.Trace, s.ID, x.shares.tenant(Tenant{Stated: tenant}).ref}, s, 0, stated, 0))
	}
	root := on("ours", 1, 1, 7, 1)
	segment := on("ours", 1, 2, 1, 2)
	for name, c := range map[string]struct {
		span   *interval
		parent *interval
	}{
		"its parent":        {on("ours", 1, 11, 1, 2), root},
		"its segment":       {on("ours", 1, 12, 99, 2), segment},
		"neither":           {on("ours", 1, 13, 99, 98), nil},
		"of another trace":  {on("ours", 2, 14, 1, 2), nil},
		"of another tenant": {on("theirs", 1, 15, 1, 2), nil},
		"its own parent":    {on("ours", 1, 16, 16, 16), nil},
	} {
		for _, known := range []bool{false, true} {
			var tree spanTree
			tree.beginPart()
			if known {
				tree.add(x.spans, root)
				tree.add(x.spans, segment)
			}
			at := tree.add(x.spans, c.span)
			added := tree.addParent(int(at), x.spans, x.shares.tenantOf(c.span).ref)
			assert.Equal(t, c.parent != nil && !known, added, name)
			if c.parent == nil {
				assert.EqualValues(t, none, tree.nodes[at].parent, name)
			} else {
				assert.Equal(t, c.parent.id, tree.nodes[tree.nodes[at].parent].id, name)
				key := x.spans.key(c.parent)
				assert.Equal(t, tree.nodes[at].parent, tree.find(&key, key.hash()), name)
			}
		}
	}
}
