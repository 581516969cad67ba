// SPDX-License-Identifier: Apache-2.0

package scrub

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Profiles scrubs profiles in place.
func (s *Scrubber) Profiles(data pprofile.Profiles) Counts {
	counts := s.Dictionary(data)
	if len(counts) > 0 {
		dictionary.Compact(data) // merges entries that became equal
	}
	return counts
}

// Dictionary scrubs profiles in place. It checks each string and each attribute once, and leaves it
// to the caller to merge entries that became equal. If it replaces anything, profiles lose their
// original payload, because the payload contains the replaced data.
func (s *Scrubber) Dictionary(data pprofile.Profiles) Counts {
	w := s.walk("profile")
	if w == nil {
		return nil
	}
	dict := data.Dictionary()
	table := dict.StringTable()
	for i := range table.Len() {
		text := table.At(i)
		w.field(text, frameName, func(clean string) { table.SetAt(i, clean) })
	}
	places := map[int32]*place{} // once per key: many attributes may refer to a long one
	for _, entry := range dict.AttributeTable().All() {
		key, i := "", entry.KeyStrindex()
		if i >= 0 && int(i) < table.Len() {
			key = table.At(int(i))
		}
		p := places[i]
		if p == nil {
			p = w.places.of(key)
			places[i] = p
		}
		if w.root(entry.Value(), key, p) == removed {
			entry.Value().SetStr(Filtered)
		}
	}
	for _, resource := range data.ResourceProfiles().All() {
		w.attributes(resource.Resource().Attributes())
		for _, scope := range resource.ScopeProfiles().All() {
			w.attributes(scope.Scope().Attributes())
		}
	}
	if len(w.counts) > 0 {
		clearPayloads(data)
	}
	return w.counts
}

// frameName is the place of function, file and binary names.
var frameName = &place{policy: policyLocation, path: "$frame.filename"}

func clearPayloads(data pprofile.Profiles) {
	for _, resource := range data.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				payload.Clear(profile)
			}
		}
	}
}
