// SPDX-License-Identifier: Apache-2.0

package records

import "math/bits"

// Table finds references by the hash of their records. It does not store the records and uses 5 to
// 8 bytes per record, without pointers. References have at most 26 bits.
//
// The table consists of parts that grow separately, by open addressing with linear probing, because
// rehashing the whole table at once would take too long. Their number grows by one at a time
// (linear hashing): if the lowest k bits of a hash are not yet the number of a part, the lowest k-1
// bits are.
type Table[R ~int32] struct {
	hashOf func(R) uint64
	parts  []part[R]
	used   int
}

type part[R ~int32] struct {
	slots []uint32 // 0 = free
	used  int
}

const (
	// A slot contains a reference and, in the upper bits, a part of the hash. Without it, nearly
	// every probe would read a record.
	refBits = 26
	refMask = 1<<refBits - 1

	minSlots = 8
	// partLen is the average number of references per part. A part has about twice as many before
	// it is split; growing or splitting visits them, which takes a few hundred microseconds.
	partLen = 2048
)

// NewTable returns an empty table. hashOf returns the hash of an existing record.
func NewTable[R ~int32](hashOf func(R) uint64) *Table[R] {
	return &Table[R]{hashOf: hashOf, parts: make([]part[R], 1)}
}

// partOf returns the part for a hash, selected by the lowest bits. The bits from 20 on determine
// the position in the part; the highest bits are in the slot.
func (t *Table[R]) partOf(hash uint64) *part[R] {
	mask := uint64(1)<<bits.Len(uint(len(t.parts)-1)) - 1
	i := hash & mask
	if i >= uint64(len(t.parts)) {
		i &= mask >> 1
	}
	return &t.parts[i]
}

func slotOf[R ~int32](hash uint64, r R) uint32 { return uint32(hash>>32)&^refMask | uint32(r) }

// position returns the position of a hash: a fraction of the part's length.
func (p *part[R]) position(hash uint64) int {
	return int(uint64(uint32(hash>>20)) * uint64(len(p.slots)) >> 32)
}

// next returns the position after i.
func (p *part[R]) next(i int) int {
	if i++; i < len(p.slots) {
		return i
	}
	return 0
}

// distance returns the number of steps from one position to another.
func (p *part[R]) distance(from, to int) int {
	if from <= to {
		return to - from
	}
	return to - from + len(p.slots)
}

// Find returns the reference with this hash for which equal returns true, or 0.
func (t *Table[R]) Find(hash uint64, equal func(R) bool) R {
	p := t.partOf(hash)
	if p.used == 0 {
		return 0
	}
	for i := p.position(hash); p.slots[i] != 0; i = p.next(i) {
		if r := R(p.slots[i] & refMask); p.slots[i] == slotOf(hash, r) && equal(r) {
			return r
		}
	}
	return 0
}

// Add adds a reference that is not in the table.
func (t *Table[R]) Add(hash uint64, r R) {
	if t.used++; t.used > partLen*len(t.parts) {
		t.split()
	}
	t.put(hash, r)
}

// split adds a part, and moves references to it from the part that they were in.
func (t *Table[R]) split() {
	added := len(t.parts)
	t.parts = append(t.parts, part[R]{})
	from := &t.parts[added^1<<(bits.Len(uint(added))-1)] // the same number without its highest bit
	old := from.slots
	*from, t.parts[added] = part[R]{slots: freeSlots(len(old) / 2)}, part[R]{slots: freeSlots(len(old) / 2)}
	for _, s := range old {
		if r := R(s & refMask); r != 0 {
			t.put(t.hashOf(r), r)
		}
	}
}

func (t *Table[R]) put(hash uint64, r R) {
	p := t.partOf(hash)
	if 4*(p.used+1) > 3*len(p.slots) {
		t.resize(p, max(minSlots, len(p.slots)*5/4))
	}
	p.put(hash, r)
	p.used++
}

func (p *part[R]) put(hash uint64, r R) {
	i := p.position(hash)
	for p.slots[i] != 0 {
		i = p.next(i)
	}
	p.slots[i] = slotOf(hash, r)
}

func (t *Table[R]) resize(p *part[R], size int) {
	old := p.slots
	p.slots = freeSlots(size)
	for _, s := range old {
		if s != 0 {
			r := R(s & refMask)
			p.put(t.hashOf(r), r)
		}
	}
}

// freeSlots returns at least n slots: as many as fit into the memory that Go allocates for them.
func freeSlots(n int) []uint32 {
	slots := append([]uint32(nil), make([]uint32, n)...)
	return slots[:cap(slots)]
}

// Replace replaces a reference with another one that has the same hash.
func (t *Table[R]) Replace(hash uint64, old, r R) {
	p := t.partOf(hash)
	p.slots[p.find(hash, old)] = slotOf(hash, r)
}

// Remove removes a reference. The record must still exist.
func (t *Table[R]) Remove(hash uint64, r R) {
	p := t.partOf(hash)
	free := p.find(hash, r)
	// Fill the gap with the next reference that may move there, and repeat for the gap that it
	// leaves.
	for i := p.next(free); p.slots[i] != 0; i = p.next(i) {
		home := p.position(t.hashOf(R(p.slots[i] & refMask)))
		if p.distance(home, i) >= p.distance(free, i) {
			p.slots[free] = p.slots[i]
			free = i
		}
	}
	p.slots[free] = 0
	if p.used--; len(p.slots) > minSlots && 8*p.used < len(p.slots) || p.used == 0 {
		t.resize(p, nextSize(p.used))
	}
	if t.used--; t.used == 0 {
		t.parts = make([]part[R], 1)
	}
}

// nextSize returns the size of a part that shrinks.
func nextSize(used int) int {
	if used == 0 {
		return 0
	}
	return max(minSlots, 2*used)
}

// find returns the position of an existing reference.
func (p *part[R]) find(hash uint64, r R) int {
	i := p.position(hash)
	for R(p.slots[i]&refMask) != r {
		i = p.next(i)
	}
	return i
}
