// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

func (in *ingestion) translateTransaction(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	transaction, err := event.DecodeTransaction(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	if in.strict() && event.BreaksSpanRules(transaction) {
		return nil, &discard.Error{Reason: event.ReasonInvalidTransactionEvent, Detail: "a span lacks an id or a time, or ends before it starts"}
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, transaction.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, transaction.Flaws)
	src := in.source()
	src.ProfileID = in.profileID
	traces := fromsentry.TransactionToTraces(transaction, src)
	in.link(ctx, transaction, traces)
	return []delivery{in.tracesDelivery(item.Header.Type, traces)}, nil
}

// translateSpans takes the container of streamed spans and the older form, one span an item.
func (in *ingestion) translateSpans(ctx context.Context, item *sentry.Item) ([]delivery, *discard.Error) {
	if !strings.EqualFold(item.Header.ContentType, sentry.ContentTypeSpans) {
		span, flaws, err := event.DecodeSpan(item.Payload)
		if err != nil {
			return nil, discardOf(err)
		}
		if in.strict() && span.Repaired {
			return nil, invalidSpan()
		}
		in.telemetry.fieldsLost(ctx, item.Header.Type, flaws)
		return []delivery{in.tracesDelivery(item.Header.Type, fromsentry.SpanToTraces(span, in.source()))}, nil
	}
	spans, err := event.DecodeSpans(item.Payload, item.Header.ItemCount)
	if err != nil {
		return nil, discardOf(err)
	}
	if in.strict() {
		if event.DropInvalidSpans(spans); len(spans.Spans) == 0 && len(spans.Lost) > 0 {
			return nil, invalidSpan()
		}
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, spans.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, spans.Flaws)
	return []delivery{in.tracesDelivery(item.Header.Type, fromsentry.SpansToTraces(spans, in.source()))}, nil
}

func (in *ingestion) strict() bool { return in.cfg.Validation == profile.Strict }

func invalidSpan() *discard.Error {
	return &discard.Error{Reason: event.ReasonInvalidSpan, Detail: "lacks a time, or ends before it starts"}
}
