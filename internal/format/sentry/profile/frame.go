// SPDX-License-Identifier: Apache-2.0

package profile

// Frame is one frame of a sampled profile, with the attributes that Sentry's ingest keeps for
// profiles (relay-profiling/src/sample/mod.rs). Absent and empty text are the same. Attributes of
// error events (vars, context_line, symbol_addr, lang, …) are not decoded: ingest drops them from
// profiles.
//
// Its strings are views into the decoded payload: valid until the Decoder is used again or the
// payload changes.
type Frame struct {
	Function string // also sent as "name"; may be mangled on native platforms
	Module   string // Python module, Java class, Node module path, Go package
	Filename string // also sent as "file"; path relative to the project, a class name in Java
	AbsPath  string // absolute path or URL
	Package  string // path or name of the native library
	Platform string // overrides the profile's platform: a Cocoa frame in a JavaScript profile

	InstructionAddr uint64 // absolute address; 0 = none. A hex string or a number on the wire
	Line            uint32 // also sent as "line"; 1-based, 0 = none
	Column          uint32 // also sent as "column"; 1-based, 0 = none
	InApp           InApp
}

// InApp is whether a frame belongs to the application. Absent is a distinct value: Sentry's rules
// then decide.
type InApp int8

const (
	InAppAbsent InApp = iota
	InAppFalse
	InAppTrue
)
