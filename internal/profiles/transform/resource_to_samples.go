// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"slices"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// ResourceToSamples copies attributes of the resource to every sample, for backends that read only
// sample attributes: collectors send resource attributes as references into the dictionary, and
// Grafana Pyroscope stores such profiles as unknown_service.
//
// It drops nothing. A sample that already has the attribute keeps its value.
type ResourceToSamples struct {
	Attributes []string `mapstructure:"attributes"`
}

func (s *ResourceToSamples) Validate() error {
	if len(s.Attributes) == 0 || slices.Contains(s.Attributes, "") {
		return errors.New("resource_to_samples: attributes: list at least one, e.g. [service.name]")
	}
	return nil
}

func (s *ResourceToSamples) apply(m *message) {
	for _, resource := range m.profiles.ResourceProfiles().All() {
		for _, key := range s.Attributes {
			value, ok := resource.Resource().Attributes().Get(key)
			if !ok {
				continue
			}
			attribute := m.edit.Attribute(key, value)
			for _, scope := range resource.ScopeProfiles().All() {
				for _, profile := range scope.Profiles().All() {
					m.appendToSamples(profile.Samples(), key, attribute)
				}
			}
		}
	}
}

func (m *message) appendToSamples(samples pprofile.SampleSlice, key string, attribute dictionary.AttributeIndex) {
	for _, sample := range samples.All() {
		if _, has := m.view.Get(sample.AttributeIndices(), key); !has {
			sample.AttributeIndices().Append(int32(attribute))
		}
	}
}
