// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNear: a parent is found among the spans just added if it is of the same trace and tenant, and
// not too far up.
func TestNear(t *testing.T) {
	ours, theirs := &tenant{name: "ours"}, &tenant{name: "theirs"}
	on := func(owner *tenant, trace, id, parent uint64) *indexedSpan {
		return &indexedSpan{spanKey: spanKey{owner, traceID(trace), spanID(id)}, parent: spanID(parent)}
	}
	f := spanTree{lastAdded: none}
	assert.Nil(t, f.recentParent(on(ours, 1, 100, 1)), "none was added")
	for id := range uint64(maxRecentSteps + 2) { // each a child of the one before
		f.indexed = append(f.indexed, on(ours, 1, id+1, id))
		f.nodes = append(f.nodes, treeNode{parent: int32(id) - 1})
	}
	f.lastAdded = int32(len(f.indexed) - 1)
	for i, parent := range f.indexed {
		id := uint64(i + 1)
		if i < 2 {
			parent = nil // too many ancestors away
		}
		assert.Same(t, parent, f.recentParent(on(ours, 1, 100, id)), id)
		assert.Nil(t, f.recentParent(on(ours, 2, 100, id)), "of another trace")
		assert.Nil(t, f.recentParent(on(theirs, 1, 100, id)), "of another tenant")
	}
}
