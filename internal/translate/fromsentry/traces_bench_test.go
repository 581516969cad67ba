// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// BenchmarkSpans runs decoding and translation over the largest recorded transaction and the
// largest recorded container.
func BenchmarkSpans(b *testing.B) {
	var transaction, container []byte
	for _, request := range golden.Corpus(b) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(b))
		if err != nil {
			continue
		}
		for _, item := range envelope.Items {
			switch {
			case item.Header.Type == sentry.ItemTransaction && len(item.Payload) > len(transaction):
				transaction = item.Payload
			case item.Header.ContentType == sentry.ContentTypeSpans && len(item.Payload) > len(container):
				container = item.Payload
			}
		}
	}
	b.Run("transaction", func(b *testing.B) {
		b.SetBytes(int64(len(transaction)))
		b.ReportAllocs()
		spans := 0
		for b.Loop() {
			t, err := event.DecodeTransaction(transaction)
			if err != nil {
				b.Fatal(err)
			}
			spans = TransactionToTraces(t, Source{ProjectID: "1"}).SpanCount()
		}
		b.ReportMetric(float64(spans), "spans")
	})
	b.Run("container", func(b *testing.B) {
		b.SetBytes(int64(len(container)))
		b.ReportAllocs()
		spans := 0
		for b.Loop() {
			c, err := event.DecodeSpans(container, jsonscan.Optional[int]{})
			if err != nil {
				b.Fatal(err)
			}
			spans = SpansToTraces(c, Source{ProjectID: "1"}).SpanCount()
		}
		b.ReportMetric(float64(spans), "spans")
	})
}
