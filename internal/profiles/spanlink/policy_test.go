// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPolicies: of spans that have nothing in common, none is chosen, or the one that started last.
func TestPolicies(t *testing.T) {
	for policy, want := range map[Policy][]piece{
		Skip:      {{0, none, false}, {1, 0, false}, {2, none, true}, {6, 0, false}, {10, none, false}},
		Innermost: {{0, none, false}, {1, 0, false}, {2, 1, true}, {3, 2, true}, {5, 1, true}, {6, 0, false}, {10, none, false}},
	} {
		var f forest
		for i := range uint64(3) {
			f.trees = append(f.trees, tree{id: spanID(i), above: none})
		}
		f.number()
		var m timelines
		m.begin()
		assert.Equal(t, want, m.make(&f, []run{{1, 10, 0}, {2, 6, 1}, {3, 5, 2}}, policy, 0, 20).pieces, policy)
	}
}
