// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"maps"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/spanlinktest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestAgainstTheOracle links random profiles to random traces in any order of arrival, and compares
// each observation with the oracle. No observation is lost or added, each keeps its value, and the
// message stays valid.
func TestAgainstTheOracle(t *testing.T) {
	seeds := uint64(80)
	if testsize.Full() {
		seeds = 400
	}
	var seen LinkStats
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 4))
		traces := randomTraces(r)
		input := randomProfiles(r)
		delay(traces, input, [...]uint64{0, 1<<63 - lastInstant/2, math.MaxUint64 - lastInstant + 1}[seed%3])
		dictionarytest.MustBeValid(t, input)
		want := expected(input, spanlinktest.New(traces...))
		for range 3 {
			r.Shuffle(len(traces), func(i, j int) { traces[i], traces[j] = traces[j], traces[i] })
			x := NewIndex(Sentry, Limits{Spans: 10_000, MaxAge: time.Hour})
			x.maxFound = [...]int{1, 3, maxFound}[r.IntN(3)]
			x.maxHeld = [...]int{1, 30, maxHeld}[r.IntN(3)]
			for _, message := range traces {
				x.AddTraces("", message, start)
			}
			linked := pprofile.NewProfiles()
			input.CopyTo(linked)
			stats := x.Link(linked, Options{Now: start, Ambiguous: Skip})
			dictionarytest.MustBeValid(t, linked)
			if got := count(observations(linked)); !maps.Equal(want, got) {
				require.Equal(t, want, got, "seed %d", seed)
			}
			seen.Add(stats)
		}
	}
	require.NotZero(t, seen.Linked)
	require.NotZero(t, seen.Kept)
	for _, reason := range []Reason{NoSession, NoThread, NoSpan, Ambiguous, Aggregated} {
		require.NotZero(t, seen.Unlinked[reason], "the random data show nothing of: %s", reason)
	}
}

// delay adds a delay to all times. A retried message occurs twice, but is delayed once.
func delay(traces []ptrace.Traces, p pprofile.Profiles, by uint64) {
	for i, message := range traces {
		if i > 0 && message == traces[i-1] {
			continue
		}
		span := message.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		span.SetStartTimestamp(span.StartTimestamp() + pcommon.Timestamp(by))
		span.SetEndTimestamp(span.EndTimestamp() + pcommon.Timestamp(by))
	}
	for _, profile := range p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().All() {
		profile.SetTime(pcommon.Timestamp(by))
		for _, sample := range profile.Samples().All() {
			for i, instant := range sample.TimestampsUnixNano().All() {
				sample.TimestampsUnixNano().SetAt(i, instant+by)
			}
		}
	}
}

// observation is one instant of a sample, or a sample without timestamps, with everything that
// distinguishes it.
type observation struct {
	profile                 int
	tenant, session, thread string
	alone                   bool
	stack                   int32
	instant                 uint64
	aggregated              bool
	value                   int64
	trace                   pcommon.TraceID
	span                    pcommon.SpanID
}

// observations returns the observations of a message with one resource.
func observations(p pprofile.Profiles) (all []observation) {
	dict := p.Dictionary()
	text := func(indices pcommon.Int32Slice, key string) string {
		for _, i := range indices.All() {
			if a := dict.AttributeTable().At(int(i)); dict.StringTable().At(int(a.KeyStrindex())) == key {
				return a.Value().AsString()
			}
		}
		return ""
	}
	resource := p.ResourceProfiles().At(0)
	tenant, _ := resource.Resource().Attributes().Get("sentry.project_id")
	for i, profile := range resource.ScopeProfiles().At(0).Profiles().All() {
		threads := map[string]bool{}
		for _, sample := range profile.Samples().All() {
			if sample.TimestampsUnixNano().Len() > 0 {
				threads[text(sample.AttributeIndices(), "thread.id")] = true
			}
		}
		for _, sample := range profile.Samples().All() {
			link := dict.LinkTable().At(int(sample.LinkIndex()))
			o := observation{
				profile: i, tenant: tenant.Str(), session: text(profile.AttributeIndices(), "sentry.profiler_id"),
				thread: text(sample.AttributeIndices(), "thread.id"), alone: len(threads) == 1,
				stack: sample.StackIndex(), trace: link.TraceID(), span: link.SpanID(),
			}
			if o.aggregated = sample.TimestampsUnixNano().Len() == 0; o.aggregated {
				o.value = sample.Values().At(0)
				all = append(all, o)
			}
			for j, instant := range sample.TimestampsUnixNano().All() {
				o.instant = instant
				if sample.Values().Len() > 0 {
					o.value = sample.Values().At(j)
				}
				all = append(all, o)
			}
		}
	}
	return all
}

func count(all []observation) map[observation]int {
	counts := map[observation]int{}
	for _, o := range all {
		counts[o]++
	}
	return counts
}

// expected returns the observations of a message with the links of the oracle.
func expected(p pprofile.Profiles, oracle *spanlinktest.Oracle) map[observation]int {
	all := observations(p)
	for i := range all {
		o := &all[i]
		if o.aggregated || o.thread == "" {
			continue
		}
		answer := oracle.Ask(o.tenant, o.session, o.thread, o.alone, o.instant).Span
		if answer != nil && (o.span.IsEmpty() || answer.IsDescendant(o.trace, o.span)) {
			o.trace, o.span = answer.Trace, answer.ID
		}
	}
	return count(all)
}
