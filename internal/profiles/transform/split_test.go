// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"encoding/hex"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// spread makes rows with observations all over the given seconds, 100 a second.
func spread(rows, seconds int) []row {
	r := rand.New(rand.NewPCG(uint64(rows), 5))
	var all []row
	for i := range rows {
		all = append(all, row{frame: uint64(i), thread: int64(i % 3)})
	}
	for tick := range 100 * seconds {
		row := &all[r.IntN(rows)]
		row.times = append(row.times, testStart+uint64(tick)*10_000_000)
	}
	return all
}

func encodedSize(t *testing.T, p pprofile.Profiles) int {
	t.Helper()
	p.MarkReadOnly()
	encoded, err := new(pprofile.ProtoMarshaler).MarshalProfiles(p)
	require.NoError(t, err)
	return len(encoded)
}

func TestSplitByDuration(t *testing.T) {
	parts, _ := Apply(profileOf(wall, spread(20, 25)...), []Step{&Split{MaxDuration: 10 * time.Second}})
	require.Len(t, parts, 3)
	var end uint64
	for i, part := range parts {
		profile := firstProfile(part)
		start, duration := uint64(profile.Time()), profile.DurationNano()
		require.Equal(t, uint64(testStart+i*10_000_000_000), start, "parts are cut at multiples")
		require.LessOrEqual(t, duration, uint64(10*time.Second))
		require.GreaterOrEqual(t, start, end, "parts do not overlap")
		end = start + duration
	}
}

func TestSplitBySamples(t *testing.T) {
	for name, rows := range map[string][]row{
		"in time":     spread(50, 3),
		"no times":    valuesOnly(500),
		"one instant": oneInstant(500),
	} {
		t.Run(name, func(t *testing.T) {
			p := profileOf(wall, rows...)
			want := tally(spell(p))
			parts, _ := Apply(p, []Step{&Split{MaxSamples: 20}})
			for _, part := range parts {
				require.LessOrEqual(t, part.SampleCount(), 20)
			}
			require.Empty(t, difference(want, tally(spellAll(t, parts))))
		})
	}
}

func valuesOnly(n int) (all []row) {
	for i := range n {
		all = append(all, row{frame: uint64(i), values: []int64{1}})
	}
	return all
}

func oneInstant(n int) (all []row) {
	for i := range n {
		all = append(all, row{frame: uint64(i), times: []uint64{testStart, testStart}})
	}
	return all
}

func TestSplitByBytes(t *testing.T) {
	const limit = 20_000
	p := profileOf(wall, spread(300, 120)...)
	p.ResourceProfiles().At(0).Resource().Attributes().PutStr("a", "b") // texts that marshalling moves
	want := tally(spell(p))
	require.Greater(t, size(p), 5*limit)
	parts, _ := Apply(p, []Step{&Split{MaxBytes: limit}})
	require.Empty(t, difference(want, tally(spellAll(t, parts))))
	require.Greater(t, len(parts), 5)
	require.Less(t, len(parts), 20, "parts are not much smaller than they may be")
	for _, part := range parts {
		require.LessOrEqual(t, encodedSize(t, part), limit)
	}
}

// What was announced as size is not less than what is sent.
func TestSizeIsNoUnderestimate(t *testing.T) {
	for seed := range uint64(100) {
		p := randomProfiles(rand.New(rand.NewPCG(seed, 6)))
		announced := size(p)
		require.GreaterOrEqual(t, announced, encodedSize(t, p), "seed %d", seed)
	}
}

