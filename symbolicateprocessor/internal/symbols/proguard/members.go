// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"cmp"
	"encoding/binary"
)

// The members of a class are encoded, because a file has hundreds of thousands of them and a place
// needs those of one method: for each obfuscated name its ref, the number of bytes of its members,
// and the members in the order of the file; then a 0.

// member is a line of a method, with its annotations.
type member struct {
	name      ref    // original
	class     ref    // original; 0 is the class of the section
	signature ref    // original: return type, a space, parameters
	residual  ref    // obfuscated: a JVM descriptor; 0 if it follows from the original
	lines     lines  // in the obfuscated program
	original  lines  // in the source
	callsites []pair // of an outline: line in the outline → line in the obfuscated method
	rewrites  []rewrite
	flags     flags
}

// lines is a range. Whether a member has one, or has only its first line, is in the flags.
type lines struct{ from, to uint32 }

type pair struct{ from, to uint32 }

// rewrite is a rule that leaves out the innermost functions of the first frame when an exception of
// a type is thrown.
type rewrite struct {
	throws ref // a JVM descriptor
	remove uint32
}

type flags uint16

const (
	hasLines flags = 1 << iota
	hasOriginal
	hasOriginalEnd
	hasClass
	hasResidual
	hasCallsites
	hasRewrites
	isSynthesized
	isOutline
)

func appendMember(b []byte, m *member) []byte {
	number := func(n uint32) { b = binary.AppendUvarint(b, uint64(n)) }
	number(uint32(m.flags))
	number(uint32(m.name))
	number(uint32(m.signature))
	if m.flags&hasClass != 0 {
		number(uint32(m.class))
	}
	if m.flags&hasLines != 0 {
		number(m.lines.from)
		number(m.lines.to - m.lines.from)
	}
	if m.flags&hasOriginal != 0 {
		number(m.original.from)
	}
	if m.flags&hasOriginalEnd != 0 {
		number(m.original.to - m.original.from)
	}
	if m.flags&hasResidual != 0 {
		number(uint32(m.residual))
	}
	if m.flags&hasCallsites != 0 {
		number(uint32(len(m.callsites)))
		for _, c := range m.callsites {
			number(c.from)
			number(c.to)
		}
	}
	if m.flags&hasRewrites != 0 {
		number(uint32(len(m.rewrites)))
		for _, r := range m.rewrites {
			number(uint32(r.throws))
			number(r.remove)
		}
	}
	return b
}

// cursor reads what appendMember wrote.
type cursor []byte

func (c *cursor) number() uint32 {
	n, size := binary.Uvarint(*c)
	*c = (*c)[size:]
	return uint32(n)
}

func (c *cursor) member() (m member) {
	m.flags, m.name, m.signature = flags(c.number()), ref(c.number()), ref(c.number())
	if m.flags&hasClass != 0 {
		m.class = ref(c.number())
	}
	if m.flags&hasLines != 0 {
		m.lines.from = c.number()
		m.lines.to = m.lines.from + c.number()
	}
	if m.flags&hasOriginal != 0 {
		m.original.from = c.number()
		m.original.to = m.original.from
	}
	if m.flags&hasOriginalEnd != 0 {
		m.original.to += c.number()
	}
	if m.flags&hasResidual != 0 {
		m.residual = ref(c.number())
	}
	if m.flags&hasCallsites != 0 {
		m.callsites = make([]pair, c.number())
		for i := range m.callsites {
			m.callsites[i] = pair{c.number(), c.number()}
		}
	}
	if m.flags&hasRewrites != 0 {
		m.rewrites = make([]rewrite, c.number())
		for i := range m.rewrites {
			m.rewrites[i] = rewrite{ref(c.number()), c.number()}
		}
	}
	return m
}

// method returns the members of a class with an obfuscated name.
func (m *Mapping) method(c class, obfuscated string) (members []member) {
	for rest := cursor(m.members[c.members:]); ; {
		name := ref(rest.number())
		if name == 0 {
			return nil
		}
		size := rest.number()
		if m.strings.get(name) != obfuscated {
			rest = rest[size:]
			continue
		}
		for group := rest[:size]; len(group) > 0; {
			members = append(members, group.member())
		}
		spreadAnnotations(members)
		return members
	}
}

// spreadAnnotations applies annotations to all members of a function: R8 writes them once.
func spreadAnnotations(members []member) {
	type function struct{ class, name, signature ref }
	type annotation struct {
		synthesized flags
		residual    ref
	}
	of := func(m member) function { return function{m.class, m.name, m.signature} }
	var annotated map[function]annotation
	for _, m := range members {
		if m.flags&(isSynthesized|hasResidual) != 0 {
			if annotated == nil {
				annotated = map[function]annotation{}
			}
			a := annotated[of(m)]
			annotated[of(m)] = annotation{a.synthesized | m.flags&isSynthesized, cmp.Or(a.residual, m.residual)}
		}
	}
	for i := range members {
		if a, ok := annotated[of(members[i])]; ok {
			members[i].flags |= a.synthesized
			members[i].residual = cmp.Or(members[i].residual, a.residual)
		}
	}
}
