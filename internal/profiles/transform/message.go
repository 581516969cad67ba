// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/payload"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// message is the message that steps change.
type message struct {
	profiles pprofile.Profiles
	view     dictionary.View
	edit     *dictionary.Editor
	losses   Losses
	texts    map[string]*string // see textsOf
	split    *Split             // runs after compaction
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

// remove removes profiles, and the scopes and resources that become empty, which a valid message
// must not contain.
func (m *message) remove(gone func(pprofile.Profile) bool) {
	m.profiles.ResourceProfiles().RemoveIf(func(resource pprofile.ResourceProfiles) bool {
		resource.ScopeProfiles().RemoveIf(func(scope pprofile.ScopeProfiles) bool {
			scope.Profiles().RemoveIf(gone)
			return scope.Profiles().Len() == 0
		})
		return resource.ScopeProfiles().Len() == 0
	})
}

// drop removes samples and counts their observations. For each profile, dropTest returns the test
// for its samples, or nil to keep all. Profiles that become empty are removed.
func (m *message) drop(reason Reason, dropTest func(pprofile.Profile) func(pprofile.Sample) bool) {
	m.remove(func(profile pprofile.Profile) bool {
		drops := dropTest(profile)
		if drops == nil {
			return false
		}
		before := profile.Samples().Len()
		profile.Samples().RemoveIf(func(s pprofile.Sample) bool {
			if !drops(s) {
				return false
			}
			m.losses.add(reason, observations(s))
			return true
		})
		return before > 0 && profile.Samples().Len() == 0
	})
}

// observations returns the number of observations of a sample.
func observations(s pprofile.Sample) int {
	return max(s.TimestampsUnixNano().Len(), s.Values().Len(), 1)
}

// dropBroken drops profiles and samples that steps cannot process.
func (m *message) dropBroken() {
	integrity := dictionary.NewIntegrity(m.view)
	m.remove(func(profile pprofile.Profile) bool {
		if integrity.Profile(profile) {
			return false
		}
		for _, s := range profile.Samples().All() {
			m.losses.add(BrokenReference, observations(s))
		}
		return true
	})
	m.drop(MalformedSample, func(pprofile.Profile) func(pprofile.Sample) bool {
		return func(s pprofile.Sample) bool { return dictionary.ShapeOf(s) == dictionary.ShapeNone }
	})
}

func (m *message) clearPayloads() {
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		payload.Clear(profile)
	})
}

// attributeTexts has the values of one attribute as text, by index in the attribute table, so that
// an ID is the same as a number and as a string. Equal texts of a message share one pointer, and
// pointers are compared, because a hostile value can be a map of megabytes on every sample.
type attributeTexts []*string

func (m *message) textsOf(key string) attributeTexts {
	all := make(attributeTexts, m.profiles.Dictionary().AttributeTable().Len())
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

// of returns the text of the attribute in a list of references, or nil.
func (t attributeTexts) of(list pcommon.Int32Slice) *string {
	for j := range list.Len() {
		if text := t[list.At(j)]; text != nil {
			return text
		}
	}
	return nil
}
