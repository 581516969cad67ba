// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pcommon"

// used marks the entries of one table that some profile reaches.
type used []bool

// add marks entry i. Broken indices are another rule's business.
func (u used) add(i int32) {
	if valid(i, len(u)) {
		u[i] = true
	}
}

func (u used) addAll(list pcommon.Int32Slice) {
	for _, i := range list.All() {
		u.add(i)
	}
}

// orphans reports entries that nothing refers to. It walks in the direction of
// the references, so every table is complete before it is followed further.
func (c *checker) orphans() {
	var (
		stacks     = make(used, c.view.stacks.Len())
		links      = make(used, c.view.links.Len())
		locations  = make(used, c.view.locations.Len())
		mappings   = make(used, c.view.mappings.Len())
		functions  = make(used, c.view.functions.Len())
		attributes = make(used, c.view.attributes.Len())
		strings    = make(used, c.view.strings.Len())
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
	for i, s := range c.view.stacks.All() {
		if stacks[i] {
			locations.addAll(s.LocationIndices())
		}
	}
	for i, l := range c.view.locations.All() {
		if locations[i] {
			mappings.add(l.MappingIndex())
			attributes.addAll(l.AttributeIndices())
			for _, line := range l.Lines().All() {
				functions.add(line.FunctionIndex())
			}
		}
	}
	for i, m := range c.view.mappings.All() {
		if mappings[i] {
			strings.add(m.FilenameStrindex())
			attributes.addAll(m.AttributeIndices())
		}
	}
	for i, f := range c.view.functions.All() {
		if functions[i] {
			strings.add(f.NameStrindex())
			strings.add(f.SystemNameStrindex())
			strings.add(f.FilenameStrindex())
		}
	}
	for i, a := range c.view.attributes.All() {
		if attributes[i] {
			strings.add(a.KeyStrindex())
			strings.add(a.UnitStrindex())
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

// addResourceTexts marks strings that resource and scope attributes may refer
// to. After unmarshalling, such references are plain text again and only the
// string in the table remains, so equal text is what there is to go by.
// (profcheck reports these strings as orphans, wrongly.)
func (c *checker) addResourceTexts(strings used) {
	unmarked := map[string]int32{}
	for i, s := range c.view.strings.All() {
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
