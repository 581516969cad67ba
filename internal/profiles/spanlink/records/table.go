// SPDX-License-Identifier: Apache-2.0

package records

// Table finds references by the hash of their records, which it does not store: at most
// 10 bytes a record, without pointers. References have at most 26 bits. It uses open addressing with linear probing. It consists of
// parts that grow separately, because moving the references of a complete table would take long.
type Table[R ~int32] struct {
	hashOf func(R) uint64
	parts  [256]part[R]
}

type part[R ~int32] struct {
	slots []uint32 // a power of two, or none; 0 is free
	used  int
}

const (
	// A slot has a reference and, above it, bits of the hash: without these, nearly each probe would
	// read a record.
	refBits = 26
	refMask = 1<<refBits - 1

	minSlots = 8
)

// NewTable returns an empty table. The function returns the hash of a record, which exists.
func NewTable[R ~int32](hashOf func(R) uint64) *Table[R] {
	return &Table[R]{hashOf: hashOf}
}

// partOf returns the part for a hash: its lowest eight bits. The next bits are the position in the
// part, the highest ones are in the slot.
func (t *Table[R]) partOf(hash uint64) *part[R] { return &t.parts[hash%256] }

func slotOf[R ~int32](hash uint64, r R) uint32 { return uint32(hash>>32)&^refMask | uint32(r) }

func (p *part[R]) position(hash uint64) int { return int(hash>>8) & (len(p.slots) - 1) }

// Find returns the reference with this hash for which equal returns true, or 0.
func (t *Table[R]) Find(hash uint64, equal func(R) bool) R {
	p := t.partOf(hash)
	if p.used == 0 {
		return 0
	}
	for i := p.position(hash); p.slots[i] != 0; i = (i + 1) & (len(p.slots) - 1) {
		if r := R(p.slots[i] & refMask); p.slots[i] == slotOf(hash, r) && equal(r) {
			return r
		}
	}
	return 0
}

// Add adds a reference that Find does not find.
func (t *Table[R]) Add(hash uint64, r R) {
	p := t.partOf(hash)
	if 4*(p.used+1) > 3*len(p.slots) {
		t.resize(p, max(minSlots, 2*len(p.slots)))
	}
	p.put(hash, r)
	p.used++
}

func (p *part[R]) put(hash uint64, r R) {
	i := p.position(hash)
	for p.slots[i] != 0 {
		i = (i + 1) & (len(p.slots) - 1)
	}
	p.slots[i] = slotOf(hash, r)
}

func (t *Table[R]) resize(p *part[R], size int) {
	old := p.slots
	p.slots = make([]uint32, size)
	for _, s := range old {
		if s != 0 {
			r := R(s & refMask)
			p.put(t.hashOf(r), r)
		}
	}
}

// Replace replaces a reference by another one with the same hash.
func (t *Table[R]) Replace(hash uint64, old, r R) {
	p := t.partOf(hash)
	p.slots[p.find(hash, old)] = slotOf(hash, r)
}

// Remove removes a reference. The record must still be there.
func (t *Table[R]) Remove(hash uint64, r R) {
	p := t.partOf(hash)
	mask := len(p.slots) - 1
	free := p.find(hash, r)
	// Fill the gap with the next reference that may be there, and so on.
	for i := (free + 1) & mask; p.slots[i] != 0; i = (i + 1) & mask {
		home := p.position(t.hashOf(R(p.slots[i] & refMask)))
		if (i-home)&mask >= (i-free)&mask {
			p.slots[free] = p.slots[i]
			free = i
		}
	}
	p.slots[free] = 0
	if p.used--; len(p.slots) > minSlots && 8*p.used < len(p.slots) || p.used == 0 {
		t.resize(p, nextSize(p.used))
	}
}

// nextSize returns the size of a part that shrinks.
func nextSize(used int) int {
	if used == 0 {
		return 0
	}
	size := minSlots
	for size < 2*used {
		size *= 2
	}
	return size
}

// find returns the position of a reference that is there.
func (p *part[R]) find(hash uint64, r R) int {
	i := p.position(hash)
	for R(p.slots[i]&refMask) != r {
		i = (i + 1) & (len(p.slots) - 1)
	}
	return i
}
