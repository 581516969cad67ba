// SPDX-License-Identifier: Apache-2.0

package proguard

import (
	"cmp"
	"encoding/binary"
	"sort"
)

// The members of a method are encoded, because a file has hundreds of thousands of them and a place
// needs those of one method: their number, and the members in the order of the file.

// member is a line of a method, with its annotations.
type member struct {
	name      ref   // original
	class     ref   // original; 0 is the class of the section
	signature ref   // original: return type, a space, parameters
	residual  ref   // obfuscated: a JVM descriptor; 0 if it follows from the original
	lines     lines // in the obfuscated program
	original  lines // in the source
	callsites span  // in Mapping.pairs, of an outline: line in the outline → line in the obfuscated method
	rewrites  span  // in Mapping.rules, sorted by the exception
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
		number(m.callsites.from)
		number(m.callsites.to - m.callsites.from)
	}
	if m.flags&hasRewrites != 0 {
		number(m.rewrites.from)
		number(m.rewrites.to - m.rewrites.from)
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

func (c *cursor) span() span {
	from := c.number()
	return span{from, from + c.number()}
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
		m.callsites = c.span()
	}
	if m.flags&hasRewrites != 0 {
		m.rewrites = c.span()
	}
	return m
}

// method returns the method of a class with an obfuscated name.
func (m *Mapping) method(c class, obfuscated string) (found method, ok bool) {
	methods := m.methods[c.methods.from:c.methods.to]
	i := sort.Search(len(methods), func(i int) bool { return m.strings.Get(methods[i].name) >= obfuscated })
	if i == len(methods) || m.strings.Get(methods[i].name) != obfuscated {
		return method{}, false
	}
	return methods[i], true
}

// membersAt returns a cursor at the first member of a method, and the number of members.
func (m *Mapping) membersAt(x method) (first cursor, count int) {
	rest := cursor(m.members[x.members:])
	count = int(rest.number())
	return rest, count
}

// all returns the members of a method, of which there are few.
func (m *Mapping) all(x method) (members []member) {
	rest, count := m.membersAt(x)
	members = make([]member, count)
	for i := range members {
		members[i] = rest.member()
	}
	return members
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
			if members[i].residual = cmp.Or(members[i].residual, a.residual); members[i].residual != 0 {
				members[i].flags |= hasResidual
			}
		}
	}
}
