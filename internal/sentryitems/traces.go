// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func translateTransaction(t *Translation, item *sentry.Item) Result {
	transaction, err := event.DecodeTransaction(item.Payload)
	if err != nil {
		return unusable(err)
	}
	if t.strict() && event.BreaksSpanRules(transaction) {
		return unusable(&discard.Error{Reason: event.ReasonInvalidTransactionEvent, Detail: "a span lacks an ID or a time, or ends before it starts"})
	}
	src := t.source
	src.ProfileID = t.profileID
	traces := fromsentry.TransactionToTraces(transaction, src)
	t.link(transaction, traces)
	return Result{Elements: transaction.Lost, Fields: transaction.Flaws, Deliveries: spansDelivery(t, traces, true)}
}

// translateSpans translates a container of streamed spans, or an item in the older format with one
// span.
func translateSpans(t *Translation, item *sentry.Item) Result {
	invalid := &discard.Error{Reason: event.ReasonInvalidSpan, Detail: "lacks a time, or ends before it starts"}
	if !strings.EqualFold(item.Header.ContentType, sentry.ContentTypeSpans) {
		span, flaws, err := event.DecodeSpan(item.Payload)
		if err != nil {
			return unusable(err)
		}
		if t.strict() && span.Repaired {
			return unusable(invalid)
		}
		return Result{Fields: flaws, Deliveries: spansDelivery(t, fromsentry.SpanToTraces(span, t.source), false)}
	}
	spans, err := event.DecodeSpans(item.Payload, item.Header.ItemCount)
	if err != nil {
		return unusable(err)
	}
	if t.strict() {
		if event.DropInvalidSpans(spans); len(spans.Spans) == 0 && len(spans.Lost) > 0 {
			return unusable(invalid)
		}
	}
	return Result{Elements: spans.Lost, Fields: spans.Flaws, Deliveries: spansDelivery(t, fromsentry.SpansToTraces(spans, t.source), false)}
}

// spansDelivery returns the delivery of spans. Each span may be a duplicate. The item is complete
// if it has the segment of its spans.
func spansDelivery(t *Translation, traces ptrace.Traces, complete bool) []Delivery {
	dropSeen := func(seen []bool) {
		n := -1
		removeSpans(traces, func(pcommon.TraceID, pcommon.SpanID) bool { n++; return seen[n] })
	}
	return []Delivery{{Message: pipeline.Traces(traces), LinkKey: t.linkKeys.ofSpans(traces, complete), IDs: t.identity.ofSpans(traces), DropSeen: dropSeen}}
}
