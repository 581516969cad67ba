// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"cmp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTimeSorter: as the standard library sorts, equal times in their order.
func TestTimeSorter(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 5000} {
		for _, spread := range []uint64{1, 1000, 60_000_000_000, 1 << 62} {
			var all, want []Observation
			state := uint64(n) + spread
			for i := range n {
				state = state*6364136223846793005 + 1442695040888963407
				all = append(all, Observation{Time: state >> 1 % spread, Stack: int32(i)})
			}
			want = append(want, all...)
			slices.SortStableFunc(want, func(a, b Observation) int { return cmp.Compare(a.Time, b.Time) })
			new(TimeSorter).Sort(all)
			require.Equal(t, want, all)
		}
	}
}
