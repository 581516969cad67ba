// SPDX-License-Identifier: Apache-2.0

package sampletype_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// The rows of docs/producers.md: what producers send, and the nanoseconds of a value of 1.
func TestProducers(t *testing.T) {
	for _, c := range []struct {
		producer                           string
		name, unit, periodName, periodUnit string
		period                             int64
		clock                              sampletype.Clock
		counts                             bool
		nanoseconds                        float64
	}{
		{"Sentry", "samples", "count", "wall", "nanoseconds", 10, sampletype.Wall, true, 10},
		{"eBPF on CPU", "samples", "count", "cpu", "nanoseconds", 10, sampletype.CPU, true, 10},
		{"eBPF off CPU", "off_cpu", "nanoseconds", "", "", 0, sampletype.None, false, 0},
		{"eBPF probe", "events", "count", "", "", 0, sampletype.None, false, 0},
		{"Go pprof, counts", "samples", "count", "cpu", "nanoseconds", 10, sampletype.CPU, true, 10},
		{"Go pprof, time", "cpu", "nanoseconds", "cpu", "nanoseconds", 10, sampletype.CPU, false, 1},
		{"Go pprof, heap", "inuse_space", "bytes", "space", "bytes", 524288, sampletype.None, false, 0},
		{"Go pprof, mutex", "delay", "nanoseconds", "contentions", "count", 1, sampletype.None, false, 0},
		{"async-profiler, ctimer", "ctimer", "count", "ctimer", "ns", 10, sampletype.CPU, true, 10},
		{"async-profiler, itimer", "itimer", "count", "itimer", "ns", 10, sampletype.CPU, true, 10},
		{"async-profiler, cpu", "perf_events", "count", "perf_events", "ns", 10, sampletype.CPU, true, 10},
		{"async-profiler, cycles", "perf_events", "count", "perf_events", "total", 10, sampletype.None, false, 0},
		{"async-profiler, wall", "wall", "count", "wall", "ns", 10, sampletype.Wall, true, 10},
		{"async-profiler, OpenJ9", "j9_wall", "count", "j9_wall", "ns", 10, sampletype.Wall, true, 10},
		{"async-profiler, total", "itimer", "ns", "itimer", "ns", 10, sampletype.CPU, false, 1},
		{"async-profiler, locks", "lock_tracer", "count", "lock_tracer", "ns", 10, sampletype.None, false, 0},
		{"async-profiler, allocations", "alloc_tracer", "count", "alloc_tracer", "bytes", 10, sampletype.None, false, 0},
		{"JFR by jfrconv", "cpu", "count", "cpu", "nanoseconds", 10, sampletype.CPU, true, 10},
		{"JFR by jfrconv, total", "cpu", "nanoseconds", "cpu", "nanoseconds", 10, sampletype.CPU, false, 1},
		{"other units", "wall", "milliseconds", "", "", 0, sampletype.Wall, false, 1e6},
		{"a period of microseconds", "samples", "count", "cpu", "us", 10, sampletype.CPU, true, 10_000},
		{"no period", "samples", "count", "", "", 0, sampletype.None, true, 0},
		{"nothing stated", "", "", "", "", 0, sampletype.None, false, 0},
	} {
		t.Run(c.producer, func(t *testing.T) {
			p := pprofile.NewProfiles()
			e := dictionary.NewEditor(p.Dictionary())
			profile := pprofile.NewProfile()
			dictionary.SetValueType(profile.SampleType(), e.String(c.name), e.String(c.unit))
			dictionary.SetValueType(profile.PeriodType(), e.String(c.periodName), e.String(c.periodUnit))
			profile.SetPeriod(c.period)
			got, ok := sampletype.Of(dictionary.NewView(p.Dictionary()), profile)
			require.True(t, ok)
			require.Equal(t, c.clock, got.Clock)
			require.Equal(t, c.counts, got.Counts)
			require.Equal(t, c.nanoseconds, got.Nanoseconds())
		})
	}
	_, ok := sampletype.Of(dictionary.NewView(pprofile.NewProfilesDictionary()), broken())
	require.False(t, ok)
}

func broken() pprofile.Profile {
	p := pprofile.NewProfile()
	p.SampleType().SetTypeStrindex(7)
	return p
}
