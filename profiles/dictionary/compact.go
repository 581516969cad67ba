// SPDX-License-Identifier: Apache-2.0

package dictionary

import "go.opentelemetry.io/collector/pdata/pprofile"

// Compact replaces the dictionary of a message with one that contains exactly the entries that its
// profiles refer to, without duplicates. It merges samples of a profile that have become equal
// (stack, set of attributes, link). Their timestamps, with their values, are in chronological
// order; values without timestamps are summed.
//
// Code that changes a message in place may therefore leave unreferenced and duplicate entries, and
// call Compact once at the end. Broken references become "none", see [Integrity]. Only the
// dictionary and the samples change.
func Compact(p pprofile.Profiles) {
	old := p.Dictionary()
	fresh := pprofile.NewProfilesDictionary()
	b := NewBuilder(fresh)
	defer b.Release()
	b.Grow(hintsOf(old))
	c := NewCopier(NewView(old), b)
	m := newMerger()
	eachProfile(p, func(profile pprofile.Profile) {
		c.Profile(profile)
		m.merge(profile.Samples())
	})
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

func eachProfile(p pprofile.Profiles, visit func(pprofile.Profile)) {
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				visit(profile)
			}
		}
	}
}
