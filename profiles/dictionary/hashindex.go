// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"encoding/binary"
	"hash/maphash"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// hashIndex finds the position of an entry in a table by its hash. It stores only hashes and
// positions; the caller compares the entries. Position 0, the zero entry of the table, is never
// stored and marks a free slot.
//
// It uses open addressing with linear probing and is at most half full.
type hashIndex struct {
	slots []slot // the length is zero or a power of two
	used  int
}

type slot struct {
	hash uint32
	pos  int32
}

const (
	// minSlots is the initial size. 64 slots have 512 bytes and are enough for 32 entries.
	minSlots = 64

	// maxKeptSlots bounds the memory that a released Builder keeps per table: 1 MiB, enough for
	// 65,536 distinct entries, which is more than in the largest recorded payload (a 34 MB Node
	// chunk).
	maxKeptSlots = 1 << 17
)

// reset empties the index and sizes it for n entries. It reuses its memory if that is large enough,
// and clears only the part that will be used.
func (x *hashIndex) reset(n int) {
	x.used = 0
	size := slotsFor(n)
	if size > cap(x.slots) {
		x.slots = make([]slot, size)
		return
	}
	x.slots = x.slots[:size]
	clear(x.slots)
}

// reserve grows the index to hold n entries in total.
func (x *hashIndex) reserve(n int) {
	if x.used > 0 {
		x.resize(slotsFor(n))
	} else if slotsFor(n) > len(x.slots) {
		x.reset(n)
	}
}

// trim drops memory that is too large to keep between profiles.
func (x *hashIndex) trim() {
	if cap(x.slots) > maxKeptSlots {
		*x = hashIndex{}
	}
}

// find returns the position of the entry with this hash for which equal returns true, or 0.
func (x *hashIndex) find(hash uint32, equal func(pos int32) bool) int32 {
	mask := uint32(len(x.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := x.slots[i]
		if s.pos == 0 {
			return 0
		}
		if s.hash == hash && equal(s.pos) {
			return s.pos
		}
	}
}

// add stores the position of a new entry. A position always fits into int32: 2^31 entries need more
// memory than any payload limit allows, so exceeding it is a bug, not bad input.
func (x *hashIndex) add(hash uint32, pos int) {
	if pos > math.MaxInt32 {
		panic("dictionary: table has more than 2^31-1 entries")
	}
	if 2*(x.used+1) > len(x.slots) {
		// Grow fourfold, because growing copies all slots. Callers that need less memory provide
		// hints.
		x.resize(4 * len(x.slots))
	}
	x.put(slot{hash: hash, pos: int32(pos)})
	x.used++
}

// resize grows the index, in its own memory if that is large enough.
func (x *hashIndex) resize(size int) {
	if size <= len(x.slots) {
		return
	}
	old := x.slots
	if size <= cap(old) {
		old = slices.Clone(old)
		x.slots = x.slots[:size]
		clear(x.slots)
	} else {
		x.slots = make([]slot, size)
	}
	for _, s := range old {
		if s.pos != 0 {
			x.put(s)
		}
	}
}

func (x *hashIndex) put(s slot) {
	mask := uint32(len(x.slots) - 1)
	i := s.hash & mask
	for x.slots[i].pos != 0 {
		i = (i + 1) & mask
	}
	x.slots[i] = s
}

// slotsFor returns how many slots keep n entries at most half full.
func slotsFor(n int) int {
	size := minSlots
	for size < 2*n {
		size *= 2
	}
	return size
}

// The hashes are seeded per process, so that hostile payloads cannot provoke collisions.
var (
	byteSeed = maphash.MakeSeed()
	wordSeed = rand.Uint64()
)

func hashString(s string) uint64 { return maphash.String(byteSeed, s) }

func hashBytes(b []byte) uint64 { return maphash.Bytes(byteSeed, b) }

func hashIndices[I ~int32](indices []I) uint64 {
	return maphash.Bytes(byteSeed, indexBytes(indices))
}

// mix adds a word to a hash with a full 64x64-bit multiplication that uses both halves, as in
// wyhash.
func mix(hash, word uint64) uint64 {
	hi, lo := bits.Mul64(hash^word, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// mix2 adds two indices to a hash.
func mix2[A, B ~int32](hash uint64, a A, b B) uint64 {
	return mix(hash, uint64(uint32(a))<<32|uint64(uint32(b)))
}

// short returns the stored form of a hash.
func short(hash uint64) uint32 { return uint32(hash ^ hash>>32) }

func hashLink(l link) uint64 {
	hash := mix(wordSeed, binary.LittleEndian.Uint64(l.trace[:8]))
	hash = mix(hash, binary.LittleEndian.Uint64(l.trace[8:]))
	return mix(hash, binary.LittleEndian.Uint64(l.span[:]))
}
