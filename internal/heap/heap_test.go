// SPDX-License-Identifier: Apache-2.0

package heap

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

type item struct{ order, place int }

func (i *item) Before(other *item) bool { return i.order < other.order }
func (i *item) Place() *int             { return &i.place }

// TestHeapAgainstList compares a heap with a list on random changes.
func TestHeapAgainstList(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h Heap[*item]
	var all []*item
	for range 5000 {
		switch n := len(all); {
		case n == 0 || random.IntN(3) == 0:
			i := &item{order: random.IntN(50)}
			h.Push(i)
			all = append(all, i)
		case random.IntN(2) == 0:
			i := random.IntN(n)
			h.Remove(all[i])
			all = slices.Delete(all, i, i+1)
		default:
			i := all[random.IntN(n)]
			i.order = random.IntN(50)
			h.Fix(i)
		}
		require.Len(t, h, len(all))
		for place, i := range h {
			require.Equal(t, place, i.place)
		}
		if len(all) > 0 {
			require.Equal(t, slices.MinFunc(all, func(a, b *item) int { return a.order - b.order }).order, h[0].order)
		}
	}
}
