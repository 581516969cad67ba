package main

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// BenchmarkDecodeAndMap is the receive path of the product without compression and HTTP.
func BenchmarkDecodeAndMap(b *testing.B) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		for b.Loop() {
			decodeAndMap(p)
		}
	})
}

// BenchmarkReceive adds what comes before: a gzip body, and the envelope in it.
func BenchmarkReceive(b *testing.B) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		zipped := payload.Zip(p.Envelope())
		for b.Loop() {
			receive(zipped)
		}
	})
}

// BenchmarkDecode is the decoder alone.
func BenchmarkDecode(b *testing.B) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		for b.Loop() {
			d := sentry.AcquireDecoder()
			if p.V1 {
				_, err := d.Profile(p.JSON)
				must(err)
			} else {
				_, err := d.Chunk(p.JSON)
				must(err)
			}
			d.Release()
		}
	})
}

// BenchmarkMap is the translation alone.
func BenchmarkMap(b *testing.B) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		d := sentry.AcquireDecoder()
		defer d.Release()
		if p.V1 {
			profile, err := d.Profile(p.JSON)
			must(err)
			for b.Loop() {
				translate.ProfileToProfiles(profile, source)
			}
			return
		}
		chunk, err := d.Chunk(p.JSON)
		must(err)
		for b.Loop() {
			translate.ChunkToProfiles(chunk, source)
		}
	})
}

// BenchmarkExport is the way back: from a message to the JSON of a chunk. MB are those of the payload that came in.
func BenchmarkExport(b *testing.B) {
	forEachPayload(b, func(b *testing.B, p payload.Payload) {
		profiles := decodeAndMap(p)
		b.ResetTimer()
		for b.Loop() {
			exportChunk(profiles)
		}
	})
}

// forEachPayload runs a benchmark on the generated payloads and on the recorded ones that are at hand. Besides the usual
// figures it reports the CPU time of an operation, which other work on the machine disturbs less than the clock.
func forEachPayload(b *testing.B, run func(b *testing.B, p payload.Payload)) {
	recorded, err := payload.Recorded()
	if err != nil {
		b.Log(err)
	}
	for _, source := range append(payload.Generated(), recorded...) {
		b.Run(source.Name, func(b *testing.B) {
			p, err := source.Load()
			must(err)
			b.ReportAllocs()
			b.SetBytes(int64(len(p.JSON)))
			before := measure.ProcessTime()
			run(b, p)
			cpu := float64(measure.ProcessTime()-before) / float64(b.N)
			b.ReportMetric(cpu, "cpu-ns/op")
			b.ReportMetric(cpu/float64(p.Samples), "cpu-ns/sample")
		})
	}
}
