// SPDX-License-Identifier: Apache-2.0

package native

import (
	"encoding/binary"
	"fmt"
)

// debug/gosym copies the name of each function, and searches the file of a function in a list that
// many functions can share: both are quadratic.

// goTable is the function table of a Go program (runtime/symtab.go).
type goTable struct {
	order                      binary.ByteOrder
	version                    goVersion
	quantum                    uint64
	pointer                    uint64 // size
	functions                  uint64
	code                       uint64 // address
	names, units, files, lists []byte // funcnametab, cutab, filetab, pctab
	index, data                []byte // functab, funcdata
}

type goVersion uint8

const (
	go12 goVersion = iota
	go116
	go118
)

var goVersions = map[uint32]goVersion{0xfffffffb: go12, 0xfffffffa: go116, 0xfffffff0: go118, 0xfffffff1: go118}

// goFunctions reads the function table of a Go program. It is in stripped programs too, because the
// runtime needs it.
func goFunctions(b *builder, in *input, file *elfFile) error {
	code := file.section(".text")
	content, err := file.content(in, ".gopclntab")
	if err != nil || code == nil || len(content) == 0 {
		return err
	}
	t, err := readGoTable(content, code.Addr)
	if err != nil {
		return err
	}
	for i := range t.functions {
		entry, end, data := t.function(i)
		if end <= entry || data == nil {
			continue
		}
		sites := len(b.sites)
		if err := b.addSymbol(text(t.names, uint64(t.field(data, 1))), entry, end-entry); err != nil {
			return err
		}
		if len(b.sites) > sites {
			b.sites[sites].file = b.ref(t.file(data))
		}
	}
	return nil
}

func readGoTable(content []byte, code uint64) (*goTable, error) {
	bad := fmt.Errorf("%w: .gopclntab", ErrDamaged)
	if len(content) < 8 {
		return nil, bad
	}
	t := &goTable{order: binary.LittleEndian, code: code, quantum: uint64(content[6]), pointer: uint64(content[7])}
	version, ok := goVersions[t.order.Uint32(content)]
	if !ok {
		t.order = binary.BigEndian
		version, ok = goVersions[t.order.Uint32(content)]
	}
	if t.version = version; !ok || t.pointer != 4 && t.pointer != 8 {
		return nil, bad
	}
	c := cursor{data: content[8:], order: t.order}
	word := func() uint64 { return c.address(uint8(t.pointer)) }
	part := func() []byte { return from(content, word()) }
	t.functions = word()
	switch version {
	case go12:
		t.names, t.lists, t.data, t.index = content, content, content, c.data
		at := from(c.data, (2*min(t.functions, uint64(len(content)))+1)*t.pointer)
		if len(at) >= 4 {
			t.files = from(content, uint64(t.order.Uint32(at)))
		}
	case go118:
		word() // the number of files
		word() // the start of the code, which the linker does not always write
		t.names, t.units, t.files, t.lists, t.data = part(), part(), part(), part(), part()
		t.index = t.data
	case go116:
		word()
		t.names, t.units, t.files, t.lists, t.data = part(), part(), part(), part(), part()
		t.index = t.data
	}
	if c.bad || t.functions > uint64(len(t.index))/(2*t.offsetSize()) {
		return nil, fmt.Errorf("%w: .gopclntab has %d bytes and %d functions", ErrDamaged, len(content), t.functions)
	}
	return t, nil
}

// from returns the part of a table from an offset.
func from(table []byte, at uint64) []byte { return table[min(at, uint64(len(table))):] }

// offsetSize returns the size of a number in the index.
func (t *goTable) offsetSize() uint64 {
	if t.version == go118 {
		return 4
	}
	return t.pointer
}

// function returns the addresses of a function, and its data, nil if there is none.
func (t *goTable) function(i uint64) (entry, end uint64, data []byte) {
	c := cursor{data: from(t.index, 2*i*t.offsetSize()), order: t.order}
	size := uint8(t.offsetSize())
	entry, at, end := c.address(size), c.address(size), c.address(size)
	if t.version == go118 {
		entry, end = entry+t.code, end+t.code
	}
	if data = from(t.data, at); c.bad || uint64(len(data)) < t.offsetSize()+9*4 {
		return 0, 0, nil
	}
	return entry, end, data
}

// field returns a field of a function's data, from 1.
func (t *goTable) field(data []byte, n uint64) uint32 {
	return t.order.Uint32(data[t.offsetSize()+4*(n-1):])
}

// maxGoSteps bounds the entries that are read of a function's list of files: the first one has its
// entry, unless it is empty.
const maxGoSteps = 4

// file returns the file of a function's entry.
func (t *goTable) file(data []byte) string {
	const listOfFiles, offsetOfUnit = 5, 8
	c := cursor{data: from(t.lists, uint64(t.field(data, listOfFiles))), order: t.order}
	number := int32(-1)
	for range maxGoSteps {
		delta := uint32(c.uleb())
		number += int32(delta>>1) ^ -int32(delta&1)
		if c.uleb()*t.quantum == 0 && !c.bad {
			continue
		}
		if c.bad || number < 0 {
			return ""
		}
		if t.version == go12 {
			name := cursor{data: from(t.files, 4*uint64(number)), order: t.order}
			return text(t.data, uint64(name.u32()))
		}
		name := cursor{data: from(t.units, 4*(uint64(t.field(data, offsetOfUnit))+uint64(number))), order: t.order}
		if at := name.u32(); !name.bad && at != 1<<32-1 {
			return text(t.files, uint64(at))
		}
		return ""
	}
	return ""
}
