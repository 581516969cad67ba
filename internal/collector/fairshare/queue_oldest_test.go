// SPDX-License-Identifier: Apache-2.0

package fairshare

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPushOldest: entries that are pushed at the old end, in reverse order, are where a Push of all
// in order puts them.
func TestPushOldest(t *testing.T) {
	for range 100 {
		var pushed, both Queue[int, int]
		split, tenants := rand.IntN(20), make([]int, 20)
		for i := range tenants {
			tenants[i] = rand.IntN(3)
			pushed.Push(tenants[i], i, int64(i))
		}
		for i := split - 1; i >= 0; i-- {
			both.PushOldest(tenants[i], i, int64(i))
		}
		for i := split; i < len(tenants); i++ {
			both.Push(tenants[i], i, int64(i))
		}
		for pushed.Len() > 0 {
			assert.Equal(t, pushed.Size(), both.Size())
			assert.Equal(t, pushed.Len(), both.Len())
			for tenant := range 3 {
				assert.Equal(t, pushed.Use(tenant), both.Use(tenant))
			}
			var got, want []int
			for e := pushed.Oldest(); e != nil; e = e.Newer() {
				want = append(want, e.Value)
			}
			for e := both.Oldest(); e != nil; e = e.Newer() {
				got = append(got, e.Value)
			}
			assert.Equal(t, want, got)
			tenant := pushed.Oldest().Tenant()
			assert.Equal(t, pushed.OldestOf(tenant).Value, both.OldestOf(tenant).Value)
			pushed.Remove(pushed.Oldest())
			both.Remove(both.Oldest())
		}
	}
}
