// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Place is a place in the obfuscated program.
type Place struct {
	Class, Method string
	Signature     *Signature // see [Mapping.Signature]; nil is unknown
	Line          int64      // 0 or less is unknown, as for native methods
}

// Lookup appends the functions at a place to dst, innermost first.
//
// For an ambiguous place, Lookup appends the original class with the obfuscated name of the method.
// It does the same for a method that the mapping does not list, with the status OK, because
// compilers do not list methods that keep their names.
//
// The work is logarithmic in the size of the mapping, and does not depend on the number of members
// of the method.
func (m *Mapping) Lookup(dst []symbols.Frame, p Place) ([]symbols.Frame, symbols.Status) {
	c, ok := m.class(p.Class)
	if !ok {
		return dst, symbols.NoSymbol
	}
	x, listed := m.method(c, p.Method)
	if !listed {
		return append(dst, m.unlisted(c, p)), symbols.OK
	}
	common := m.common(c, m.alternatives(x, p), p.Line)
	if len(common) == 0 {
		return append(dst, m.unlisted(c, p)), symbols.Ambiguous
	}
	for _, f := range common {
		dst = append(dst, symbols.Frame{
			Function: m.strings.Get(f.class) + "." + m.strings.Get(f.name),
			File:     m.file(c, f.class),
			Line:     f.at(p.Line),
		})
	}
	return dst, symbols.OK
}

// unlisted returns the frame of a method about which the mapping says only the class.
func (m *Mapping) unlisted(c class, p Place) symbols.Frame {
	method := strings.ToValidUTF8(p.Method[:min(len(p.Method), maxName)], "")
	return symbols.Frame{Function: m.strings.Get(c.original) + "." + method, File: m.file(c, c.original), Line: max(p.Line, 0)}
}

// chain is an alternative: a function and the functions inlined into it, innermost first.
type chain []member

// alternatives are the chains that fit a place. Those of a large method without a line are merged.
type alternatives struct {
	chains []chain
	merged []*overload
	plain  bool // only the merged chains without lines fit
}

// alternatives returns the chains that fit the place.
func (m *Mapping) alternatives(x method, p Place) alternatives {
	if large := m.large[x.members]; large != nil {
		return m.inLarge(large, p)
	}
	chains := chainsOf(m.all(x))
	if p.Signature != nil {
		chains = withSignature(m, chains, func(x chain) member { return x[len(x)-1] }, p.Signature)
	}
	if p.Line > 0 {
		if at := filtered(chains, func(x chain) bool { return x[0].hasLine(p.Line) }); len(at) > 0 {
			return alternatives{chains: at}
		}
	}
	// Functions without lines are preferred: the others would have reported one of their lines.
	return alternatives{chains: preferred(chains, chain.isPlain)}
}

// isPlain reports whether a place without a line can be in the chain.
func (x chain) isPlain() bool { return x[0].flags&hasLines == 0 || x[0].hasLine(0) }

// chainsOf splits members at changes of their lines.
func chainsOf(members []member) (chains []chain) {
	for len(members) > 0 {
		n := 1
		for n < len(members) && members[n].continues(&members[0]) {
			n++
		}
		chains = append(chains, members[:n])
		members = members[n:]
	}
	return chains
}

// continues reports whether a member belongs to the chain that starts with another one.
func (f *member) continues(first *member) bool {
	return f.flags&first.flags&hasLines != 0 && f.lines == first.lines
}

func filtered[T any](list []T, keep func(T) bool) (kept []T) {
	for _, x := range list {
		if keep(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

// preferred returns the elements that keep selects, or all if it selects none.
func preferred[T any](list []T, keep func(T) bool) []T {
	if kept := filtered(list, keep); len(kept) > 0 {
		return kept
	}
	return list
}

// function is a function in the source, at a place without a known line, or at a known one.
type function struct {
	class, name ref
	// unknown is the line if that of the place is unknown, and known the line if it is known.
	unknown, known uint32
	kept           bool // the compiler kept the lines: it is that of the place
}

func (f *function) at(line int64) int64 {
	switch {
	case f.kept:
		return max(line, 0)
	case line > 0:
		return int64(f.known)
	}
	return int64(f.unknown)
}

// common returns the functions that all alternatives have, counted from the caller. A line that
// differs is unknown.
func (m *Mapping) common(c class, a alternatives, line int64) (result []function) {
	for i, x := range a.chains {
		result = merge(result, x.functions(c, line), i == 0)
	}
	first := len(a.chains) == 0
	for _, o := range a.merged {
		shared := o.all
		if a.plain {
			shared = o.plain
		}
		if shared != nil {
			result = merge(result, *shared, first)
			first = false
		}
	}
	return result
}

// merge returns the functions at the end of both lists; the other one if it is the first.
func merge(result, other []function, first bool) []function {
	if first {
		return append(result[:0], other...)
	}
	n := 0
	for n < min(len(result), len(other)) {
		a, b := &result[len(result)-1-n], other[len(other)-1-n]
		if a.class != b.class || a.name != b.name {
			break
		}
		if a.kept != b.kept {
			*a = function{class: a.class, name: a.name}
		}
		if a.unknown != b.unknown {
			a.unknown = 0
		}
		if a.known != b.known {
			a.known = 0
		}
		n++
	}
	return result[len(result)-n:]
}

// functions returns the functions of a chain without those that the compiler synthesized. If there
// are no others, the innermost remains. line is that of the place, or outside: any that is in no
// chain.
func (x chain) functions(c class, line int64) []function {
	written := filtered(x, func(f member) bool { return f.flags&isSynthesized == 0 })
	if len(written) == 0 {
		written = x[:1]
	}
	written = written[max(len(written)-maxChain, 0):]
	list := make([]function, len(written))
	for i := range written {
		f := &written[i]
		list[i] = function{class: f.class, name: f.name, unknown: uint32(f.line(0)), known: uint32(f.line(line)), kept: line == outside && f.flags&(hasLines|hasOriginal) == 0}
		if f.class == 0 {
			list[i].class = c.original
		}
	}
	return list
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
		return min(line, maxNumber)
	case f.original.from == f.original.to: // the call of an inlined function, for example
		return int64(f.original.from)
	case f.flags&hasLines != 0 && f.lines.to-f.lines.from == f.original.to-f.original.from:
		return int64(f.original.from) + line - int64(f.lines.from)
	}
	return 0 // any of several lines
}
