// SPDX-License-Identifier: Apache-2.0

package dialect_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dialect"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

func decode(t *testing.T, path ...string) (pprofile.Profiles, error) {
	t.Helper()
	encoded, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
}

type sample struct {
	stack, link int32
	attributes  []int32
	values      []int64
	times       []uint64
}

const start = 1_795_223_440_000_000_000

// today makes the message of testdata/make1_9.py in the current dialect.
func today(links int, samples ...sample) pprofile.Profiles {
	p := pprofile.NewProfiles()
	e := dictionary.NewEditor(p.Dictionary())
	var stack []dictionary.LocationIndex
	for _, name := range []string{"main", "query"} {
		f := e.Function(dictionary.Function{Name: e.String(name)})
		stack = append([]dictionary.LocationIndex{e.Location(dictionary.Location{Lines: []dictionary.Line{{Function: f}}})}, stack...)
		e.Stack(stack)
	}
	for _, name := range []string{"main", "pool-1"} {
		e.Attribute("thread.name", pcommon.NewValueStr(name))
	}
	for i := range byte(links) {
		link := p.Dictionary().LinkTable().AppendEmpty()
		for j := range 16 {
			trace, span := link.TraceID(), link.SpanID()
			trace[j], span[j/2] = i+1, i+1
			link.SetTraceID(trace)
			link.SetSpanID(span)
		}
	}
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	scope := resource.ScopeProfiles().AppendEmpty()
	scope.Scope().SetName("old-profiler")
	scope.Scope().SetVersion("0.9")
	profile := scope.Profiles().AppendEmpty()
	profile.SetTime(start)
	profile.SetDurationNano(1_000_000_000)
	profile.SetPeriod(10_000_000)
	dictionary.SetValueType(profile.SampleType(), e.String("samples"), e.String("count"))
	dictionary.SetValueType(profile.PeriodType(), e.String("cpu"), e.String("nanoseconds"))
	addSamples(profile, samples...)
	return p
}

func addSamples(profile pprofile.Profile, samples ...sample) {
	for _, s := range samples {
		to := profile.Samples().AppendEmpty()
		to.SetStackIndex(s.stack)
		to.SetLinkIndex(s.link)
		to.AttributeIndices().FromRaw(s.attributes)
		to.Values().FromRaw(s.values)
		to.TimestampsUnixNano().FromRaw(s.times)
	}
}

// Messages that the protocol types of OTLP 1.9 wrote equal the same profile in today's dialect, or
// are rejected with the name of the producer.
func TestRoundTrip(t *testing.T) {
	for name, want := range map[string]pprofile.Profiles{
		"totals": today(0, sample{stack: 1, values: []int64{70}}, sample{stack: 2, values: []int64{3}}),
		"linked": today(2, sample{stack: 1, link: 1, values: []int64{70}}, sample{stack: 2, link: 2, values: []int64{3}}),
		"points": today(1, sample{stack: 1, values: []int64{70, 80}, times: []uint64{start, start + 5}},
			sample{stack: 2, link: 1, values: []int64{3}, times: []uint64{start + 7}}),
		"timestamps": today(0, sample{stack: 1, times: []uint64{start, start + 5}}, sample{stack: 2, times: []uint64{start + 7}}),
	} {
		t.Run(name, func(t *testing.T) {
			old, err := decode(t, "testdata", "otlp-1.9", name+".pb")
			require.NoError(t, err)
			before := dictionarytest.Dump(old)
			got, translated, err := dialect.Current(old)
			require.NoError(t, err)
			require.Equal(t, name != "timestamps", translated, "timestamps have the same number in both")
			require.Equal(t, dictionarytest.Dump(want), dictionarytest.Dump(got))
			require.Equal(t, before, dictionarytest.Dump(old), "the message belongs to the caller")
			_, translated, err = dialect.Current(got)
			require.NoError(t, err)
			require.False(t, translated)
		})
	}

	large, err := decode(t, "testdata", "otlp-1.9", "large.pb")
	require.NoError(t, err)
	_, _, err = dialect.Current(large)
	for _, fact := range []string{"old-profiler 0.9", "unknown dialect", "older than 1.10", "update the producer"} {
		require.ErrorContains(t, err, fact, "a value of 3e9 does not fit into 32 bits")
	}

	_, err = decode(t, "testdata", "otlp-1.9", "attributes.pb")
	require.ErrorContains(t, err, "LinkIndex", "collectors reject lists of attributes when they decode them")
}

