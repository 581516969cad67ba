// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"
)

// ref is the place of a string in a stringTable. 0 is the empty string.
type ref uint32

// stringTable stores each string once: its length, then its bytes.
type stringTable struct{ text []byte }

func (t stringTable) get(at ref) string {
	if at == 0 {
		return ""
	}
	n, size := binary.Uvarint(t.text[at:])
	start := int(at) + size
	return unsafe.String(unsafe.SliceData(t.text[start:]), int(n)) // the table is immutable once it is read
}

// interner fills a stringTable. It is a hash table of refs: a map of strings would need several
// times the memory of the short names here.
type interner struct {
	stringTable
	seed  maphash.Seed
	slots []ref
	used  int
}

func newInterner() *interner {
	return &interner{stringTable: stringTable{text: []byte{0}}, seed: maphash.MakeSeed(), slots: make([]ref, 1<<10)}
}

func (t *interner) ref(s []byte) ref {
	if len(s) == 0 {
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

// slot returns the slot of s, or the free slot for it.
func (t *interner) slot(s []byte) *ref {
	mask := uint64(len(t.slots) - 1)
	for i := maphash.Bytes(t.seed, s) & mask; ; i = (i + 1) & mask {
		if at := t.slots[i]; at == 0 || t.get(at) == string(s) {
			return &t.slots[i]
		}
	}
}

func (t *interner) grow() {
	old := t.slots
	t.slots = make([]ref, 2*len(old))
	for _, at := range old {
		if at != 0 {
			s := t.get(at)
			*t.slot(unsafe.Slice(unsafe.StringData(s), len(s))) = at
		}
	}
}
