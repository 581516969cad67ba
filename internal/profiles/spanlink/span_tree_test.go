// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestNear: a parent is found among the latest spans if it has the same trace and tenant, and is
// close enough.
func TestNear(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
	on := func(tenant string, trace, id, parent uint64) intervalRef {
		s := Span{Trace: traceID(trace), ID: spanID(id), Parent: spanID(parent), Start: id}
		return x.insert(spanKey{s.Trace, s.ID, x.tenant(Tenant{Stated: tenant}).ref}, s, 0, stated, start)
	}
	child := func(tenant string, trace, parent uint64) *interval {
		return x.intervals.At(on(tenant, trace, 100+uint64(x.count), parent))
	}
	f := spanTree{lastAdded: none}
	assert.Zero(t, f.recentParent(x, child("ours", 1, 1)), "none was added")
	for id := range uint64(maxRecentSteps + 2) { // each a child of the previous one
		f.indexed = append(f.indexed, on("ours", 1, id+1, id))
		f.nodes = append(f.nodes, treeNode{id: spanID(id + 1), parent: int32(id) - 1})
	}
	f.lastAdded = int32(len(f.indexed) - 1)
	for i, parent := range f.indexed {
		id := uint64(i + 1)
		if i < 2 {
			parent = 0 // too many ancestors away
		}
		assert.Equal(t, parent, f.recentParent(x, child("ours", 1, id)), id)
		assert.Zero(t, f.recentParent(x, child("ours", 2, id)), "of another trace")
		assert.Zero(t, f.recentParent(x, child("theirs", 1, id)), "of another tenant")
	}
}
