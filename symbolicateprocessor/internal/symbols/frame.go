// SPDX-License-Identifier: Apache-2.0

// Package symbols defines the common form of the information that symbol files have about a place
// in a program. Each family of files has a reader in a subfolder: sourcemap, proguard, native.
package symbols

// Frame is one function at a place: one line of an OTLP Location. A reader returns several frames,
// innermost first, if functions were inlined at the place.
type Frame struct {
	// Function is the name for display, demangled.
	Function string
	// Raw is the name in the file, usually mangled, if it differs from Function.
	Raw string
	// File is the path of the source file as the symbol file has it; empty if unknown.
	File string
	// Line and Column count from 1; 0 is unknown.
	Line, Column int64
	// Library reports that the symbol file marks the source as third-party code, like the
	// ignoreList of source maps.
	Library bool
}
