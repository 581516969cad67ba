// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNear: a parent is found among the spans just added if it is of the same trace and tenant, and not too far up.
func TestNear(t *testing.T) {
	ours, theirs := &tenant{name: "ours"}, &tenant{name: "theirs"}
	on := func(owner *tenant, trace, id, parent uint64) *node {
		return &node{spanKey: spanKey{owner, traceID(trace), spanID(id)}, parent: spanID(parent)}
	}
	f := forest{last: none}
	assert.Nil(t, f.near(on(ours, 1, 100, 1)), "none was added")
	for id := range uint64(maxNear + 2) { // each below the one before
		f.nodes = append(f.nodes, on(ours, 1, id+1, id))
		f.trees = append(f.trees, tree{above: int32(id) - 1})
	}
	f.last = int32(len(f.nodes) - 1)
	for i, above := range f.nodes {
		id := uint64(i + 1)
		if i < 2 {
			above = nil // too far up
		}
		assert.Same(t, above, f.near(on(ours, 1, 100, id)), id)
		assert.Nil(t, f.near(on(ours, 2, 100, id)), "of another trace")
		assert.Nil(t, f.near(on(theirs, 1, 100, id)), "of another tenant")
	}
}
