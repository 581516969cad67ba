package sentryreceiver

import (
	"context"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

func (in *ingestion) translateTransaction(ctx context.Context, item *sentry.Item) ([]delivery, *sentry.Discard) {
	transaction, err := sentry.DecodeTransaction(item.Payload)
	if err != nil {
		return nil, discardOf(err)
	}
	if in.strict() && sentry.BreaksSpanRules(transaction) {
		return nil, &sentry.Discard{Reason: sentry.ReasonInvalidTransactionEvent, Detail: "a span lacks an id or a time, or ends before it starts"}
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, transaction.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, transaction.Flaws)
	src := in.source()
	src.ProfileID = in.profileID
	traces := translate.TransactionToTraces(transaction, src)
	in.link(ctx, transaction, traces)
	return []delivery{in.tracesDelivery(item.Header.Type, traces)}, nil
}

// translateSpans takes the container of streamed spans and the older form, one span an item.
func (in *ingestion) translateSpans(ctx context.Context, item *sentry.Item) ([]delivery, *sentry.Discard) {
	if !strings.EqualFold(item.Header.ContentType, sentry.ContentTypeSpans) {
		span, flaws, err := sentry.DecodeSpan(item.Payload)
		if err != nil {
			return nil, discardOf(err)
		}
		if in.strict() && span.Repaired {
			return nil, invalidSpan()
		}
		in.telemetry.fieldsLost(ctx, item.Header.Type, flaws)
		return []delivery{in.tracesDelivery(item.Header.Type, translate.SpanToTraces(span, in.source()))}, nil
	}
	spans, err := sentry.DecodeSpans(item.Payload, item.Header.ItemCount)
	if err != nil {
		return nil, discardOf(err)
	}
	if in.strict() {
		if sentry.DropInvalidSpans(spans); len(spans.Spans) == 0 && len(spans.Lost) > 0 {
			return nil, invalidSpan()
		}
	}
	in.telemetry.elementsLost(ctx, item.Header.Type, spans.Lost)
	in.telemetry.fieldsLost(ctx, item.Header.Type, spans.Flaws)
	return []delivery{in.tracesDelivery(item.Header.Type, translate.SpansToTraces(spans, in.source()))}, nil
}

func (in *ingestion) strict() bool { return in.cfg.Validation == sentry.Strict }

func invalidSpan() *sentry.Discard {
	return &sentry.Discard{Reason: sentry.ReasonInvalidSpan, Detail: "lacks a time, or ends before it starts"}
}
