// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// BenchmarkParts runs single steps of the product, for CPU profiles. It also reports the CPU time
// per sample, which depends less on other load than the elapsed time.
func BenchmarkParts(b *testing.B) {
	for _, part := range []struct {
		name    string
		prepare func(p payload.Payload) (work func())
	}{
		{"receive", func(p payload.Payload) func() { // starts with the gzipped body
			zipped := payload.Zip(p.Envelope())
			return func() { receive(zipped) }
		}},
		{"decode+map", func(p payload.Payload) func() { return func() { decodeAndMap(p) } }},
		{"decode", func(p payload.Payload) func() {
			return func() {
				d := profile.AcquireDecoder()
				decode(d, p)
				d.Release()
			}
		}},
		{"map", func(p payload.Payload) func() { return decode(profile.AcquireDecoder(), p) }},
		{"export", func(p payload.Payload) func() { // MB/s refer to the size of the original payload
			profiles := decodeAndMap(p)
			return func() { exportChunk(profiles) }
		}},
		{"unmarshal+link", func(p payload.Payload) func() {
			l := newLinking(decodeAndMap(p))
			return func() { l.link(l.unmarshal()) }
		}},
	} {
		b.Run(part.name, func(b *testing.B) {
			sources := slices.Concat(payload.Typical(typical), payload.Extreme(typical), recorded)
			onEach(b, sources, func(b *testing.B, p payload.Payload) {
				work := part.prepare(p)
				b.ReportAllocs()
				b.SetBytes(int64(len(p.JSON)))
				before := processTime()
				for b.Loop() {
					work()
				}
				b.ReportMetric(float64(processTime()-before)/float64(b.N*p.Samples), "cpu-ns/sample")
			})
		})
	}
}

// decode decodes the profile and returns a function that translates it.
func decode(d *profile.Decoder, p payload.Payload) func() {
	if p.V1 {
		profile, err := d.Profile(p.JSON)
		must(err)
		return func() { fromsentry.ProfileToProfiles(profile, source) }
	}
	chunk, err := d.Chunk(p.JSON)
	must(err)
	return func() { fromsentry.ChunkToProfiles(chunk, source) }
}
