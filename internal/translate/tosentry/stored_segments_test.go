// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestStoredSegments: each span in a container has the name and the user of its segment, as in a
// transaction.
func TestStoredSegments(t *testing.T) {
	for _, spansOnly := range []bool{false, true} {
		options := exportOptions
		options.SpansOnly = spansOnly
		traces := otelTraces()
		traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(s ptrace.Span) bool { return s.SpanID()[0] > 2 }) // of other segments
		out := TracesToTransactions(traces, options)
		stored := 0
		for i := range out.Items {
			require.Empty(t, ingestSpansVerdict(&out.Items[i]))
			for _, segment := range fakesentry.StoredSegments(&out.Items[i].Item) {
				require.Equal(t, [2]string{"GET /cart/{id}", "42"}, segment, "spans only: %v", spansOnly)
				stored++
			}
		}
		require.GreaterOrEqual(t, stored, 2)
	}
}

// TestWebVitals: web vital spans of browsers are never transactions, and have the name of the page.
func TestWebVitals(t *testing.T) {
	found := false
	for _, c := range golden.Cases(t) {
		if c.Name != "span-browser-standalone" {
			continue
		}
		found = true
		envelope, err := sentry.ReadEnvelope(c.Envelope)
		require.NoError(t, err)
		span, _, err := event.DecodeSpan(envelope.Items[0].Payload)
		require.NoError(t, err)
		out := TracesToTransactions(fromsentry.SpanToTraces(span, fromsentry.Source{ProjectID: "1"}), exportOptions)
		require.Len(t, out.Items, 1)
		require.Empty(t, ingestSpansVerdict(&out.Items[0]))
		require.Equal(t, sentry.ItemSpan, out.Items[0].Header.Type)
		require.Equal(t, [][2]string{{"/shop", ""}}, fakesentry.StoredSegments(&out.Items[0].Item))
	}
	require.True(t, found)
}

// TestInvalidSegmentID: a segment that the span states in another form does not cost the span.
func TestInvalidSegmentID(t *testing.T) {
	traces := otelTraces()
	spans := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := range spans.Len() {
		spans.At(i).Attributes().PutStr(semconv.SentrySegmentID, "segment one")
	}
	options := exportOptions
	options.SpansOnly = true
	for _, item := range TracesToTransactions(traces, options).Items {
		require.Empty(t, ingestSpansVerdict(&item))
	}
}
