// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"sort"
	"unsafe"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Mapping is a mapping file in memory, without pointers per class or member. It uses a sixth to a
// quarter of the size of the file. It is immutable.
type Mapping struct {
	// Unreadable is the number of ignored lines: neither class nor member, or longer than any
	// compiler writes.
	Unreadable int

	strings symbols.Strings
	classes []class  // sorted by the obfuscated name
	files   []uint32 // indices of classes that have a source file or are synthesized, sorted by the original name's ref
	methods []method // of all classes, see class.methods
	members []byte   // see members.go
	pairs   []pair   // of outlines
	rules   []rewrite
	large   map[uint32]*largeMethod // by method.members
}

// class is a class line of the file.
type class struct {
	obfuscated, original ref
	file                 ref  // of the annotation sourceFile; 0 is none
	methods              span // in Mapping.methods, sorted by name
	synthesized          bool
}

// method has the members with one obfuscated name in a class.
type method struct {
	name    ref
	members uint32 // the start in Mapping.members
}

// span is a part of a list.
type span struct{ from, to uint32 }

// Bytes returns the approximate memory of the mapping.
func (m *Mapping) Bytes() int64 {
	bytes := int64(cap(m.strings.Text)) + int64(cap(m.members)) + 4*int64(cap(m.files)) + sizeOf(m.classes) + sizeOf(m.methods) + sizeOf(m.pairs) + sizeOf(m.rules)
	for _, method := range m.large {
		bytes += method.bytes()
	}
	return bytes
}

func sizeOf[T any](list []T) int64 { return int64(cap(list)) * int64(unsafe.Sizeof(*new(T))) }

// Class returns the original name of a class, for the types of exceptions.
func (m *Mapping) Class(obfuscated string) (original string, ok bool) {
	c, ok := m.class(obfuscated)
	return m.strings.Get(c.original), ok
}

func (m *Mapping) class(obfuscated string) (class, bool) {
	i := sort.Search(len(m.classes), func(i int) bool { return m.strings.Get(m.classes[i].obfuscated) > obfuscated })
	// If a file has a class twice, the last one counts.
	if i == 0 || m.strings.Get(m.classes[i-1].obfuscated) != obfuscated {
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
