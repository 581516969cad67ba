// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"path"
	"strings"
)

// DisplayName returns the name of a function for users. In JVM languages, methods of many classes
// have the same name, so it includes the class.
func (f *Frame) DisplayName() string {
	if class := f.class(); class != "" {
		return class + "." + f.Name
	}
	return f.Name
}

// class returns the class of a JVM method without its package; "" if the name may already have it.
func (f *Frame) class() string {
	if !f.JVM || strings.Contains(f.Name, ".") {
		return ""
	}
	return f.Module[strings.LastIndexByte(f.Module, '.')+1:]
}

// maxMinified is the maximum length of names that minifiers assign. They count through the letters;
// two are enough for thousands of names.
const maxMinified = 2

// Minified reports whether a function probably has a name that a minifier assigned: R8 renames
// classes and methods, and bundlers for JavaScript all local functions.
func (f *Frame) Minified() bool {
	switch path.Ext(f.File) {
	case ".js", ".mjs", ".cjs":
		return isMinified(f.Name) && f.InApp != InAppNo
	}
	return f.JVM && isMinified(f.class()) && isMinified(f.Name)
}

func isMinified(name string) bool {
	if name == "" || len(name) > maxMinified {
		return false
	}
	for _, c := range name {
		if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '$' && c != '_' {
			return false
		}
	}
	return true
}

// isJVM reports whether a file has code in a language of the JVM.
func isJVM(file string) bool {
	switch path.Ext(file) {
	case ".java", ".kt", ".kts", ".scala", ".groovy", ".clj":
		return true
	}
	return false
}
