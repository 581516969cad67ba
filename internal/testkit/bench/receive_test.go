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
		libraries := slices.DeleteFunc(rival.All(), func(l rival.Library) bool { return p.V1 && l.Profile == nil })
		contestants := []func(){func() { decodeAndMap(p) }}
		for _, library := range libraries {
			contestants = append(contestants, func() {
				if p.V1 {
					profile, err := library.Profile(p.JSON)
					must(err)
					fromsentry.ProfileToProfiles(profile, source)
					return
				}
				chunk, err := library.Chunk(p.JSON)
				must(err)
				fromsentry.ChunkToProfiles(chunk, source)
			})
		}
		took := race(b, contestants...)
		for i, library := range libraries {
			report(b, library.Name+"÷own", took[1+i], took[0])
		}
	})
}
