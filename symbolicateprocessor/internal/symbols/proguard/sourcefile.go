// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"path"
	"strings"
)

// syntheticFile is R8's name of the file of a class that it created.
const syntheticFile = "R8$$SyntheticClass"

// file returns the source file of an original class: from its annotation, otherwise the file in
// which a compiler expects the class. The extension is that of the section's file.
func (m *Mapping) file(section class, original ref) string {
	name := m.strings.Get(original)
	if annotated, ok := m.annotated(original); ok && annotated.file != 0 {
		if file := m.strings.Get(annotated.file); file != syntheticFile {
			return file
		}
		return outerClass(name)
	}
	return derivedFile(name, path.Ext(m.strings.Get(section.file)))
}

// derivedFile returns the file of a class: Foo.java for a.b.Foo$1; Foo.kt for the class FooKt that
// Kotlin creates for functions of Foo.kt.
func derivedFile(class, extension string) string {
	for _, segment := range strings.Split(class[strings.LastIndexByte(class, '.')+1:], "$") {
		if file, ok := strings.CutSuffix(segment, "Kt"); ok && file != "" {
			return file + ".kt"
		}
	}
	if extension == "" {
		extension = ".java"
	}
	return outerClass(class) + extension
}

// outerClass returns the simple name of the class that contains the class.
func outerClass(class string) string {
	name, _, _ := strings.Cut(class[strings.LastIndexByte(class, '.')+1:], "$")
	return name
}
