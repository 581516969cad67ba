// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// TestStoredPlatform: ingest stores a transaction of each language with its platform.
func TestStoredPlatform(t *testing.T) {
	for language := range languages {
		traces := otelTraces()
		traces.ResourceSpans().At(0).Resource().Attributes().PutStr(semconv.TelemetrySDKLanguage, language)
		out := TracesToTransactions(traces, exportOptions)
		require.Equal(t, sentry.ItemTransaction, out.Items[0].Header.Type)
		require.Empty(t, ingestSpansVerdict(&out.Items[0]), language)
		sent, err := event.DecodeTransaction(out.Items[0].Payload)
		require.NoError(t, err)
		want := languages[language]
		for _, span := range sent.Spans {
			if language == "rust" {
				require.Equal(t, want, span.Platform)
			} else {
				require.Empty(t, span.Platform)
			}
		}
		require.NotEqual(t, otherPlatform, sent.Platform)
	}
}
