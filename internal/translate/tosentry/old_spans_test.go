// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestOldSpans: ingest stores spans that are too old for a transaction, with their own times.
func TestOldSpans(t *testing.T) {
	received := time.Unix(0, someTime)
	for _, c := range []struct {
		name        string
		root, child time.Duration // age
		inTransaction,
		inContainers int
	}{
		{"young", time.Hour, time.Hour, 2, 0},
		{"almost too old", 118 * time.Hour, 118 * time.Hour, 2, 0},
		{"will be too old after a retry", 119*time.Hour + time.Minute, 118 * time.Hour, 0, 2},
		{"old segment", 6 * 24 * time.Hour, time.Hour, 0, 2},
		{"old child", time.Hour, 6 * 24 * time.Hour, 1, 1},
		{"old", 29 * 24 * time.Hour, 29 * 24 * time.Hour, 0, 2},
	} {
		traces := ptrace.NewTraces()
		spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
		for i, age := range []time.Duration{c.root, c.child} {
			span := spans.AppendEmpty()
			span.SetName("s")
			span.SetTraceID(pcommon.TraceID{1})
			span.SetSpanID(pcommon.SpanID{1 + byte(i)})
			if i > 0 {
				span.SetParentSpanID(pcommon.SpanID{1})
			}
			span.SetStartTimestamp(pcommon.NewTimestampFromTime(received.Add(-age)))
			span.SetEndTimestamp(span.StartTimestamp() + 1)
		}
		options := exportOptions
		options.ReceivedNano = someTime
		counts := map[sentry.ItemType]int{}
		out := TracesToTransactions(traces, options)
		for i := range out.Items {
			require.Empty(t, ingestSpansVerdict(&out.Items[i]), c.name)
			require.Empty(t, fakesentry.TimesVerdict(&out.Items[i].Item, received), c.name)
			counts[out.Items[i].Header.Type] += out.Items[i].Count
		}
		require.Empty(t, out.Lost, c.name)
		require.Equal(t, c.inTransaction, counts[sentry.ItemTransaction], c.name)
		require.Equal(t, c.inContainers, counts[sentry.ItemSpan], c.name)
	}
}
