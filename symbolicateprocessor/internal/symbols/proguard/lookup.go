// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Place is a place in the obfuscated program.
type Place struct {
	Class, Method string
	Signature     string // the method's JVM descriptor; empty is unknown
	Line          int64  // 0 or less is unknown, as for native methods
}

// Lookup appends the functions at a place to dst, innermost first.
//
// For an ambiguous place, Lookup appends the original class with the obfuscated name of the method.
// It does the same for a method that the mapping does not list, with the status OK, because
// compilers do not list methods that keep their names.
func (m *Mapping) Lookup(dst []symbols.Frame, p Place) ([]symbols.Frame, symbols.Status) {
	c, ok := m.class(p.Class)
	if !ok {
		return dst, symbols.NoSymbol
	}
	chains := m.alternatives(c, p)
	if len(chains) == 0 {
		return append(dst, m.unlisted(c, p)), symbols.OK
	}
	common := m.common(c, p, chains)
	if len(common) == 0 {
		return append(dst, m.unlisted(c, p)), symbols.Ambiguous
	}
	return append(dst, common...), symbols.OK
}

// unlisted returns the frame of a method about which the mapping says only the class.
func (m *Mapping) unlisted(c class, p Place) symbols.Frame {
	return symbols.Frame{Function: m.strings.get(c.original) + "." + p.Method, File: m.file(c, c.original), Line: max(p.Line, 0)}
}

// chain is an alternative: a function and the functions inlined into it, innermost first.
type chain []member

// alternatives returns the chains that fit the place.
func (m *Mapping) alternatives(c class, p Place) []chain {
	chains := chainsOf(m.method(c, p.Method))
	if p.Signature != "" {
		chains = m.withSignature(chains, p.Signature)
	}
	if p.Line > 0 {
		if at := filtered(chains, func(x chain) bool { return x[0].hasLine(p.Line) }); len(at) > 0 {
			return at
		}
	}
	// Functions without lines are preferred: the others would have reported one of their lines.
	return preferred(chains, func(x chain) bool { return x[0].flags&hasLines == 0 || x[0].hasLine(0) })
}

// chainsOf splits members at changes of their lines.
func chainsOf(members []member) (chains []chain) {
	for len(members) > 0 {
		n := 1
		for members[0].flags&hasLines != 0 && n < len(members) && members[n].flags&hasLines != 0 && members[n].lines == members[0].lines {
			n++
		}
		chains = append(chains, members[:n])
		members = members[n:]
	}
	return chains
}

func filtered(chains []chain, keep func(chain) bool) (kept []chain) {
	for _, x := range chains {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// preferred returns the chains that keep selects, or all if it selects none.
func preferred(chains []chain, keep func(chain) bool) []chain {
	if kept := filtered(chains, keep); len(kept) > 0 {
		return kept
	}
	return chains
}

// common returns the functions that all chains have, counted from the caller. A line that differs
// is unknown.
func (m *Mapping) common(c class, p Place, chains []chain) []symbols.Frame {
	result := m.frames(c, p, chains[0])
	for _, x := range chains[1:] {
		other := m.frames(c, p, x)
		n := 0
		for n < min(len(result), len(other)) {
			a, b := &result[len(result)-1-n], other[len(other)-1-n]
			if a.Function != b.Function {
				break
			}
			if a.Line != b.Line {
				a.Line = 0
			}
			n++
		}
		result = result[len(result)-n:]
	}
	return result
}

// frames returns the functions of a chain without those that the compiler synthesized. If there are
// no others, the innermost remains.
func (m *Mapping) frames(c class, p Place, x chain) []symbols.Frame {
	written := slices.DeleteFunc(slices.Clone(x), func(f member) bool { return f.flags&isSynthesized != 0 })
	if len(written) == 0 {
		written = x[:1]
	}
	return m.every(c, p, written)
}

// every returns all functions of a chain.
func (m *Mapping) every(c class, p Place, x chain) []symbols.Frame {
	x = x[max(len(x)-maxChain, 0):]
	frames := make([]symbols.Frame, len(x))
	for i, f := range x {
		original := c.original
		if f.class != 0 {
			original = f.class
		}
		frames[i] = symbols.Frame{
			Function: m.strings.get(original) + "." + m.strings.get(f.name),
			File:     m.file(c, original),
			Line:     f.line(p.Line),
		}
	}
	return frames
}

// hasLine reports whether a line of the obfuscated program belongs to the member.
func (f *member) hasLine(line int64) bool {
	return f.flags&hasLines != 0 && int64(f.lines.from) <= line && line <= int64(f.lines.to)
}

// line returns the line in the source, or 0.
func (f *member) line(line int64) int64 {
	line = max(line, 0)
	switch {
	case f.flags&hasLines != 0 && !f.hasLine(line) && (f.lines.to > 0 || f.flags&hasOriginal == 0):
		return 0
	case f.flags&hasOriginal == 0: // the compiler kept the lines
		return line
	case f.original.from == f.original.to: // the call of an inlined function, for example
		return int64(f.original.from)
	case f.flags&hasLines != 0 && f.lines.to-f.lines.from == f.original.to-f.original.from:
		return int64(f.original.from) + line - int64(f.lines.from)
	}
	return 0 // any of several lines
}
