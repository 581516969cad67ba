// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"errors"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// DropAttributes removes attributes with the given keys from samples, frames, profiles and
// resources. It is needed for thread.id and thread.name if the backend creates a series for each
// set of sample attributes (Grafana Pyroscope).
//
// It drops these attributes. Samples that differed only in them are merged.
type DropAttributes struct {
	Samples   []string `mapstructure:"samples"`
	Frames    []string `mapstructure:"frames"`
	Profiles  []string `mapstructure:"profiles"`
	Resources []string `mapstructure:"resources"`
}

func (s *DropAttributes) Validate() error {
	if len(s.Samples)+len(s.Frames)+len(s.Profiles)+len(s.Resources) == 0 {
		return errors.New("drop_attributes: list at least one attribute under samples, frames, profiles or resources, e.g. samples: [thread.id]")
	}
	return nil
}

func (s *DropAttributes) dropsThread() bool { return slices.Contains(s.Samples, semconv.ThreadID) }

func (s *DropAttributes) apply(m *message) {
	samples, profiles := m.keys(s.Samples), m.keys(s.Profiles)
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		profiles.removeFrom(profile.AttributeIndices())
		for _, sample := range profile.Samples().All() {
			samples.removeFrom(sample.AttributeIndices())
		}
	})
	frames := m.keys(s.Frames)
	for _, location := range m.profiles.Dictionary().LocationTable().All() {
		frames.removeFrom(location.AttributeIndices())
	}
	for _, resource := range m.profiles.ResourceProfiles().All() {
		for _, key := range s.Resources {
			resource.Resource().Attributes().Remove(key)
		}
	}
}

// attributeSet states, by index in the attribute table, whether an entry has one of a list of keys.
type attributeSet []bool

func (m *message) keys(keys []string) attributeSet {
	if len(keys) == 0 {
		return nil
	}
	table := m.profiles.Dictionary().AttributeTable()
	n := make(attributeSet, table.Len())
	for i := range n {
		a, _ := m.view.Attribute(dictionary.AttributeIndex(i))
		n[i] = slices.Contains(keys, a.Key)
	}
	return n
}

func (n attributeSet) removeFrom(list pcommon.Int32Slice) {
	if n != nil {
		list.RemoveIf(func(i int32) bool { return i >= 0 && int(i) < len(n) && n[i] })
	}
}
