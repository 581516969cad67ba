// SPDX-License-Identifier: Apache-2.0

package conformance

import "go.opentelemetry.io/collector/pdata/pcommon"

// used marks the entries of one table that a profile refers to.
type used []bool

// add marks entry i. Other rules report broken indices.
func (u used) add(i int32) {
	if inTable(i, len(u)) {
		u[i] = true
	}
}

func (u used) addAll(list pcommon.Int32Slice) {
	for _, i := range list.All() {
		u.add(i)
	}
}

// orphans reports entries without references. It visits tables in the direction of references, so
// that all references to a table are marked before those in the table are followed.
func (c *checker) orphans() {
	var (
		stacks     = make(used, c.dict.StackTable().Len())
		links      = make(used, c.dict.LinkTable().Len())
		locations  = make(used, c.dict.LocationTable().Len())
		mappings   = make(used, c.dict.MappingTable().Len())
		functions  = make(used, c.dict.FunctionTable().Len())
		attributes = make(used, c.dict.AttributeTable().Len())
		strings    = make(used, c.dict.StringTable().Len())
	)
	for _, resource := range c.p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, p := range scope.Profiles().All() {
				strings.add(p.SampleType().TypeStrindex())
				strings.add(p.SampleType().UnitStrindex())
				strings.add(p.PeriodType().TypeStrindex())
				strings.add(p.PeriodType().UnitStrindex())
				attributes.addAll(p.AttributeIndices())
				for _, s := range p.Samples().All() {
					stacks.add(s.StackIndex())
					links.add(s.LinkIndex())
					attributes.addAll(s.AttributeIndices())
				}
			}
		}
	}
	for i, s := range c.dict.StackTable().All() {
		if stacks[i] {
			locations.addAll(s.LocationIndices())
		}
	}
	for i, l := range c.dict.LocationTable().All() {
		if locations[i] {
			mappings.add(l.MappingIndex())
			attributes.addAll(l.AttributeIndices())
			for _, line := range l.Lines().All() {
				functions.add(line.FunctionIndex())
			}
		}
	}
	for i, m := range c.dict.MappingTable().All() {
		if mappings[i] {
			strings.add(m.FilenameStrindex())
			attributes.addAll(m.AttributeIndices())
		}
	}
	for i, f := range c.dict.FunctionTable().All() {
		if functions[i] {
			strings.add(f.NameStrindex())
			strings.add(f.SystemNameStrindex())
			strings.add(f.FilenameStrindex())
		}
	}
	for i, a := range c.dict.AttributeTable().All() {
		if attributes[i] {
			strings.add(a.KeyStrindex())
			strings.add(a.UnitStrindex())
			for _, text := range c.references[i] {
				strings.add(text)
			}
		}
	}
	c.addResourceTexts(strings)

	c.unused("mapping_table", mappings)
	c.unused("location_table", locations)
	c.unused("function_table", functions)
	c.unused("link_table", links)
	c.unused("string_table", strings)
	c.unused("attribute_table", attributes)
	c.unused("stack_table", stacks)
}

// addResourceTexts marks strings that resource and scope attributes may refer to. After
// unmarshalling, such references are plain text again and only the string in the table remains, so
// equal text counts as a reference. (profcheck wrongly reports these strings as orphans.)
func (c *checker) addResourceTexts(strings used) {
	unmarked := map[string]int32{}
	for i, s := range c.dict.StringTable().All() {
		if i > 0 && !strings[i] {
			unmarked[s] = int32(i)
		}
	}
	if len(unmarked) == 0 {
		return
	}
	mark := func(s string) {
		if i, ok := unmarked[s]; ok {
			strings.add(i)
		}
	}
	texts := func(m pcommon.Map) {
		for k, v := range m.All() {
			mark(k)
			eachText(v, 0, mark)
		}
	}
	for _, resource := range c.p.ResourceProfiles().All() {
		texts(resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			texts(scope.Scope().Attributes())
		}
	}
}

// unused reports the entries that were not marked; entry 0 needs no reference.
func (c *checker) unused(table string, marked used) {
	for i, ok := range marked {
		if i > 0 && !ok {
			c.report(RuleOrphan, table, i, "nothing refers to it")
		}
	}
}
