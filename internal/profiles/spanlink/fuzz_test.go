// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
)

// FuzzLink links arbitrary profiles to arbitrary spans. No observation is lost, spans stay
// unchanged, and valid OTLP stays valid.
func FuzzLink(f *testing.F) {
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 8))
		spans := ptrace.NewTraces()
		for _, message := range randomTraces(r) {
			message.ResourceSpans().MoveAndAppendTo(spans.ResourceSpans())
		}
		traces, err := new(ptrace.ProtoMarshaler).MarshalTraces(spans)
		require.NoError(f, err)
		profiles, err := new(pprofile.ProtoMarshaler).MarshalProfiles(randomProfiles(r))
		require.NoError(f, err)
		f.Add(traces, profiles, seed%2 == 0)
	}
	f.Fuzz(func(t *testing.T, traces, profiles []byte, skip bool) {
		spans, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(traces)
		if err != nil {
			return
		}
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(profiles)
		if err != nil {
			return
		}
		spans.MarkReadOnly()
		options := Options{Now: start}
		if skip {
			options.Ambiguous = Skip
		}
		before, valid := countObservations(p), len(conformance.Check(p)) == 0
		x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
		x.Add(Sentry.Spans(spans), start)
		concerned := x.CanLink("", p, start)
		stats := x.Link(p, options)
		require.Equal(t, before, countObservations(p))
		if stats.Linked > 0 {
			require.True(t, concerned)
		}
		if valid {
			require.Empty(t, conformance.Check(p))
		}
	})
}

func countObservations(p pprofile.Profiles) (n int) {
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				for _, sample := range profile.Samples().All() {
					n += max(sample.TimestampsUnixNano().Len(), sample.Values().Len())
				}
			}
		}
	}
	return n
}
