// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"sort"
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
	x, ok := m.method(c, p.Method)
	if !ok {
		return false
	}
	members, _ := m.membersAt(x)
	first := members.member()
	return first.flags&isOutline != 0
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
	m.eachMember(p, func(f member) bool {
		positions := m.pairs[f.callsites.from:f.callsites.to]
		i := sort.Search(len(positions), func(i int) bool { return int64(positions[i].from) >= outline })
		if i == len(positions) || int64(positions[i].from) != outline {
			return true
		}
		p.Line = int64(positions[i].to)
		return false
	})
	return p.Line
}

// removed returns the number of innermost functions that R8 added, for example to check for null.
func (m *Mapping) removed(thrown string, p Place) (count int) {
	if len(thrown) > maxName {
		return 0
	}
	if original, known := m.Class(thrown); known {
		thrown = original
	}
	descriptor := "L" + strings.ReplaceAll(thrown, ".", "/") + ";"
	m.eachMember(p, func(f member) bool {
		rules := m.rules[f.rewrites.from:f.rewrites.to]
		i := sort.Search(len(rules), func(i int) bool { return m.strings.Get(rules[i].throws) >= descriptor })
		if i == len(rules) || m.strings.Get(rules[i].throws) != descriptor {
			return true
		}
		count = int(min(rules[i].remove, maxMembers))
		return false
	})
	return count
}

// eachMember visits the members of the alternatives of a place until visit returns false.
func (m *Mapping) eachMember(p Place, visit func(member) bool) {
	c, known := m.class(p.Class)
	if !known {
		return
	}
	x, known := m.method(c, p.Method)
	if !known {
		return
	}
	for _, members := range m.alternatives(x, p).chains {
		for _, f := range members {
			if !visit(f) {
				return
			}
		}
	}
}
