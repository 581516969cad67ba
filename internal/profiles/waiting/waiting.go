// SPDX-License-Identifier: Apache-2.0

// Package waiting recognizes functions in which a thread waits. Profilers of wall-clock time sample
// blocked threads as well: most samples of a server are threads without work.
package waiting

import (
	"path"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/inapp"
)

// In reports whether a thread whose innermost function is f waits: in a lock, a condition, a sleep,
// a poll, a socket, or a loop of an SDK that mostly sleeps. Functions of the application never
// wait, whatever their name: profilers of interpreters do not see native calls, so that a function
// that sleeps looks like one that computes.
func In(f inapp.Frame) bool {
	if max(len(f.Function), len(f.Module), len(f.File), len(f.Package)) > maxText {
		return false
	}
	scope, name := split(f)
	if !functions[function{scope, name}] {
		return false
	}
	if f.Module == "" {
		f.Module = scope
	}
	return !application(f)
}

// maxText is PATH_MAX of Linux, and longer than all names of functions that wait. Any number of
// functions may refer to one longer text.
const maxText = 4096

// application reports whether the paths of a frame are those of an application. The rules for
// compiled code do not tell a library without a path from an application.
func application(f inapp.Frame) bool {
	inApp, known := inapp.Guess(f)
	return known && inApp && f.Type != ""
}

type function struct{ scope, name string }

// functions are those of the table.
var functions = func() map[function]bool {
	set := map[function]bool{}
	for _, row := range table {
		for _, name := range strings.Fields(row.names) {
			set[function{row.scope, name}] = true
		}
	}
	return set
}()

// split returns the module, package, class or binary of a function, and its name without them.
func split(f inapp.Frame) (scope, name string) {
	name, _, _ = strings.Cut(f.Function, "(") // Java's arguments; a receiver of Go has its own rule
	if receiver, method, ok := cutReceiver(f.Function); ok {
		return strings.TrimSuffix(f.Module+receiver, "."), method
	}
	at := strings.LastIndexAny(name, ".:#")
	switch {
	case f.Module != "":
		scope = f.Module
	case f.Type == "cpython" && f.File != "":
		scope = strings.TrimSuffix(path.Base(f.File), ".py")
	case f.Type == "native" || f.Type == "kernel" || at <= 0 && f.Package != "":
		return binary(f.Package), name
	case at > 0:
		scope = strings.TrimRight(name[:at], ".:#")
	}
	return scope, name[at+1:]
}

// cutReceiver splits a method of Go: "(*persistConn).writeLoop", perhaps after its package.
func cutReceiver(name string) (scope, method string, ok bool) {
	open, end := strings.Index(name, "(*"), strings.LastIndex(name, ").")
	if open < 0 || end < open {
		return "", "", false
	}
	return name[:open], name[end+2:], true
}

// binary returns the name of a binary without its folder and version: libc.so for
// /lib/x86_64-linux-gnu/libc.so.6 and libc-2.31.so.
func binary(file string) string {
	name := path.Base(file)
	if library, _, ok := strings.Cut(name, ".so"); ok {
		library, _, _ = strings.Cut(library, "-2.")
		return library + ".so"
	}
	return name
}
