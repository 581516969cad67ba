// SPDX-License-Identifier: Apache-2.0

package callstack

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestTable compares with a list of the stacks that were added.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var table Table
	var list [][]int32
	for range 2000 {
		frames := make([]int32, r.IntN(6))
		for i := range frames {
			frames[i] = r.Int32N(3)
		}
		want := slices.IndexFunc(list, func(known []int32) bool { return slices.Equal(known, frames) })
		index, added := table.Add(frames)
		if want < 0 {
			want = len(list)
			list = append(list, slices.Clone(frames))
			require.True(t, added)
		} else {
			require.False(t, added)
		}
		require.Equal(t, want, int(index))
		clear(frames) // they are the caller's
	}
	require.Equal(t, len(list), table.Len())
	for i, frames := range list {
		require.True(t, slices.Equal(frames, table.At(int32(i))))
	}
}

// TestEqualHashes: stacks are told apart by their frames.
func TestEqualHashes(t *testing.T) {
	var table Table
	table.add(hashOf([]int32{1, 2}), []int32{3}) // as if both had one hash
	index, added := table.Add([]int32{1, 2})
	assert.True(t, added)
	assert.Equal(t, []int32{1, 2}, table.At(index))
	again, added := table.Add([]int32{1, 2})
	assert.False(t, added)
	assert.Equal(t, index, again)
}
