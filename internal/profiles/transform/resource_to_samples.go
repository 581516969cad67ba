// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// ResourceToSamples copies resource attributes to every sample, for backends that read only sample
// attributes: collectors send resource attributes as references to the dictionary, and Grafana
// Pyroscope stores such profiles as unknown_service.
//
// A sample that already has the attribute keeps its value. Integers also removes attributes; see
// there.
type ResourceToSamples struct {
	Attributes []string `mapstructure:"attributes"`

	// FirstOf maps the key on samples to a list of resource attributes. The first one that is
	// present is copied.
	FirstOf map[string][]string `mapstructure:"first_of"`

	// Integers moves all integer attributes of resources and scopes to the samples. Pyroscope
	// (since April 2026) rejects requests that contain them, because it does not resolve their key,
	// a reference to the dictionary, and reads an integer without a name. The first maxIntegers of
	// a resource or scope are copied; the others are dropped.
	Integers bool `mapstructure:"integers"`
}

// maxIntegers bounds the references that a hostile resource adds to each sample. Resources of the
// OpenTelemetry eBPF profiler have one integer.
const maxIntegers = 8

func (s *ResourceToSamples) Validate() error {
	switch {
	case len(s.Attributes)+len(s.FirstOf) == 0 && !s.Integers, slices.Contains(s.Attributes, ""):
		return errors.New("resource_to_samples: attributes: list at least one, e.g. [service.name]")
	}
	for key, alternatives := range s.FirstOf {
		if key == "" || len(alternatives) == 0 || slices.Contains(alternatives, "") {
			return fmt.Errorf("resource_to_samples: first_of: %q: list at least one attribute, e.g. {service.name: [service.name, process.executable.name]}", key)
		}
	}
	return nil
}

func (s *ResourceToSamples) apply(m *message) {
	firstOf := slices.Sorted(maps.Keys(s.FirstOf))
	for _, resource := range m.profiles.ResourceProfiles().All() {
		attributes := resource.Resource().Attributes()
		for _, key := range s.Attributes {
			m.copyToSamples(resource.ScopeProfiles(), key, attributes, key)
		}
		for _, key := range firstOf {
			for _, from := range s.FirstOf[key] {
				if m.copyToSamples(resource.ScopeProfiles(), key, attributes, from) {
					break
				}
			}
		}
		if !s.Integers {
			continue
		}
		m.moveIntegers(resource.ScopeProfiles().All(), attributes)
		for _, scope := range resource.ScopeProfiles().All() {
			one := func(yield func(int, pprofile.ScopeProfiles) bool) { yield(0, scope) }
			m.moveIntegers(one, scope.Scope().Attributes())
		}
	}
}

// copyToSamples copies an attribute to all samples of the scopes. It reports whether the attribute
// exists.
func (m *message) copyToSamples(scopes pprofile.ScopeProfilesSlice, key string, attributes pcommon.Map, from string) bool {
	value, ok := attributes.Get(from)
	if ok {
		m.addToSamples(scopes.All(), key, value)
	}
	return ok
}

func (m *message) addToSamples(scopes iter.Seq2[int, pprofile.ScopeProfiles], key string, value pcommon.Value) {
	attribute := m.edit.Attribute(key, value)
	for _, scope := range scopes {
		for _, profile := range scope.Profiles().All() {
			m.appendToSamples(profile.Samples(), key, attribute)
		}
	}
}

func (m *message) moveIntegers(scopes iter.Seq2[int, pprofile.ScopeProfiles], attributes pcommon.Map) {
	copied := 0
	for key, value := range attributes.All() {
		if copied < maxIntegers && readAsInteger(value) {
			m.addToSamples(scopes, key, value)
			copied++
		}
	}
	attributes.RemoveIf(func(_ string, value pcommon.Value) bool { return readAsInteger(value) })
}

// readAsInteger reports whether Pyroscope reads a value as an integer: it is one, or a list of one.
func readAsInteger(value pcommon.Value) bool {
	if value.Type() == pcommon.ValueTypeSlice && value.Slice().Len() == 1 {
		value = value.Slice().At(0)
	}
	return value.Type() == pcommon.ValueTypeInt
}

func (m *message) appendToSamples(samples pprofile.SampleSlice, key string, attribute dictionary.AttributeIndex) {
	for _, sample := range samples.All() {
		if _, has := m.view.Get(sample.AttributeIndices(), key); !has {
			sample.AttributeIndices().Append(int32(attribute))
		}
	}
}
