// SPDX-License-Identifier: Apache-2.0

package native

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// ref is the place of a string in the table. 0 is the empty string.
type ref uint32

// interner stores each string once, as its length and its bytes. It is a hash table of refs,
// because a map of strings would need several times the memory.
type interner struct {
	text  []byte
	seed  maphash.Seed
	slots []ref
	used  int
}

func newInterner() *interner {
	return &interner{seed: maphash.MakeSeed(), slots: make([]ref, 1<<10)}
}

func (t *interner) ref(s string) ref {
	s = s[:min(len(s), maxName)]
	if s == "" || len(t.text) > maxBuilt { // the builder reports that it is too large
		return 0
	}
	if 4*t.used >= 3*len(t.slots) {
		t.grow()
	}
	slot := t.slot(s)
	if *slot == 0 {
		*slot = ref(len(t.text))
		t.used++
		t.text = append(binary.AppendUvarint(t.text, uint64(len(s))), s...)
	}
	return *slot
}

func (t *interner) get(at ref) string {
	n, size := binary.Uvarint(t.text[at:])
	if n == 0 {
		return ""
	}
	return unsafe.String(&t.text[int(at)+size], int(n)) // appending does not change the bytes
}

// slot returns the slot of s, or the free slot for it.
func (t *interner) slot(s string) *ref {
	mask := uint64(len(t.slots) - 1)
	for i := maphash.String(t.seed, s) & mask; ; i = (i + 1) & mask {
		if at := t.slots[i]; at == 0 || t.get(at) == s {
			return &t.slots[i]
		}
	}
}

func (t *interner) grow() {
	old := t.slots
	t.slots = make([]ref, 2*len(old))
	for _, at := range old {
		if at != 0 {
			*t.slot(t.get(at)) = at
		}
	}
}
