// SPDX-License-Identifier: Apache-2.0

// Package inapp classifies code as application or library code by paths, modules and binaries, for
// profilers that do not state it. The Sentry exporter and the viewer share it.
package inapp

import (
	"cmp"
	"slices"
	"strings"
)

// Frame is the data about a function that a profiler sends. Fields may be empty.
type Frame struct {
	Type     string // profile.frame.type
	Function string
	Module   string
	File     string
	Package  string // the binary
}

// Guess reports whether a function belongs to the application. known is false if nothing indicates
// it.
func Guess(f Frame) (inApp, known bool) {
	switch f.Type {
	case "cpython":
		return !containsAny(f.File, pythonPaths) && !strings.HasPrefix(f.File, "<"), f.File != ""
	case "v8js", "hermes":
		return f.File != "" && !containsAny(f.File, nodePaths) && !hasPrefix(f.File, "node:", "internal/"), f.File != "" || strings.HasPrefix(f.Function, "(")
	case "php":
		return !strings.Contains(f.File, "/vendor/"), f.File != ""
	case "rust":
		return !containsAny(f.File, rustPaths), f.File != ""
	case "kernel":
		return false, true
	case "":
		return guessUntyped(f)
	}
	return Compiled(f), true
}

// Compiled guesses for languages that Sentry has no rule for, with false as the default. Unknown
// types count as native code.
func Compiled(f Frame) bool {
	switch f.Type {
	case "kernel":
		return false
	case "go":
		return isGoApp(f)
	case "jvm":
		return !IsJVMLibrary(f.Module)
	case "dotnet":
		return !hasPrefix(cmp.Or(f.Module, f.Function), dotnetPrefixes...)
	case "ruby", "perl", "luajit", "beam":
		return f.File != "" && f.File[0] != '<' && !containsAny(f.File, libraryPaths) // <cfunc> of Ruby
	}
	return f.Package != "" && !isSystemLibrary(f.Package)
}

var (
	pythonPaths    = []string{"/site-packages/", "/dist-packages/", "/lib/python", "/Lib/"}
	nodePaths      = []string{"node_modules/", "-extension://"}
	rustPaths      = []string{"/rustc/", "/.cargo/registry/", "/usr/local/cargo/registry/", "/rustlib/"}
	dotnetPrefixes = []string{"System.", "Microsoft.", "Interop."}
	goPaths        = []string{"/pkg/mod/", "/vendor/", "/go/src/"}
	// libraryPaths are the folders of package managers.
	libraryPaths = []string{"/gems/", "/lib/ruby/", "/usr/share/perl", "/usr/lib/", "/usr/local/lib/", "/deps/", "/site-packages/"}
	// anyPaths indicate a library in any language.
	anyPaths = slices.Concat(pythonPaths, nodePaths, rustPaths, goPaths, libraryPaths)
)

// guessUntyped classifies a function of an unknown language.
func guessUntyped(f Frame) (inApp, known bool) {
	switch {
	case f.File != "":
		return !containsAny(f.File, anyPaths) && !hasPrefix(f.File, "node:", "<"), true
	case f.Module != "":
		return false, IsJVMLibrary(f.Module)
	}
	return false, false
}

// isGoApp reports whether a function is neither in the standard library, whose packages have no dot
// in their first element, nor in a module cache or vendor folder.
func isGoApp(f Frame) bool {
	if containsAny(f.File, goPaths) {
		return false
	}
	first, _, _ := strings.Cut(f.Module, "/")
	return first == "main" || strings.Contains(first, ".")
}

// isSystemLibrary reports whether a path is a shared library, the kernel or a mapping of the
// system. Profilers state the path or only the name.
func isSystemLibrary(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return hasPrefix(path, "/usr/lib", "/lib", "/System/", "[") || strings.Contains(name, ".so") || strings.HasSuffix(name, ".dylib") ||
		hasPrefix(name, "vmlinux", "ld-")
}

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
