// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPolicies: for spans without a common ancestor, there is no link, or a link to the span that
// started last.
func TestPolicies(t *testing.T) {
	for policy, want := range map[Policy][]section{
		Skip:      {{0, none, false}, {1, 0, false}, {2, none, true}, {6, 0, false}, {10, none, false}},
		Innermost: {{0, none, false}, {1, 0, false}, {2, 1, true}, {3, 2, true}, {5, 1, true}, {6, 0, false}, {10, none, false}},
	} {
		var f spanTree
		for i := range uint64(3) {
			f.nodes = append(f.nodes, treeNode{id: spanID(i), parent: none})
		}
		f.assignOrder()
		var m timelineBuilder
		m.reset()
		m.begin()
		m.add(&f, []spanRun{{1, 10, 0}, {2, 6, 1}, {3, 5, 2}}, policy, 0, 20, math.MaxInt)
		assert.Equal(t, want, m.end(0, 20).sections, policy)
	}
}
