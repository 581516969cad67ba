// SPDX-License-Identifier: Apache-2.0

package symbols

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// Ref is the place of a string in Strings. 0 is the empty string.
type Ref uint32

// Strings stores strings, each as its length and its bytes. The text begins with a zero.
type Strings struct{ Text []byte }

// Get returns a string.
func (t Strings) Get(at Ref) string {
	n, size := binary.Uvarint(t.Text[at:])
	if n == 0 {
		return ""
	}
	return unsafe.String(&t.Text[int(at)+size], int(n)) // appending does not change the bytes
}

// Interner stores each string once. It is a hash table of refs: a map of strings would need several
// times the memory.
type Interner struct {
	Strings
	seed  maphash.Seed
	slots []Ref
	used  int
}

// NewInterner returns an interner that appends to text.
func NewInterner(text []byte) *Interner {
	return &Interner{Strings: Strings{append(text, 0)}, seed: maphash.MakeSeed(), slots: make([]Ref, 1<<10)}
}

// TableBytes returns the size of the hash table, which grows to twice its size.
func (t *Interner) TableBytes() int64 { return 4 * int64(len(t.slots)) }

// Intern returns the place of a string, and copies it if it is new.
func (t *Interner) Intern(s string) Ref {
	if s == "" {
		return 0
	}
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	slot := t.slot(s)
	if *slot == 0 {
		*slot = Ref(len(t.Text))
		t.used++
		t.Text = append(binary.AppendUvarint(t.Text, uint64(len(s))), s...)
	}
	return *slot
}

// slot returns the slot of s, or the free slot for it.
func (t *Interner) slot(s string) *Ref {
	mask := uint64(len(t.slots) - 1)
	for i := maphash.String(t.seed, s) & mask; ; i = (i + 1) & mask {
		if at := t.slots[i]; at == 0 || t.Get(at) == s {
			return &t.slots[i]
		}
	}
}

func (t *Interner) grow() {
	old := t.slots
	t.slots = make([]Ref, 2*len(old))
	for _, at := range old {
		if at != 0 {
			*t.slot(t.Get(at)) = at
		}
	}
}
