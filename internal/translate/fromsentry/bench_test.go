// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// BenchmarkRecorded runs decoding and translation over the large recordings.
func BenchmarkRecorded(b *testing.B) {
	large := map[string]string{
		"sentry.javascript.node-10.75.3/stress-continuous-manual/025": "node-34MB",
		"sentry.python-2.68.0/continuous-manual/074":                  "python-3.6MB",
		"sentry.java-8.53.0/continuous-manual/037":                    "java-1.7MB",
		"sentry.javascript.browser-11.12.0/ui-profiling-trace":        "browser",
		"sentry.javascript.node-10.75.3/continuous-manual/074":        "node-0.5MB",
	}
	for _, request := range golden.Corpus(b) {
		name, wanted := large[request.Name]
		if !wanted {
			continue
		}
		envelope, err := sentry.ReadEnvelope(request.Decoded(b))
		if err != nil {
			b.Fatal(err)
		}
		for _, item := range envelope.Items {
			if item.Header.Type != "profile_chunk" {
				continue
			}
			b.Run(name+"/decode", func(b *testing.B) {
				b.SetBytes(int64(len(item.Payload)))
				b.ReportAllocs()
				for b.Loop() {
					d := profile.AcquireDecoder()
					if _, err := d.Chunk(item.Payload); err != nil {
						b.Fatal(err)
					}
					d.Release()
				}
			})
			b.Run(name+"/decode+map", func(b *testing.B) {
				b.SetBytes(int64(len(item.Payload)))
				b.ReportAllocs()
				for b.Loop() {
					d := profile.AcquireDecoder()
					c, err := d.Chunk(item.Payload)
					if err != nil {
						b.Fatal(err)
					}
					ChunkToProfiles(c, Source{ProjectID: "1", PeriodType: "wall"})
					d.Release()
				}
			})
		}
	}
}
