// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Copier copies entries of a dictionary into a [Builder], with the entries that they refer to. It
// visits each entry once, so the cost is linear in the number of reachable entries. Broken
// references become "none", as in a [View]; use [Integrity] to detect them.
//
// pdata does not expose attribute values that are references to strings (legal, but not used by any
// known sender). They are copied as empty values.
type Copier struct {
	from View
	to   *Builder

	// The results by table. A result is valid only in its generation, so that Restart can
	// invalidate all of them at once.
	generation                                                         uint32
	strings, attributes, functions, mappings, locations, links, stacks []copied

	// Scratch.
	frame  Location
	binary Mapping
	stack  []LocationIndex
	set    []AttributeIndex
	seen   map[AttributeIndex]bool
}

type copied struct {
	generation uint32
	to         int32
}

// NewCopier returns a Copier for the tables of a View, which must not change while the Copier is in
// use.
func NewCopier(from View, to *Builder) *Copier {
	return &Copier{
		from: from, to: to, generation: 1, seen: map[AttributeIndex]bool{},
		strings:    make([]copied, from.strings.Len()),
		attributes: make([]copied, from.attributes.Len()),
		functions:  make([]copied, from.functions.Len()),
		mappings:   make([]copied, from.mappings.Len()),
		locations:  make([]copied, from.locations.Len()),
		links:      make([]copied, from.links.Len()),
		stacks:     make([]copied, from.stacks.Len()),
	}
}

// Restart continues with another Builder, for the next part of a split message.
func (c *Copier) Restart(to *Builder) {
	c.to = to
	c.generation++
}

// ValueType copies a sample type or a period type. Here and below, from belongs to the old
// dictionary, and may be the same record as to.
func (c *Copier) ValueType(from, to pprofile.ValueType) {
	SetValueType(to, c.string(StringIndex(from.TypeStrindex())), c.string(StringIndex(from.UnitStrindex())))
}

// Attributes copies the attributes of a record, in order and without duplicates.
func (c *Copier) Attributes(from, to pcommon.Int32Slice) {
	c.set = c.set[:0]
	clear(c.seen)
	for j := range from.Len() {
		i := c.attribute(AttributeIndex(from.At(j)))
		if i != 0 && !c.addToSet(i) {
			c.set = append(c.set, i)
		}
	}
	SetAttributes(to, c.set...)
}

// fewAttributes is the number of attributes that are searched linearly. Records have fewer than
// ten; a hostile record may have a million.
const fewAttributes = 32

// addToSet adds an attribute to the set and reports whether the set already had it.
func (c *Copier) addToSet(i AttributeIndex) bool {
	if len(c.set) < fewAttributes {
		return slices.Contains(c.set, i)
	}
	if len(c.seen) == 0 {
		for _, had := range c.set {
			c.seen[had] = true
		}
	}
	had := c.seen[i]
	c.seen[i] = true
	return had
}

// Sample copies the stack, the link and the attributes of a sample.
func (c *Copier) Sample(from, to pprofile.Sample) {
	to.SetStackIndex(int32(c.stackAt(StackIndex(from.StackIndex()))))
	to.SetLinkIndex(int32(c.link(LinkIndex(from.LinkIndex()))))
	c.Attributes(from.AttributeIndices(), to.AttributeIndices())
}

// Profile changes all references of a profile, which refer to the old dictionary, to the new one.
func (c *Copier) Profile(p pprofile.Profile) {
	c.ValueType(p.SampleType(), p.SampleType())
	c.ValueType(p.PeriodType(), p.PeriodType())
	c.Attributes(p.AttributeIndices(), p.AttributeIndices())
	for _, sample := range p.Samples().All() {
		c.Sample(sample, sample)
	}
}

func (c *Copier) string(i StringIndex) StringIndex {
	return once(c, c.strings, i, func() StringIndex { return c.to.String(c.from.Text(i)) })
}

func (c *Copier) attribute(i AttributeIndex) AttributeIndex {
	return once(c, c.attributes, i, func() AttributeIndex {
		e := c.from.attributes.At(int(i))
		key := c.string(StringIndex(e.KeyStrindex()))
		return c.to.attributeAt(key, AnyValue(e.Value()), c.string(StringIndex(e.UnitStrindex())))
	})
}

func (c *Copier) function(i FunctionIndex) FunctionIndex {
	return once(c, c.functions, i, func() FunctionIndex {
		f, _ := c.from.Function(i)
		f.Name, f.SystemName, f.Filename = c.string(f.Name), c.string(f.SystemName), c.string(f.Filename)
		return c.to.Function(f)
	})
}

func (c *Copier) mapping(i MappingIndex) MappingIndex {
	return once(c, c.mappings, i, func() MappingIndex {
		c.from.Mapping(i, &c.binary)
		c.binary.Filename = c.string(c.binary.Filename)
		for j, a := range c.binary.Attributes {
			c.binary.Attributes[j] = c.attribute(a)
		}
		return c.to.Mapping(c.binary)
	})
}

func (c *Copier) location(i LocationIndex) LocationIndex {
	return once(c, c.locations, i, func() LocationIndex {
		c.from.Location(i, &c.frame)
		c.frame.Mapping = c.mapping(c.frame.Mapping)
		for j := range c.frame.Lines {
			c.frame.Lines[j].Function = c.function(c.frame.Lines[j].Function)
		}
		for j, a := range c.frame.Attributes {
			c.frame.Attributes[j] = c.attribute(a)
		}
		return c.to.Location(c.frame)
	})
}

func (c *Copier) stackAt(i StackIndex) StackIndex {
	return once(c, c.stacks, i, func() StackIndex {
		c.stack, _ = c.from.Stack(i, c.stack[:0])
		for j, l := range c.stack {
			c.stack[j] = c.location(l)
		}
		return c.to.Stack(c.stack)
	})
}

func (c *Copier) link(i LinkIndex) LinkIndex {
	return once(c, c.links, i, func() LinkIndex {
		traceID, spanID, _ := c.from.Link(i)
		return c.to.Link(traceID, spanID)
	})
}

// once returns the cached result, or copies the entry. Index 0 and indices outside the table are
// "none".
func once[I ~int32](c *Copier, table []copied, i I, copyEntry func() I) I {
	if i == 0 || !valid(i, len(table)) {
		return 0
	}
	if table[i].generation != c.generation {
		table[i] = copied{c.generation, int32(copyEntry())}
	}
	return I(table[i].to)
}