// async-profiler moved to OTLP 1.10 in 4.5; earlier versions are recordings of the same program.
func TestAsyncProfiler(t *testing.T) {
	recorded := filepath.Join(golden.Root(t), "testdata", "otlp", "async-profiler")
	for _, version := range []string{"4.3", "4.4"} {
		old, err := decode(t, recorded, version+"-itimer.pb")
		require.NoError(t, err)
		require.Equal(t, "async-profiler of an unknown version", dialect.Producer(old))
		got, translated, err := dialect.Current(old)
		require.NoError(t, err)
		require.True(t, translated)
		dictionary.Compact(got) // async-profiler writes equal stacks twice
		require.Empty(t, conformance.Check(got))
		require.Contains(t, dictionarytest.Dump(got), "Work.checkout")
	}
	for _, engine := range []string{"cpu", "ctimer", "itimer", "wall"} {
		p, err := decode(t, recorded, "4.5-"+engine+".pb")
		require.NoError(t, err)
		_, translated, err := dialect.Current(p)
		require.NoError(t, err)
		require.False(t, translated)
	}
	_, err := decode(t, recorded, "4.1-itimer.pb")
	require.Error(t, err, "OTLP 1.7 does not decode")
}

// No valid message is taken for an old one.
func TestValidMessagesStay(t *testing.T) {
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 1))
		var samples []sample
		shape := r.IntN(3)
		for range 1 + r.IntN(5) {
			s := sample{stack: int32(r.IntN(3)), link: int32(r.IntN(2))}
			if r.IntN(2) == 0 {
				s.attributes = []int32{int32(1 + r.IntN(2))}
			}
			for range 1 + r.IntN(3)*min(shape, 1) {
				if shape != 1 {
					s.values = append(s.values, int64(r.IntN(4)))
				}
				if shape != 0 {
					s.times = append(s.times, start+uint64(r.IntN(10)))
				}
			}
			samples = append(samples, s)
		}
		p := today(1, samples...)
		p.MarkReadOnly()
		got, translated, err := dialect.Current(p)
		require.NoError(t, err, "seed %d", seed)
		require.False(t, translated, "seed %d", seed)
		require.Equal(t, p, got)
	}
}

// A message that is broken in both dialects goes on: other code drops and counts its parts.
func TestBrokenMessagesStay(t *testing.T) {
	for name, p := range map[string]pprofile.Profiles{
		"empty":            pprofile.NewProfiles(),
		"a broken sample":  today(0, sample{stack: 99, values: []int64{1}}, sample{stack: 1, values: []int64{1}}),
		"too many values":  today(0, sample{stack: 1, values: []int64{1, 2, 3}, times: []uint64{1, 2}}),
		"one of two empty": today(0, sample{stack: 1}, sample{stack: 1, values: []int64{1}}),
	} {
		got, translated, err := dialect.Current(p)
		require.NoError(t, err, name)
		require.False(t, translated, name)
		require.Equal(t, p, got, name)
	}
}

func FuzzCurrent(f *testing.F) {
	for _, name := range []string{"totals", "linked", "points", "timestamps", "large"} {
		encoded, err := os.ReadFile(filepath.Join("testdata", "otlp-1.9", name+".pb"))
		require.NoError(f, err)
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		p, err := new(pprofile.ProtoUnmarshaler).UnmarshalProfiles(encoded)
		if err != nil {
			return
		}
		p.MarkReadOnly() // a write panics
		got, translated, err := dialect.Current(p)
		if err != nil || !translated {
			return
		}
		if _, again, err := dialect.Current(got); again || err != nil {
			t.Errorf("translated twice: %v", err)
		}
	})
}
