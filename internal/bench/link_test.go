package main

import (
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/spanlink"
)

// BenchmarkLink is linking alone.
func BenchmarkLink(b *testing.B) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		profiles := decodeAndMap(p)
		index := spanlink.NewIndex(spanlink.Sentry, spanlink.Limits{Spans: 1 << 20, Keep: time.Hour})
		now := time.Now()
		index.Add(requestsOf(profiles), now)
		samples := 0
		for b.Loop() {
			b.StopTimer()
			fresh := pprofile.NewProfiles()
			profiles.CopyTo(fresh)
			b.StartTimer()
			index.Link(fresh, spanlink.Options{Now: now, Ambiguous: spanlink.Skip, Session: benchSession})
			samples = fresh.SampleCount()
		}
		b.ReportMetric(float64(profiles.SampleCount()), "samples-in")
		b.ReportMetric(float64(samples), "samples-out")
	})
}
