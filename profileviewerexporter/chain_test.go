// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// TestChains: entries leave a chain from anywhere in it, and the last one takes the chain with it.
func TestChains(t *testing.T) {
	var none *chain[string]
	assert.Zero(t, none.count())
	assert.Empty(t, none.values())

	chains := map[pcommon.TraceID]*chain[string]{}
	one, other := pcommon.TraceID{1}, pcommon.TraceID{2}
	a, b, c, d := appendTo(chains, one, "a"), appendTo(chains, one, "b"), appendTo(chains, one, "c"), appendTo(chains, one, "d")
	x := appendTo(chains, other, "x")
	for _, step := range []struct {
		remove *chained[string]
		left   []string
	}{{nil, []string{"a", "b", "c", "d"}}, {b, []string{"a", "c", "d"}}, {a, []string{"c", "d"}}, {d, []string{"c"}}} {
		if step.remove != nil {
			removeFrom(chains, step.remove)
		}
		assert.Equal(t, step.left, chains[one].values())
		assert.Equal(t, len(step.left), chains[one].count())
	}
	assert.Equal(t, []string{"c", "e"}, func() []string { appendTo(chains, one, "e"); return chains[one].values() }())
	removeFrom(chains, chains[one].last)
	removeFrom(chains, c)
	removeFrom(chains, x)
	assert.Empty(t, chains)
}
