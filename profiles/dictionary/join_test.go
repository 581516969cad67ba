// SPDX-License-Identifier: Apache-2.0

package dictionary_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/xpdata/entity"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/producers"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// singles gives the text of each profile with its scope and resource, apart from the dictionary and
// from the other profiles: what grouping must not change.
func singles(messages ...pprofile.Profiles) (texts []string) {
	for _, m := range messages {
		for at := range m.ProfileCount() {
			one := copyOf(m)
			i := -1
			one.ResourceProfiles().RemoveIf(func(r pprofile.ResourceProfiles) bool {
				r.ScopeProfiles().RemoveIf(func(s pprofile.ScopeProfiles) bool {
					s.Profiles().RemoveIf(func(pprofile.Profile) bool { i++; return i != at })
					return s.Profiles().Len() == 0
				})
				return r.ScopeProfiles().Len() == 0
			})
			texts = append(texts, dictionarytest.Dump(one))
		}
	}
	return texts
}

func copyOf(m pprofile.Profiles) pprofile.Profiles {
	c := pprofile.NewProfiles()
	m.CopyTo(c)
	return c
}

// randomMessages makes messages of few resources and scopes, so that equal ones meet.
func randomMessages(r *rand.Rand) (all []pprofile.Profiles) {
	for range 2 + r.IntN(5) {
		m := build(randomSamples(r), r)
		if r.IntN(2) == 0 {
			more := m.ResourceProfiles().At(0).ScopeProfiles().AppendEmpty()
			dictionarytest.FirstProfile(m).CopyTo(more.Profiles().AppendEmpty())
			more.Scope().SetVersion("2")
		}
		resource := m.ResourceProfiles().At(0)
		resource.Resource().Attributes().PutStr("host", fmt.Sprint(r.IntN(2)))
		resource.SetSchemaUrl([]string{"", "https://opentelemetry.io/schemas/1.40.0"}[r.IntN(2)])
		scope := resource.ScopeProfiles().At(0)
		scope.Scope().SetName([]string{"", "a"}[r.IntN(2)])
		scope.Scope().SetDroppedAttributesCount(uint32(r.IntN(2)))
		dictionarytest.FirstProfile(m).SetProfileID(pprofile.ProfileID{byte(r.IntN(3))})
		all = append(all, m)
	}
	return all
}

// Joining changes nothing but the grouping, the result is valid, and separating it gives the same
// profiles again.
func TestJoinOfRandomMessages(t *testing.T) {
	t.Parallel()
	for seed := range seeds(60) {
		r := rand.New(rand.NewPCG(seed, 7))
		messages := randomMessages(r)
		want := singles(messages...)
		joined := dictionary.Join(messages)
		require.Len(t, joined, 1)
		mustBeClean(t, seed, joined[0])
		inOrder := singles(joined[0])
		require.ElementsMatch(t, want, inOrder, "seed %d", seed)

		heads := map[string]bool{}
		for _, resource := range joined[0].ResourceProfiles().All() {
			key := fmt.Sprint(resource.SchemaUrl(), resource.Resource().Attributes().AsRaw())
			require.False(t, heads[key], "seed %d: a resource twice", seed)
			heads[key] = true
			for _, scope := range resource.ScopeProfiles().All() {
				key := fmt.Sprint(key, scope.Scope().Name(), " ", scope.Scope().Version(), scope.Scope().DroppedAttributesCount())
				require.False(t, heads[key], "seed %d: a scope twice", seed)
				heads[key] = true
			}
		}

		parts := dictionary.Separate(joined[0], 1<<30)
		require.Len(t, parts, len(want))
		for _, part := range parts {
			mustBeClean(t, seed, part)
		}
		require.Equal(t, inOrder, singles(parts...))
		few := dictionary.Separate(joined[0], r.IntN(2000))
		require.Equal(t, inOrder, singles(few...), "seed %d", seed)
		for _, part := range few {
			mustBeClean(t, seed, part)
		}
	}
}

