// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pprofile"

// Compact gives a message a new dictionary, with what its profiles reach and
// nothing else, every entry once. Samples of one profile that are the same
// after that (stack, set of attributes, link) become one: timestamps one after
// another in time, with their values beside them; values without timestamps as
// their sum.
//
// So whoever changes a message in place may leave orphans and duplicates
// behind, in the tables and among the samples, and ends with one Compact. What
// is broken becomes "none": see [Sound]. Nothing outside the dictionary and the
// samples changes.
func Compact(p pprofile.Profiles) {
	old := p.Dictionary()
	fresh := pprofile.NewProfilesDictionary()
	b := NewBuilder(fresh)
	defer b.Release()
	b.Grow(hintsOf(old))
	c := NewCopier(NewView(old), b)
	m := newMerger()
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				c.ValueType(profile.SampleType(), profile.SampleType())
				c.ValueType(profile.PeriodType(), profile.PeriodType())
				c.Attributes(profile.AttributeIndices(), profile.AttributeIndices())
				for _, sample := range profile.Samples().All() {
					c.Sample(sample, sample)
				}
				m.merge(profile.Samples())
			}
		}
	}
	b.Finish()
	fresh.MoveTo(old)
}

// hintsOf expects no more entries than there were.
func hintsOf(d pprofile.ProfilesDictionary) Hints {
	return Hints{
		Strings: d.StringTable().Len(), Attributes: d.AttributeTable().Len(), Functions: d.FunctionTable().Len(),
		Mappings: d.MappingTable().Len(), Locations: d.LocationTable().Len(), Links: d.LinkTable().Len(),
		Stacks: d.StackTable().Len(),
	}
}
