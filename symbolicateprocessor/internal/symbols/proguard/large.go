// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"cmp"
	"slices"
)

const (
	// smallMethod is the number of members that a lookup decodes. Methods with more have an index.
	smallMethod = 32

	// maxAlternatives bounds the chains with one line, and maxOverloads the signatures of a large
	// method: a lookup reads all of them. R8 merges a few methods, and gives one name to a few
	// dozen of a class. If there are more chains, a place is ambiguous; if there are more
	// signatures, they do not select.
	maxAlternatives = 64
	maxOverloads    = 128
)

// largeMethod is the index of a method with many members.
type largeMethod struct {
	chains    []chainAt // those with lines, by their first line
	overloads []overload
	whole     overload // all chains
	selects   bool     // overloads has all signatures
}

// chainAt is a chain in Mapping.members. The list of chains is a tree: the root of a part of the
// list is its middle.
type chainAt struct {
	lines
	last     uint32 // line of the chains in the part of the list
	at       uint32
	count    uint16
	overload uint8
}

// overload has the chains of a function: those with a signature and a residual signature.
type overload struct {
	of         member     // its last member
	plain, all *functions // that all chains without lines have, and that all chains have; nil: there is no chain
}

type functions []function

func (o *overload) add(x chain, f []function) {
	o.all = o.all.merged(f)
	if x.isPlain() {
		o.plain = o.plain.merged(f)
	}
}

func (f *functions) merged(other []function) *functions {
	if f == nil {
		copied := functions(slices.Clone(other))
		return &copied
	}
	*f = merge(*f, other, false)
	return f
}

func (l *largeMethod) bytes() int64 {
	bytes := sizeOf(l.chains) + sizeOf(l.overloads)
	for _, o := range append(l.overloads[:len(l.overloads):len(l.overloads)], l.whole) {
		for _, f := range []*functions{o.plain, o.all} {
			if f != nil {
				bytes += sizeOf(*f)
			}
		}
	}
	return bytes
}

// newLargeMethod returns the index of a method of a class. at has the places of the members.
func newLargeMethod(c class, members []member, at []uint32) *largeMethod {
	type identity struct{ signature, residual ref }
	l := &largeMethod{selects: true}
	known := map[identity]uint8{}
	for _, x := range chainsOf(members) {
		start := at[:len(x)]
		at = at[len(x):]
		f := x.functions(c, outside)
		l.whole.add(x, f)
		last := x[len(x)-1]
		number, ok := known[identity{last.signature, last.residual}]
		switch {
		case !ok && len(l.overloads) == maxOverloads:
			l.selects = false
		case !ok:
			number = uint8(len(l.overloads))
			known[identity{last.signature, last.residual}] = number
			l.overloads = append(l.overloads, overload{of: last})
			fallthrough
		default:
			l.overloads[number].add(x, f)
		}
		if x[0].flags&hasLines != 0 {
			hidden := max(len(x)-2*maxChain, 0) // half of them may be synthesized
			l.chains = append(l.chains, chainAt{lines: x[0].lines, at: start[hidden], count: uint16(len(x) - hidden), overload: number})
		}
	}
	if !l.selects {
		l.overloads = nil
	}
	slices.SortStableFunc(l.chains, func(a, b chainAt) int { return cmp.Compare(a.from, b.from) })
	setLast(l.chains)
	l.chains, l.overloads = slices.Clone(l.chains), slices.Clone(l.overloads)
	return l
}

// outside is a line of a place that no chain has.
const outside = maxNumber + 1

// setLast sets chainAt.last in a part of the list, and returns that of its root.
func setLast(chains []chainAt) uint32 {
	if len(chains) == 0 {
		return 0
	}
	root := len(chains) / 2
	c := &chains[root]
	c.last = max(c.to, setLast(chains[:root]), setLast(chains[root+1:]))
	return c.last
}

// atLine calls visit for the chains with a line until it returns false. It returns the number of
// chains that it read.
func atLine(chains []chainAt, line int64, visit func(chainAt) bool) (read int, more bool) {
	if len(chains) == 0 {
		return 0, true
	}
	root := len(chains) / 2
	c := chains[root]
	if int64(c.last) < line {
		return 1, true
	}
	read, more = atLine(chains[:root], line, visit)
	if read++; !more || int64(c.from) > line {
		return read, more
	}
	if line <= int64(c.to) && !visit(c) {
		return read, false
	}
	right, more := atLine(chains[root+1:], line, visit)
	return read + right, more
}

// inLarge is alternatives for a large method.
func (m *Mapping) inLarge(l *largeMethod, p Place) (a alternatives) {
	selected := []*overload{&l.whole}
	if p.Signature != nil && l.selects {
		selected = selected[:0]
		for i := range l.overloads {
			selected = append(selected, &l.overloads[i])
		}
		selected = withSignature(m, selected, func(o *overload) member { return o.of }, p.Signature)
	}
	if p.Line > 0 {
		var at []chainAt
		_, complete := atLine(l.chains, p.Line, func(c chainAt) bool {
			if selected[0] == &l.whole || slices.Contains(selected, &l.overloads[c.overload]) {
				at = append(at, c)
			}
			return len(at) <= maxAlternatives
		})
		if !complete {
			return a
		}
		// In the order of the file, as for other methods.
		slices.SortFunc(at, func(a, b chainAt) int { return cmp.Compare(a.at, b.at) })
		for _, c := range at {
			x := make(chain, c.count)
			rest := cursor(m.members[c.at:])
			for i := range x {
				x[i] = rest.member()
			}
			a.chains = append(a.chains, x)
		}
		if len(at) > 0 {
			return a
		}
	}
	a.merged = selected
	a.plain = slices.ContainsFunc(selected, func(o *overload) bool { return o.plain != nil })
	return a
}
