// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestSessionUpdates: exemplars that a processor has removed or changed cost no ended session, and
// ingest accepts the rest.
func TestSessionUpdates(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(e pmetric.Exemplar)
		kind      sentry.ItemType
		otherItem int // points of other metrics
	}{
		"unchanged": {nil, sentry.ItemSession, 1},
		"no ID":     {func(e pmetric.Exemplar) { e.FilteredAttributes().Remove(semconv.SessionID) }, sentry.ItemSessions, 2},
		"hashed ID": {func(e pmetric.Exemplar) { e.FilteredAttributes().PutStr(semconv.SessionID, "***") }, sentry.ItemSessions, 2},
		"no other value": {func(e pmetric.Exemplar) {
			e.FilteredAttributes().RemoveIf(func(k string, _ pcommon.Value) bool { return k != semconv.SessionID })
		}, sentry.ItemSession, 1},
		"other values": {func(e pmetric.Exemplar) {
			e.FilteredAttributes().PutInt(semconv.SentrySessionErrorCount, -5)
			e.FilteredAttributes().PutInt(semconv.SentrySessionStartTimeUnixNano, -1)
			e.FilteredAttributes().PutStr(semconv.SentrySessionInit, "?")
		}, sentry.ItemSession, 1},
	} {
		session, err := event.DecodeSession([]byte(`{"sid":"7d1f0c9f-2f1c-4f0e-a9b3-f1a2b3c4d5e9","started":"2026-05-01T10:00:00Z","status":"crashed","errors":2,"attrs":{"release":"shop@1"}}`))
		require.NoError(t, err)
		metrics := fromsentry.SessionToMetrics(session, fromsentry.Source{ProjectID: "1", ReceivedNano: receivedNano})
		for _, metric := range metrics.ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().All() {
			for _, e := range metric.Sum().DataPoints().At(0).Exemplars().All() {
				if c.change != nil {
					c.change(e)
				}
			}
		}
		back := FromMetrics(metrics, metricOptions)
		requireStored(t, name, back)
		require.Len(t, back.Items, 1, name)
		require.Equal(t, c.kind, back.Items[0].Header.Type, name)
		require.Equal(t, c.otherItem, back.Lost[0].Count, name)
	}
}
