// SPDX-License-Identifier: Apache-2.0

package dictionary

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// Integrity reports which profiles of a message have only valid references: no direct or indirect
// reference of a profile or sample points outside its table. Broken entries to which a profile does
// not refer have no effect.
type Integrity struct {
	view                                                      View
	attributes, functions, mappings, locations, links, stacks []bool
}

// NewIntegrity visits every entry of the tables once.
func NewIntegrity(v View) *Integrity {
	s := &Integrity{view: v}
	// Referenced tables come first, so that each table can use their results.
	s.attributes = each(v.attributes.Len(), func(i AttributeIndex) bool {
		_, ok := v.Attribute(i)
		return ok
	})
	s.functions = each(v.functions.Len(), func(i FunctionIndex) bool {
		_, ok := v.Function(i)
		return ok
	})
	var m Mapping
	s.mappings = each(v.mappings.Len(), func(i MappingIndex) bool {
		return v.Mapping(i, &m) && all(s.attributes, m.Attributes)
	})
	var l Location
	s.locations = each(v.locations.Len(), func(i LocationIndex) bool {
		ok := v.Location(i, &l) && at(s.mappings, l.Mapping) && all(s.attributes, l.Attributes)
		for _, line := range l.Lines {
			ok = ok && at(s.functions, line.Function)
		}
		return ok
	})
	s.links = each(v.links.Len(), func(i LinkIndex) bool {
		_, _, ok := v.Link(i)
		return ok
	})
	var frames []LocationIndex
	s.stacks = each(v.stacks.Len(), func(i StackIndex) bool {
		var ok bool
		frames, ok = v.Stack(i, frames[:0])
		return ok && all(s.locations, frames)
	})
	return s
}

// Profile reports whether a profile of the message and all its samples have only valid references.
func (s *Integrity) Profile(p pprofile.Profile) bool {
	_, _, ok1 := s.view.ValueType(p.SampleType())
	_, _, ok2 := s.view.ValueType(p.PeriodType())
	if !ok1 || !ok2 || !s.attributeList(p.AttributeIndices()) {
		return false
	}
	for _, sample := range p.Samples().All() {
		if !at(s.stacks, StackIndex(sample.StackIndex())) || !at(s.links, LinkIndex(sample.LinkIndex())) ||
			!s.attributeList(sample.AttributeIndices()) {
			return false
		}
	}
	return true
}

func (s *Integrity) attributeList(indices pcommon.Int32Slice) bool {
	for j := range indices.Len() {
		if !at(s.attributes, AttributeIndex(indices.At(j))) {
			return false
		}
	}
	return true
}

// each returns the result of valid for every entry of a table of n entries.
func each[I ~int32](n int, valid func(I) bool) []bool {
	answers := make([]bool, n)
	for i := range answers {
		answers[i] = valid(I(i))
	}
	return answers
}

// at returns the result for an index. Index 0 is "none", which is always valid.
func at[I ~int32](answers []bool, i I) bool { return i == 0 || valid(i, len(answers)) && answers[i] }

func all[I ~int32](answers []bool, indices []I) bool {
	for _, i := range indices {
		if !at(answers, i) {
			return false
		}
	}
	return true
}
