// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// BenchmarkLogs runs decoding and translation over a recorded log container, made as long as SDKs
// make them, and an event.
func BenchmarkLogs(b *testing.B) {
	for _, request := range golden.Corpus(b) {
		if request.Name != "sentry.javascript.node-10.75.3/continuous-manual/006" && request.Name != "sentry.javascript.node-10.75.3/continuous-manual/110" {
			continue
		}
		envelope, err := sentry.ReadEnvelope(request.Decoded(b))
		if err != nil {
			b.Fatal(err)
		}
		item := envelope.Items[0]
		switch item.Header.Type {
		case sentry.ItemLog:
			head, elements, _ := strings.Cut(strings.TrimSuffix(string(item.Payload), "]}"), `"items":[`)
			payload := []byte(head + `"items":[` + strings.Repeat(elements+",", 33) + elements + "]}")
			b.Run("container-100", func(b *testing.B) {
				b.SetBytes(int64(len(payload)))
				b.ReportAllocs()
				for b.Loop() {
					c, err := event.DecodeLogs(payload, jsonscan.Optional[int]{})
					if err != nil {
						b.Fatal(err)
					}
					LogsToLogs(c, Source{ProjectID: "1"})
				}
			})
		case sentry.ItemEvent:
			b.Run("event", func(b *testing.B) {
				b.SetBytes(int64(len(item.Payload)))
				b.ReportAllocs()
				for b.Loop() {
					e, err := event.DecodeEvent(item.Payload)
					if err != nil {
						b.Fatal(err)
					}
					EventToLogs(e, Source{ProjectID: "1"})
				}
			})
		}
	}
}
