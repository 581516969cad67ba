// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// TestSelector: parts have the observations of their resources, no entries that they do not need,
// and together the complete message.
func TestSelector(t *testing.T) {
	p := profileOf(wall, spread(20, 2)...)
	first := p.ResourceProfiles().At(0)
	half := first.ScopeProfiles().At(0).Profiles().At(0)
	for i := range 3 { // each resource has the samples of other frames
		resource := p.ResourceProfiles().AppendEmpty()
		first.CopyTo(resource)
		n := -1
		resource.ScopeProfiles().At(0).Profiles().At(0).Samples().RemoveIf(func(pprofile.Sample) bool { n++; return n%4 != i+1 })
	}
	n := -1
	half.Samples().RemoveIf(func(pprofile.Sample) bool { n++; return n%4 != 0 })
	want, before := tally(spell(p)), encodedSize(t, p)

	s := NewSelector(p)
	parts := []pprofile.Profiles{s.Resources([]int{0, 2}), s.Resources([]int{1}), s.Resources([]int{3})}
	require.Equal(t, 2, parts[0].ResourceProfiles().Len())
	require.Empty(t, difference(want, tally(spellAll(t, parts))))
	for _, part := range parts {
		require.Empty(t, conformance.Check(part))
		require.Less(t, part.Dictionary().StackTable().Len(), p.Dictionary().StackTable().Len())
	}
	require.Equal(t, before, encodedSize(t, p), "the message is unchanged")
	require.Zero(t, s.Resources(nil).ResourceProfiles().Len())
}
