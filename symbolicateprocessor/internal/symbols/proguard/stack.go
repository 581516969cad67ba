// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Outline reports whether a place is in a function that R8 created from code that several functions
// share. Stacks leave it out.
func (m *Mapping) Outline(p Place) bool {
	c, ok := m.class(p.Class)
	if !ok {
		return false
	}
	members := m.method(c, p.Method)
	return len(members) > 0 && members[0].flags&isOutline != 0
}

// LookupStack calls yield for each place of a stack of an exception, innermost first, with its
// functions: none for outlines, and for places whose functions R8 added to the program. thrown is
// the obfuscated class of the exception; it is empty for other stacks.
func (m *Mapping) LookupStack(thrown string, stack []Place, yield func(i int, frames []symbols.Frame, status symbols.Status)) {
	var outline int64 // the line in the outline that the place called
	innermost := true
	for i, p := range stack {
		if m.Outline(p) {
			outline = p.Line
			yield(i, nil, symbols.OK)
			continue
		}
		if outline > 0 {
			p.Line = m.callsite(p, outline)
			outline = 0
		}
		frames, status := m.Lookup(nil, p)
		if innermost && thrown != "" {
			frames = frames[min(m.removed(thrown, p), len(frames)):]
		}
		innermost = false
		yield(i, frames, status)
	}
}

// callsite returns the line that outlined code had in the method that calls the outline: the place
// itself has the line of the call.
func (m *Mapping) callsite(p Place, outline int64) int64 {
	c, ok := m.class(p.Class)
	if !ok {
		return p.Line
	}
	for _, x := range m.alternatives(c, p) {
		for _, f := range x {
			for _, position := range f.callsites {
				if int64(position.from) == outline {
					return int64(position.to)
				}
			}
		}
	}
	return p.Line
}

// removed returns the number of innermost functions that R8 added, for example to check for null.
func (m *Mapping) removed(thrown string, p Place) int {
	c, ok := m.class(p.Class)
	if !ok {
		return 0
	}
	if original, known := m.Class(thrown); known {
		thrown = original
	}
	descriptor := "L" + strings.ReplaceAll(thrown, ".", "/") + ";"
	for _, x := range m.alternatives(c, p) {
		for _, f := range x {
			for _, rule := range f.rewrites {
				if m.strings.get(rule.throws) == descriptor {
					return int(min(rule.remove, maxMembers))
				}
			}
		}
	}
	return 0
}
