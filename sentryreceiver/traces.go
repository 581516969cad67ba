// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

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

func (t *translation) transaction(item *sentry.Item) translated {
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
	return translated{elements: transaction.Lost, fields: transaction.Flaws, deliveries: t.spansDelivery(traces)}
}

// spans translates a container of streamed spans, or an item in the older format with one span.
func (t *translation) spans(item *sentry.Item) translated {
	invalid := &discard.Error{Reason: event.ReasonInvalidSpan, Detail: "lacks a time, or ends before it starts"}
	if !strings.EqualFold(item.Header.ContentType, sentry.ContentTypeSpans) {
		span, flaws, err := event.DecodeSpan(item.Payload)
		if err != nil {
			return unusable(err)
		}
		if t.strict() && span.Repaired {
			return unusable(invalid)
		}
		return translated{fields: flaws, deliveries: t.spansDelivery(fromsentry.SpanToTraces(span, t.source))}
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
	return translated{elements: spans.Lost, fields: spans.Flaws, deliveries: t.spansDelivery(fromsentry.SpansToTraces(spans, t.source))}
}

// spansDelivery returns the delivery of spans. Each span may be a duplicate.
func (t *translation) spansDelivery(traces ptrace.Traces) []*delivery {
	dropSeen := func(seen []bool) {
		n := -1
		removeSpans(traces, func(pcommon.TraceID, pcommon.SpanID) bool { n++; return seen[n] })
	}
	return []*delivery{{message: pipeline.Traces(traces), ids: t.spanIDs(traces), dropSeen: dropSeen}}
}
