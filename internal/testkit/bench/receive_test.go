// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// BenchmarkReceive compares decoding and translating with other decoders and the same translation.
// The floor only checks the JSON and copies the result, which is known: it creates the same
// objects, without decoding fields and without searching the dictionary.
func BenchmarkReceive(b *testing.B) {
	sources := slices.Concat(payload.Typical(typical), payload.Extreme(typical)[1:], recorded)
	onEach(b, sources, func(b *testing.B, p payload.Payload) {
		libraries := rival.All()
		result := decodeAndMap(p)
		contestants := []func(){func() { decodeAndMap(p) }, func() {
			checkJSON(p.JSON)
			result.CopyTo(pprofile.NewProfiles())
		}}
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
			report(b, library.Name+"÷own", took[2+i], took[0])
		}
		report(b, "floor÷own", took[1], took[0])
	})
}

// checkJSON reads a document and decodes nothing.
func checkJSON(text []byte) {
	s := jsonscan.Scanner{Data: text}
	s.Skip()
	if s.Err != nil {
		panic(s.Err)
	}
}
