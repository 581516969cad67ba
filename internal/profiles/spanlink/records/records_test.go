// SPDX-License-Identifier: Apache-2.0

package records

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A table finds what a map finds, also if hashes are equal or are in a few parts only.
func TestTableAgainstMap(t *testing.T) {
	type ref int32
	for name, c := range map[string]struct {
		keys uint64
		hash func(key uint64) uint64
	}{
		"spread":     {10 * partLen, func(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 }},
		"one part":   {3 * partLen, func(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 << 20 }},
		"few hashes": {600, func(key uint64) uint64 { return key % 5 << 60 }},
	} {
		hash := c.hash
		r := rand.New(rand.NewPCG(1, 2))
		keys := []uint64{0} // by reference
		table := NewTable(func(r ref) uint64 { return hash(keys[r]) })
		want := map[uint64]ref{}
		find := func(key uint64) ref {
			return table.Find(hash(key), func(r ref) bool { return keys[r] == key })
		}
		for range 50_000 {
			key := r.Uint64N(c.keys)
			if got := find(key); got != want[key] {
				t.Fatalf("%s: Find returns %d, want %d", name, got, want[key])
			}
			switch old, known := want[key]; {
			case !known:
				want[key] = ref(len(keys))
				keys = append(keys, key)
				table.Add(hash(key), want[key])
			case r.IntN(4) == 0:
				want[key] = ref(len(keys))
				keys = append(keys, key)
				table.Replace(hash(key), old, want[key])
			default:
				delete(want, key)
				table.Remove(hash(key), old)
			}
		}
		for key, ref := range want {
			require.Equal(t, ref, find(key), name)
			table.Remove(hash(key), ref)
		}
		for i := range table.parts {
			require.Empty(t, table.parts[i].slots, name)
		}
	}
}

// Adding and removing a reference hashes a number of records that does not grow with the table.
func TestTableGrowsInSteps(t *testing.T) {
	type ref int32
	const n = 50 * partLen
	hashed, most := 0, 0
	hash := func(r ref) uint64 { hashed++; return uint64(r) * 0x9e3779b97f4a7c15 }
	table := NewTable(hash)
	for _, change := range []func(uint64, ref){table.Add, table.Remove} {
		for r := range ref(n) {
			h := hash(r + 1)
			hashed = 0
			change(h, r+1)
			most = max(most, hashed)
		}
	}
	assert.LessOrEqual(t, most, 4*partLen)
	require.Zero(t, table.used)
	require.Len(t, table.parts, 1)
}

// A slab gives each record a reference of its own, reuses released ones, and keeps one chunk when
// it is empty.
func TestSlab(t *testing.T) {
	type ref int32
	var s Slab[ref, int]
	r := rand.New(rand.NewPCG(3, 4))
	want := map[ref]int{}
	for i := range 10_000 {
		if r.IntN(3) > 0 {
			at := s.Alloc()
			if _, taken := want[at]; taken || at <= 0 || *s.At(at) != 0 {
				t.Fatalf("Alloc returns %d, in use: %t, value: %d", at, taken, *s.At(at))
			}
			*s.At(at), want[at] = i+1, i+1
			continue
		}
		for at := range want {
			s.Release(at)
			delete(want, at)
			break
		}
	}
	require.Equal(t, len(want), s.Len())
	for at, value := range want {
		require.Equal(t, value, *s.At(at))
		s.Release(at)
	}
	require.Equal(t, []int{0, 1, 1}, []int{s.Len(), len(s.chunks), len(s.released)})
}

// TestLastRecordComesAndGoes: a slab that is often empty does not allocate a chunk each time.
func TestLastRecordComesAndGoes(t *testing.T) {
	const n = 1000
	var s Slab[int32, [64]byte]
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range n {
		r := s.Alloc()
		assert.Zero(t, *s.At(r))
		s.At(r)[0] = 1
		s.Release(r)
	}
	runtime.ReadMemStats(&after)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n*chunkLen*64/4))
}
