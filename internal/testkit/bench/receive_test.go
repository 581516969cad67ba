// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// BenchmarkReceive compares decoding and translating with other decoders and the same translation.
func BenchmarkReceive(b *testing.B) {
	sources := slices.Concat(payload.Typical(typical), payload.Extreme(typical)[1:], recorded)
	onEach(b, sources, func(b *testing.B, p payload.Payload) {
		contestants := []func(){func() { decodeAndMap(p) }}
		converter, err := rival.NewConverter(p.JSON)
		must(err)
		for _, library := range rival.All() {
			contestants = append(contestants, func() {
				if p.V1 {
					profile, err := library.Profile(p.JSON)
					must(err)
					fromsentry.ProfileToProfiles(converter.Profile(profile), source)
					return
				}
				chunk, err := library.Chunk(p.JSON)
				must(err)
				fromsentry.ChunkToProfiles(converter.Chunk(chunk), source)
			})
		}
		took := race(b, contestants...)
		for i, library := range rival.All() {
			report(b, library.Name+"÷own", took[1+i], took[0])
		}
	})
}
