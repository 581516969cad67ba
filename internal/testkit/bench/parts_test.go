// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// BenchmarkParts runs steps of the product alone, for a look at where their time goes. Besides the usual figures it reports the
// CPU time of a sample, which other work on the machine disturbs less than the clock.
func BenchmarkParts(b *testing.B) {
	for _, part := range []struct {
		name    string
		prepare func(p payload.Payload) (work func())
	}{
		{"receive", func(p payload.Payload) func() { // from a gzip body on
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
		{"export", func(p payload.Payload) func() { // MB are those of the payload that came in
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

// decode gives what maps the profile that was decoded.
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
