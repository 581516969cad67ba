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

// hashIndex finds the position of an entry in one table by the hash of the entry. It stores only
// hashes and positions; the entries are in the table, and the caller compares them. Position 0 is
// the zero entry of the table: it is never stored here and marks a free slot.
//
// It uses open addressing with linear probing and is at most half full.
type hashIndex struct {
	slots []slot // a power of two, or none
	used  int
}

type slot struct {
	hash uint32
	pos  int32
}

const (
	// minSlots is the first size: 64 slots are 512 bytes, and a profile with fewer than 32 entries
	// in a table never grows it.
	minSlots = 64

	// maxKeptSlots bounds what a released Builder keeps per table for its next use: 1 MiB, enough
	// for 65,536 distinct entries, which is more than the largest recorded payload has (a 34 MB
	// Node chunk).
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

// reserve grows the index for n entries in total.
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

// add stores the position of an entry that find did not find. A table cannot exceed int32: 2^31
// entries need more memory than any payload limit allows, so reaching it is a bug and not bad
// input.
func (x *hashIndex) add(hash uint32, pos int) {
	if pos > math.MaxInt32 {
		panic("dictionary: table has more than 2^31-1 entries")
	}
	if 2*(x.used+1) > len(x.slots) {
		// Fourfold: growing copies everything, and a caller who cares about the last factor of two
		// has given hints.
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

// The hashes are seeded per process, so that payloads cannot be built with entries that all
// collide.
var (
	byteSeed = maphash.MakeSeed()
	wordSeed = rand.Uint64()
)

func hashString(s string) uint64 { return maphash.String(byteSeed, s) }

func hashBytes(b []byte) uint64 { return maphash.Bytes(byteSeed, b) }

func hashIndices[I ~int32](indices []I) uint64 {
	return maphash.Bytes(byteSeed, indexBytes(indices))
}

// mix folds one more word into a hash: a full 64x64-bit multiplication, both halves kept, as wyhash
// does it.
func mix(hash, word uint64) uint64 {
	hi, lo := bits.Mul64(hash^word, 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// mix2 folds in two indices.
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
