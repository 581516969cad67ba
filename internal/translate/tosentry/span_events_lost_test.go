// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
)

// TestEventsOfSpansAreCountedOnce: each span event becomes a breadcrumb of a transaction or is
// counted as lost, even if its span exceeds the limit of the transaction and is sent in a
// container.
func TestEventsOfSpansAreCountedOnce(t *testing.T) {
	for name, c := range map[string]struct{ children, attribute, rootAttribute int }{
		"all in one transaction":           {150, 0, 0},
		"spans cut for their size":         {150, 10_000, 0},
		"more spans than one may have":     {sentry.MaxOutgoingSpans + 50, 0, 0},
		"no transaction, too large itself": {150, 0, sentry.MaxOutgoingTransaction},
	} {
		t.Run(name, func(t *testing.T) {
			traces := ptrace.NewTraces()
			spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
			add := func(id, size int) {
				span := spans.AppendEmpty()
				span.SetName("s")
				span.SetTraceID(pcommon.TraceID{1})
				span.SetSpanID(pcommon.SpanID{1, byte(id >> 8), byte(id)})
				if id > 0 {
					span.SetParentSpanID(pcommon.SpanID{1})
				}
				span.SetStartTimestamp(someTime)
				span.SetEndTimestamp(someTime + 1)
				span.Attributes().PutStr("long", strings.Repeat("x", size))
				span.Events().AppendEmpty().SetName(fmt.Sprint("event ", id))
			}
			add(0, c.rootAttribute)
			for i := range c.children {
				add(i+1, c.attribute)
			}
			out := TracesToTransactions(traces, exportOptions)
			crumbs := 0
			for i := range out.Items {
				if out.Items[i].Header.Type == sentry.ItemTransaction {
					sent, err := event.DecodeTransaction(out.Items[i].Payload)
					require.NoError(t, err)
					crumbs += len(sent.Breadcrumbs)
				}
			}
			lost := 0
			for _, loss := range out.Lost {
				if loss.Reason == ReasonSpanEvent {
					lost = loss.Count
				}
			}
			require.Equal(t, spans.Len(), crumbs+lost)
		})
	}
}
