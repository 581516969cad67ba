// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// message is what steps work on.
type message struct {
	profiles pprofile.Profiles
	view     dictionary.View
	edit     *dictionary.Editor
	lost     Losses
	texts    map[string]*string // see textsOf
	split    *Split             // what to do after compaction
}

func newMessage(p pprofile.Profiles) *message {
	return &message{
		profiles: p, view: dictionary.NewView(p.Dictionary()), edit: dictionary.NewEditor(p.Dictionary()),
		texts: map[string]*string{},
	}
}

// each visits the profiles.
func (m *message) each(visit func(resource pcommon.Resource, profile pprofile.Profile)) {
	for _, resource := range m.profiles.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				visit(resource.Resource(), profile)
			}
		}
	}
}

// remove takes out profiles, and scopes and resources that are empty: they are no valid message.
func (m *message) remove(gone func(pprofile.Profile) bool) {
	m.profiles.ResourceProfiles().RemoveIf(func(resource pprofile.ResourceProfiles) bool {
		resource.ScopeProfiles().RemoveIf(func(scope pprofile.ScopeProfiles) bool {
			scope.Profiles().RemoveIf(gone)
			return scope.Profiles().Len() == 0
		})
		return resource.ScopeProfiles().Len() == 0
	})
}

// drop takes out samples and counts their observations. For each profile, choose returns the test for its samples, or nil to
// keep all. A profile that is left empty goes.
func (m *message) drop(reason Reason, choose func(pprofile.Profile) func(pprofile.Sample) bool) {
	m.remove(func(profile pprofile.Profile) bool {
		gone := choose(profile)
		if gone == nil {
			return false
		}
		before := profile.Samples().Len()
		profile.Samples().RemoveIf(func(s pprofile.Sample) bool {
			if !gone(s) {
				return false
			}
			m.lost.add(reason, observations(s))
			return true
		})
		return before > 0 && profile.Samples().Len() == 0
	})
}

// observations is how often a sample was seen.
func observations(s pprofile.Sample) int {
	return max(s.TimestampsUnixNano().Len(), s.Values().Len(), 1)
}

// dropBroken takes out what no step could deal with.
func (m *message) dropBroken() {
	sound := dictionary.NewSound(m.view)
	m.remove(func(profile pprofile.Profile) bool {
		if sound.Profile(profile) {
			return false
		}
		for _, s := range profile.Samples().All() {
			m.lost.add(BrokenReference, observations(s))
		}
		return true
	})
	m.drop(MalformedSample, func(pprofile.Profile) func(pprofile.Sample) bool { return malformed })
}

// malformed: a sample has timestamps, or one value, or as many values as timestamps.
func malformed(s pprofile.Sample) bool {
	switch values, times := s.Values().Len(), s.TimestampsUnixNano().Len(); {
	case times == 0:
		return values != 1
	default:
		return values != 0 && values != times
	}
}

func (m *message) clearPayloads() {
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		profile.SetOriginalPayloadFormat("")
		profile.OriginalPayload().FromRaw(nil)
	})
}

// texts are the values of one attribute as text, by their index in the attribute table: an id is the same whether it is a number
// or a string. Equal texts of a message are one pointer, so that comparing them costs nothing: a hostile value can be a map of
// megabytes, on every sample.
type texts []*string

func (m *message) textsOf(key string) texts {
	all := make(texts, m.profiles.Dictionary().AttributeTable().Len())
	for i := range all {
		if a, _ := m.view.Attribute(dictionary.AttributeIndex(i)); a.Key == key {
			text := a.Value.AsString()
			if m.texts[text] == nil {
				m.texts[text] = &text
			}
			all[i] = m.texts[text]
		}
	}
	return all
}

// of is the text of the attribute on a record, nil without it.
func (t texts) of(list pcommon.Int32Slice) *string {
	for j := range list.Len() {
		if text := t[list.At(j)]; text != nil {
			return text
		}
	}
	return nil
}
