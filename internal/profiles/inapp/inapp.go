// SPDX-License-Identifier: Apache-2.0

// Package inapp classifies code as application or library code by paths, modules and binaries, for
// profilers and stack traces that do not state it. The Sentry exporter, for profiles and issues,
// and the viewer share it. Where Sentry has rules, they are Sentry's: of its SDK for the language
// (set_in_app_in_frames of Python's, filenameIsInApp of Node.js's, is_sys_function of Rust's) and
// of its servers (src/sentry/grouping/enhancer/enhancement-configs, vroom's internal/frame).
package inapp

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
)

// Frame is the data about a function that a profiler or a stack trace states. Fields may be empty.
type Frame struct {
	Type     string // profile.frame.type
	Function string
	Module   string
	File     string
	Package  string // the binary, or the application of Erlang's OTP
}

// Guess reports whether a function belongs to the application. known is false if nothing indicates
// it.
func Guess(f Frame) (inApp, known bool) {
	switch f.Type {
	case "cpython":
		return !containsAny(f.File, pythonPaths) && !strings.HasPrefix(f.File, "<frozen "), f.File != ""
	case "v8js", "hermes":
		return f.File != "" && !containsAny(f.File, nodePaths) && !hasPrefix(f.File, "node:", "internal/"), f.File != "" || strings.HasPrefix(f.Function, "(")
	case "php":
		return !strings.Contains(f.File, "/vendor/"), f.File != ""
	case "rust":
		library := isRustLibrary(f)
		return !library && f.Function != "", library || f.File != ""
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
		return f.File != "" && f.File[0] != '<' && !containsAny(f.File, libraryPaths) && !slices.Contains(otpApplications, f.Package) // <cfunc> of Ruby
	}
	return f.Package != "" && !isSystemLibrary(f.Package)
}

var (
	pythonPaths    = []string{"/site-packages/", "/dist-packages/", "/lib/python", "/Lib/"}
	nodePaths      = []string{"node_modules/", "-extension://"}
	rustPaths      = []string{"/rustc/", "/.cargo/registry/", "/usr/local/cargo/registry/", "/rustlib/"}
	dotnetPrefixes = []string{"System.", "Microsoft.", "Interop."}
	goPaths        = []string{"/pkg/mod/", "/vendor/", "/go/src/"}
	// rustFunctions are prefixes in Rust's standard library and in the start of a program.
	rustFunctions = []string{"std::", "core::", "alloc::", "__rust", "rust_begin_", "__libc", "_start"}
	// headerPaths are those of C++ and of glibc's start of a program.
	headerPaths = []string{"/usr/include/", "/csu/"}
	// otpApplications are those of Elixir and OpenTelemetry.
	otpApplications = []string{
		"elixir", "stdlib", "kernel", "logger", "mix", "iex", "ex_unit", "eex", "erts", "ssl", "crypto", "opentelemetry", "opentelemetry_api",
	}
	// libraryPaths are the folders of package managers.
	libraryPaths = []string{"/gems/", "/lib/ruby/", "/usr/share/perl", "/usr/lib/", "/usr/local/lib/", "/deps/", "/site-packages/"}
	// anyPaths indicate a library in any language.
	anyPaths = slices.Concat(pythonPaths, nodePaths, rustPaths, goPaths, libraryPaths)
)

// isRustLibrary reports whether a function is of Rust, or of C++ in a stack trace, and of a
// library.
func isRustLibrary(f Frame) bool {
	name := strings.TrimLeft(f.Function, "<&") // <alloc::vec::Vec<T> as …>
	return hasPrefix(name, rustFunctions...) || containsAny(f.File, rustPaths) || containsAny(f.File, headerPaths) || isSystemLibrary(f.Package)
}

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
// system. Profilers state the path or only the name. On Windows, a program is often divided into
// libraries: those with a path are the system's if they are in its folder.
func isSystemLibrary(path string) bool {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	if strings.EqualFold(filepath.Ext(name), ".dll") {
		return name == path || strings.Contains(strings.ToLower(path), `:\windows\`)
	}
	return hasPrefix(path, "/usr/lib", "/lib", "/System/", "[") || strings.Contains(name, ".so") || strings.HasSuffix(name, ".dylib") ||
		hasPrefix(name, "vmlinux", "ld-")
}

func hasPrefix(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

func containsAny(text string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}
