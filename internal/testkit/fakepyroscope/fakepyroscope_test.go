// SPDX-License-Identifier: Apache-2.0

package fakepyroscope

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const start = 1_795_223_440_000_000_000

// accepted makes a message that breaks no rule: one profile with one sample.
func accepted(change func(*dictionary.Editor, pprofile.ResourceProfiles, pprofile.Profile)) pprofile.Profiles {
	p := pprofile.NewProfiles()
	e := dictionary.NewEditor(p.Dictionary())
	resource := p.ResourceProfiles().AppendEmpty()
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.SetTime(start)
	profile.SetPeriod(10)
	setTypes(e, profile, "wall", "nanoseconds", "wall", "nanoseconds")
	s := profile.Samples().AppendEmpty()
	s.Values().Append(70)
	s.SetStackIndex(int32(e.Stack([]dictionary.LocationIndex{e.Location(dictionary.Location{
		Lines: []dictionary.Line{{Function: e.Function(dictionary.Function{Name: e.String("main")}), Line: 1}},
	})})))
	label(e, s, "service.name", "shop")
	if change != nil {
		change(e, resource, profile)
	}
	return p
}

func setTypes(e *dictionary.Editor, p pprofile.Profile, name, unit, periodName, periodUnit string) {
	dictionary.SetValueType(p.SampleType(), e.String(name), e.String(unit))
	dictionary.SetValueType(p.PeriodType(), e.String(periodName), e.String(periodUnit))
}

func label(e *dictionary.Editor, s pprofile.Sample, key, value string) {
	s.AttributeIndices().Append(int32(e.Attribute(key, pcommon.NewValueStr(value))))
}

func TestAccepted(t *testing.T) {
	store := Store{Now: time.Unix(0, start)}
	store.MustPush(t, accepted(nil))
	require.Equal(t, []Profile{{
		Type: "wall:wall:nanoseconds:wall:nanoseconds", Labels: map[string]string{"service_name": "shop"}, Time: start, Total: 70,
		series: `wall:wall:nanoseconds:wall:nanoseconds "service_name"="shop"`,
	}}, store.Profiles())
}

// Each rule has a message that breaks it, and is found by its text.
func TestRules(t *testing.T) {
	for want, change := range map[string]func(*dictionary.Editor, pprofile.ResourceProfiles, pprofile.Profile){
		"invalid label name ''": func(_ *dictionary.Editor, r pprofile.ResourceProfiles, _ pprofile.Profile) {
			r.Resource().Attributes().PutInt("shard", 3)
		},
		"the profile would be one of unknown_service": func(_ *dictionary.Editor, r pprofile.ResourceProfiles, p pprofile.Profile) {
			r.Resource().Attributes().PutStr("service.name", "shop")
			p.Samples().At(0).AttributeIndices().FromRaw(nil)
		},
		"the profile is lost": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).AttributeIndices().Append(99)
		},
		"invalid metric name": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) { p.SetPeriod(0) },
		"contains -": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			setTypes(e, p, "cache-misses", "count", "cycles", "count")
		},
		"has a colon": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			setTypes(e, p, "a:b", "count", "cycles", "count")
		},
		"sample values length mismatch 2 1": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).Values().Append(1)
		},
		"sample value is required": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).Values().FromRaw(nil)
		},
		"timestamps count 1 each": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).Values().FromRaw(nil)
			p.Samples().At(0).TimestampsUnixNano().Append(start)
		},
		"overflow": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			setTypes(e, p, "samples", "count", "cpu", "nanoseconds")
			p.Samples().At(0).Values().SetAt(0, math.MaxInt64/2)
		},
		"is negative": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).Values().SetAt(0, -1)
		},
		"invalid stack index": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).SetStackIndex(99)
		},
		"link 9 is out of bounds": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.Samples().At(0).SetLinkIndex(9)
		},
		"34 label names; limit 30": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			for i := range 30 {
				label(e, p.Samples().At(0), fmt.Sprint("k", i), "v")
			}
		},
		"label value of 2049 bytes": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			label(e, p.Samples().At(0), "k", strings.Repeat("v", 2049))
		},
		"label name of 1025 bytes": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			label(e, p.Samples().At(0), strings.Repeat("k", 1025), "v")
		},
		`invalid label name "http-route"`: func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			label(e, p.Samples().At(0), "http-route", "v")
		},
		`duplicate label name "a_b"`: func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			label(e, p.Samples().At(0), "a.b", "1")
			label(e, p.Samples().At(0), "a_b", "2")
		},
		"16001 samples; limit 16000": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			for range 16_000 {
				p.Samples().At(0).CopyTo(p.Samples().AppendEmpty())
			}
		},
		"bytes as pprof; limit 4194304": func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			stack := make([]dictionary.LocationIndex, 1<<21)
			p.Samples().At(0).SetStackIndex(int32(e.Stack(stack)))
		},
		"time is 0": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) { p.SetTime(0) },
		"outside of the ingestion window": func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			p.SetTime(start - 3601e9)
		},
	} {
		t.Run(want, func(t *testing.T) {
			store := Store{Now: time.Unix(0, start)}
			require.Contains(t, fmt.Sprint(store.Push(accepted(change))), want)
			require.Empty(t, store.Profiles(), "one profile rejects the request")
		})
	}
}

func TestTypes(t *testing.T) {
	for want, types := range map[string][4]string{
		"process_cpu:cpu:nanoseconds:cpu:nanoseconds": {"samples", "count", "cpu", "nanoseconds"},
		"cpu:cpu:nanoseconds:cpu:nanoseconds":         {"cpu", "nanoseconds", "cpu", "nanoseconds"},
		"wall:samples:count:wall:nanoseconds":         {"samples", "count", "wall", "nanoseconds"},
	} {
		store := Store{}
		store.MustPush(t, accepted(func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
			setTypes(e, p, types[0], types[1], types[2], types[3])
		}))
		require.Equal(t, want, store.Profiles()[0].Type)
	}
}

// A profile is a duplicate if type, labels and time are equal, whatever is in it.
func TestCompact(t *testing.T) {
	later := func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) { p.SetTime(start + 1) }
	other := func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
		label(e, p.Samples().At(0), "shard", "3")
	}
	larger := func(_ *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
		p.Samples().At(0).Values().SetAt(0, 1000)
	}
	store := Store{}
	for _, change := range []func(*dictionary.Editor, pprofile.ResourceProfiles, pprofile.Profile){nil, later, larger, other, nil} {
		store.MustPush(t, accepted(change))
	}
	require.Len(t, store.Profiles(), 5)
	require.Len(t, store.Compact(), 3)
	require.Equal(t, int64(210), Sum(store.Compact()), "the first one stays")
}

// Samples of several label sets are several series of one time; links are no labels.
func TestSeries(t *testing.T) {
	store := Store{}
	p := accepted(func(e *dictionary.Editor, _ pprofile.ResourceProfiles, p pprofile.Profile) {
		second, third := p.Samples().AppendEmpty(), p.Samples().AppendEmpty()
		p.Samples().At(0).CopyTo(second)
		p.Samples().At(0).CopyTo(third)
		label(e, second, "shard", "3")
		third.SetLinkIndex(1)
	})
	link := p.Dictionary().LinkTable().AppendEmpty()
	link.SetTraceID(pcommon.TraceID{1})
	link.SetSpanID(pcommon.SpanID{2})
	store.MustPush(t, p)
	require.Len(t, store.Profiles(), 2)
	require.Equal(t, int64(140), store.Profiles()[0].Total)
	require.Equal(t, 1, store.Profiles()[0].Spans)
}
