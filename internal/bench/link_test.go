package main

import (
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// BenchmarkLink is linking alone.
func BenchmarkLink(b *testing.B) {
	forEachLinking(b, func(l *linking) func(pprofile.Profiles) { return l.link })
}

// BenchmarkLinkFloor is making the same samples and links, known beforehand.
func BenchmarkLinkFloor(b *testing.B) {
	forEachLinking(b, func(l *linking) func(pprofile.Profiles) { return l.result.make })
}

// forEachLinking gives each round a message of its own, which is changed.
func forEachLinking(b *testing.B, change func(*linking) func(pprofile.Profiles)) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		l := newLinking(decodeAndMap(p))
		change := change(l)
		b.ResetTimer()
		for b.Loop() {
			b.StopTimer()
			fresh := l.unmarshal()
			b.StartTimer()
			change(fresh)
		}
		b.ReportMetric(float64(l.samples), "samples-in")
		b.ReportMetric(float64(len(l.result.samples)), "samples-out")
	})
}
