// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"sort"
	"unsafe"
)

// Mapping is a mapping file in memory, without pointers per class or member. It uses a sixth to a
// quarter of the size of the file. It is immutable.
type Mapping struct {
	// Unreadable is the number of ignored lines: neither class nor member, or longer than any
	// compiler writes.
	Unreadable int

	strings stringTable
	classes []class  // sorted by the obfuscated name
	files   []uint32 // indices of classes that have a source file or are synthesized, sorted by the original name's ref
	members []byte   // see members.go
}

// class is a class line of the file.
type class struct {
	obfuscated, original ref
	file                 ref    // of the annotation sourceFile; 0 is none
	members              uint32 // the start in Mapping.members
	synthesized          bool
}

// Bytes returns the approximate memory of the mapping.
func (m *Mapping) Bytes() int64 {
	return int64(cap(m.strings.text)) + int64(cap(m.classes))*int64(unsafe.Sizeof(class{})) + 4*int64(cap(m.files)) + int64(cap(m.members))
}

// Class returns the original name of a class, for the types of exceptions.
func (m *Mapping) Class(obfuscated string) (original string, ok bool) {
	c, ok := m.class(obfuscated)
	return m.strings.get(c.original), ok
}

func (m *Mapping) class(obfuscated string) (class, bool) {
	i := sort.Search(len(m.classes), func(i int) bool { return m.strings.get(m.classes[i].obfuscated) > obfuscated })
	// If a file has a class twice, the last one counts.
	if i == 0 || m.strings.get(m.classes[i-1].obfuscated) != obfuscated {
		return class{}, false
	}
	return m.classes[i-1], true
}

// annotated returns the class with an original name if the file has annotations for it.
func (m *Mapping) annotated(original ref) (class, bool) {
	i := sort.Search(len(m.files), func(i int) bool { return m.classes[m.files[i]].original >= original })
	if i == len(m.files) || m.classes[m.files[i]].original != original {
		return class{}, false
	}
	return m.classes[m.files[i]], true
}
