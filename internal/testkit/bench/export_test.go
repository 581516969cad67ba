// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"testing"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// BenchmarkExport compares the translation from an OTLP message to the JSON of a chunk with structs that encoding/json marshals.
func BenchmarkExport(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), payload.Extreme(typical), recorded), func(b *testing.B, p payload.Payload) {
		if p.V1 {
			b.Skip("chunks only")
		}
		profiles := decodeAndMap(p)
		took := race(b, func() { exportChunk(profiles) }, func() {
			_, err := rival.MarshalChunk(profiles)
			must(err)
		})
		report(b, "structs÷own", took[1], took[0])
	})
}

var exportOptions = tosentry.ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-sentry", Version: "0"}}

// exportChunk translates a message to a chunk with the product's code.
func exportChunk(profiles pprofile.Profiles) []byte {
	out := tosentry.ProfilesToChunks(profiles, exportOptions)
	return out.Items[0].Payload
}
