// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pprofile"

// Compact replaces the dictionary of a message by one that contains exactly the entries that its
// profiles refer to, without duplicates. It merges samples of a profile that are equal afterwards
// (stack, set of attributes, link): timestamps in order of time, with their values; values without
// timestamps as their sum.
//
// Code that changes a message in place may therefore leave orphans and duplicates in tables and
// samples, and ends with one Compact. Broken references become "none": see [Integrity]. Nothing
// outside the dictionary and the samples changes.
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

// hintsOf returns the current numbers of entries, which compaction does not exceed.
func hintsOf(d pprofile.ProfilesDictionary) Hints {
	return Hints{
		Strings: d.StringTable().Len(), Attributes: d.AttributeTable().Len(), Functions: d.FunctionTable().Len(),
		Mappings: d.MappingTable().Len(), Locations: d.LocationTable().Len(), Links: d.LinkTable().Len(),
		Stacks: d.StackTable().Len(),
	}
}