func TestSplitMarksParts(t *testing.T) {
	split := func() []pprofile.Profiles {
		p := profileOf(wall, spread(5, 3)...)
		e := dictionary.NewEditor(p.Dictionary())
		dictionary.SetAttributes(firstProfile(p).AttributeIndices(),
			attributeOf(e, semconv.SentryMeasurements, map[string]any{"cpu": int64(1)}), attributeOf(e, "sentry.profiler_id", "x"))
		parts, _ := Apply(p, []Step{&Split{MaxDuration: time.Second}})
		return parts
	}
	first, again := split(), split()
	require.Len(t, first, 3)
	whole := pprofile.ProfileID{7}
	ids := map[pprofile.ProfileID]bool{whole: true}
	for i, part := range first {
		profile, v := firstProfile(part), dictionary.NewView(part.Dictionary())
		require.False(t, ids[profile.ProfileID()], "every part has an id of its own")
		ids[profile.ProfileID()] = true
		require.Equal(t, profile.ProfileID(), firstProfile(again[i]).ProfileID(), "the same every time")
		require.Equal(t, hex.EncodeToString(whole[:]), get(v, profile, semconv.SplitProfileID).Str())
		require.Equal(t, int64(i+1), get(v, profile, semconv.SplitPart).Int())
		require.Equal(t, "x", get(v, profile, "sentry.profiler_id").Str())
		_, measured := v.Get(profile.AttributeIndices(), semconv.SentryMeasurements)
		require.Equal(t, i == 0, measured)
	}
}

func get(v dictionary.View, profile pprofile.Profile, key string) pcommon.Value {
	value, _ := v.Get(profile.AttributeIndices(), key)
	return value
}

// Cut once more, a part is a whole of its own.
func TestSplitTwice(t *testing.T) {
	parts, _ := Apply(profileOf(wall, spread(5, 4)...), []Step{&Split{MaxDuration: 2 * time.Second}})
	require.Len(t, parts, 2)
	id := firstProfile(parts[1]).ProfileID()
	again, _ := Apply(parts[1], []Step{&Split{MaxDuration: time.Second}})
	require.Len(t, again, 2)
	for i, part := range again {
		require.Empty(t, conformance.Check(part))
		v := dictionary.NewView(part.Dictionary())
		require.Equal(t, hex.EncodeToString(id[:]), get(v, firstProfile(part), semconv.SplitProfileID).Str())
		require.Equal(t, int64(i+1), get(v, firstProfile(part), semconv.SplitPart).Int())
	}
}

// What respects the limits stays as it is, id and all.
func TestSplitLeavesShortOnes(t *testing.T) {
	p := profileOf(wall, spread(5, 1)...)
	want := dictionarytest.Dump(p)
	parts, _ := Apply(p, []Step{&Split{MaxDuration: time.Second, MaxSamples: 5, MaxBytes: minSplitBytes}})
	require.Len(t, parts, 1)
	require.Equal(t, want, dictionarytest.Dump(parts[0]))
}

// Hostile times, a resource that is too large, and a stack that is: nothing of it multiplies
// without end.
func TestSplitIsBounded(t *testing.T) {
	var times []uint64
	for i := range uint64(20_000) {
		times = append(times, i*(math.MaxUint64/20_001)+1)
	}
	parts, _ := Apply(profileOf(wall, row{frame: 1, times: times}), []Step{&Split{MaxDuration: time.Millisecond}})
	require.LessOrEqual(t, len(parts), maxParts)
	require.Len(t, spellAll(t, parts), 20_000)

	p := profileOf(wall, spread(50, 60)...)
	p.ResourceProfiles().At(0).Resource().Attributes().PutStr("large", string(make([]byte, minSplitBytes)))
	parts, _ = Apply(p, []Step{&Split{MaxBytes: minSplitBytes}})
	require.Len(t, parts, 1)

	p = stackProfile([]namedFrame{{functions: strings.Repeat("f", 1<<20)}}, []namedFrame{{functions: "main"}})
	for _, s := range firstProfile(p).Samples().All() {
		s.TimestampsUnixNano().FromRaw(times)
	}
	before := size(p)
	parts, _ = Apply(p, []Step{&Split{MaxBytes: minSplitBytes, MaxSamples: 1}})
	n, observed := 0, 0
	for _, part := range parts {
		require.Empty(t, conformance.Check(part))
		n += size(part)
		observed += count(part)
	}
	require.Equal(t, 40_000, observed)
	t.Logf("%.2f of the bound", float64(n)/float64((maxMultiple+2)*before+minBudget))
	require.Less(t, n, (maxMultiple+2)*before)
}