// Recorded profiles of SDKs and of the eBPF profiler.
func TestJoinOfRecordings(t *testing.T) {
	t.Parallel()
	messages := producers.EBPFRecording(t)
	d := profile.AcquireDecoder()
	defer d.Release()
	for _, request := range golden.Sample(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue
		}
		for _, item := range envelope.Items {
			if item.Header.Type == sentry.ItemProfileChunk && len(item.Payload) < 1<<20 {
				chunk, err := d.Chunk(item.Payload)
				require.NoError(t, err)
				messages = append(messages, fromsentry.ChunkToProfiles(chunk, fromsentry.Source{ProjectID: "4507", PeriodType: "wall"}))
			}
		}
	}
	least := 100
	if !testsize.Full() {
		least = 5
	}
	require.Greater(t, len(messages), least)
	want, before := singles(messages...), 0
	for _, m := range messages {
		before += (&pprofile.ProtoMarshaler{}).ProfilesSize(m)
	}
	joined := dictionary.Join(messages)
	require.Len(t, joined, 1)
	for _, v := range conformance.Check(joined[0]) {
		t.Error(v)
	}
	require.ElementsMatch(t, want, singles(joined[0]))
	after := (&pprofile.ProtoMarshaler{}).ProfilesSize(joined[0])
	t.Logf("%d messages, %d bytes → %d resources, %d bytes", len(messages), before, joined[0].ResourceProfiles().Len(), after)
	require.Less(t, after, before)
}

// Broken messages and those whose entry 0 has data follow unchanged. Resources with entities stay
// apart, and order is kept.
func TestJoinKeepsOthersApart(t *testing.T) {
	valid := func() pprofile.Profiles { return dictionarytest.ValidProfiles() }
	broken, old, described := valid(), valid(), valid()
	dictionarytest.FirstProfile(broken).Samples().At(0).SetStackIndex(99)
	old.Dictionary().StringTable().SetAt(0, "main")
	entity.ResourceEntityRefs(described.ResourceProfiles().At(0).Resource()).AppendEmpty().SetType("host")
	wantBroken, wantOld := copyOf(broken), copyOf(old)

	joined := dictionary.Join([]pprofile.Profiles{broken, valid(), old, valid(), described, described})
	require.Len(t, joined, 3)
	require.Equal(t, 3, joined[0].ResourceProfiles().Len())
	require.Equal(t, 2, joined[0].ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().Len())
	require.Equal(t, wantBroken, joined[1])
	require.Equal(t, wantOld, joined[2])
	require.Equal(t, []pprofile.Profiles{wantOld}, dictionary.Join([]pprofile.Profiles{wantOld}))
}

// Each part repeats a long text: their sum has a limit, and the remaining profiles stay together.
// An encoded, read-only message gives the same.
func TestSeparateIsBounded(t *testing.T) {
	m := build(nil, nil)
	m.ResourceProfiles().At(0).Resource().Attributes().PutStr("long", strings.Repeat("x", 1000))
	for range 99 {
		dictionarytest.FirstProfile(m).CopyTo(m.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().AppendEmpty())
	}
	want := singles(m)
	_, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(m)
	require.NoError(t, err)
	m.MarkReadOnly()
	parts := dictionary.Separate(m, 10_000)
	require.Equal(t, want, singles(parts...))
	require.Less(t, len(parts), 12)
	total, whole := 0, (&pprofile.ProtoMarshaler{}).ProfilesSize(m)
	for _, part := range parts {
		total += (&pprofile.ProtoMarshaler{}).ProfilesSize(part)
	}
	t.Logf("%d of %d bytes", total, 10_000+2*whole)
	require.LessOrEqual(t, total, 10_000+2*whole, "one is above the limit, and one has the remaining profiles")
	require.Greater(t, slices.IndexFunc(parts, func(p pprofile.Profiles) bool { return p.ProfileCount() > 1 }), 8)
}
