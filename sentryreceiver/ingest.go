// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/ledger"
)

// ingestion processes one envelope: it translates the items, delivers the results, and responds.
type ingestion struct {
	*sentryReceiver
	translation *translation
	items       []sentry.Item
	auth        sentry.Auth
	sender      ledger.Sender // in metrics
	budget      budget

	allowed    [pipeline.NumSignals]bool // the breaker of a signal allowed this envelope
	sent       [pipeline.NumSignals]bool // a message was sent to the pipeline
	deliveries [pipeline.NumSignals][]*delivery
	outcomes   outcomes
}

// run ingests the envelope and releases its body.
func (in *ingestion) run(ctx context.Context, body *httpbody.Body) response {
	ctx = in.withClient(ctx)
	in.translate(ctx)
	in.dropPayloads()
	body.Release()
	in.budget.dropBody()
	in.deliver(ctx)
	return in.response()
}

// translate translates all items. An unusable item does not affect the others.
//
// V1 profiles come first, because they are linked to the spans of their transaction, and these
// spans refer to them. The order of the two items depends on the SDK.
func (in *ingestion) translate(ctx context.Context) {
	for _, first := range []bool{true, false} {
		for i := range in.items {
			if item := &in.items[i]; (item.Header.Type == sentry.ItemProfile) == first {
				in.translateItem(ctx, item)
			}
		}
	}
	in.countLinks(ctx)
	in.abandonTrials()
}

func (in *ingestion) translateItem(ctx context.Context, item *sentry.Item) {
	t := itemTypes[item.Header.Type]
	decisive, wanted := in.decisiveSignal(t)
	if !wanted {
		in.translation.linkOnly(item)
		in.record(ctx, item.Header.Type, pipeline.Ignored, "")
		return
	}
	if why := t.oversize(item); why != nil {
		in.discard(ctx, item, why)
		return
	}
	if !in.allow(decisive) {
		in.translation.linkOnly(item)
		in.refuse(ctx, item, decisive, pipeline.ReasonBackpressure)
		return
	}
	weight, err := in.reserve(ctx, item)
	if err != nil {
		in.refuse(ctx, item, decisive, reasonBytesInFlight)
		return
	}
	out := t.translate(in.translation, item)
	in.telemetry.lost(ctx, item.Header.Type, &out)
	in.budget.settle(weight, &out)
	switch {
	case out.unusable != nil:
		in.discard(ctx, item, out.unusable)
	case len(out.deliveries) == 0:
		in.record(ctx, item.Header.Type, pipeline.Ignored, "")
	default:
		for i, d := range out.deliveries {
			d.item = item.Header.Type
			if i > 0 {
				d.first = out.deliveries[0]
			}
			in.deliveries[d.message.Signal] = append(in.deliveries[d.message.Signal], d)
		}
	}
}

// decisiveSignal returns the signal of an item's first delivery. Items whose signals have no
// pipeline are ignored.
func (in *ingestion) decisiveSignal(t itemType) (decisive pipeline.Signal, wanted bool) {
	for _, s := range t.signals {
		if in.pipelines.Has(s) {
			return s, true
		}
	}
	return 0, false
}

// allow reports whether an item may be translated for a signal. It asks the breaker once per
// envelope, because a trial covers all items of an envelope.
func (in *ingestion) allow(s pipeline.Signal) bool {
	in.allowed[s] = in.allowed[s] || in.pipelines.Allow(s)
	return in.allowed[s]
}

// abandonTrials lets other envelopes test the pipelines to which this one sends nothing.
func (in *ingestion) abandonTrials() {
	for s, allowed := range in.allowed {
		if allowed && !in.sent[s] && len(in.deliveries[s]) == 0 {
			in.pipelines.Abandon(pipeline.Signal(s))
		}
	}
}

func (in *ingestion) discard(ctx context.Context, item *sentry.Item, why *discard.Error) {
	if why.Reason == discard.ReasonExceedSizeLimit || why.Reason == jsonscan.ReasonTooLarge {
		in.outcomes.tooLarge = why
	}
	in.logger.Debug("Item discarded", zap.String("type", item.Header.Type.Label()), zap.Error(why))
	in.record(ctx, item.Header.Type, pipeline.Discarded, string(why.Reason))
}

func (in *ingestion) refuse(ctx context.Context, item *sentry.Item, s pipeline.Signal, reason string) {
	in.outcomes.refused = append(in.outcomes.refused, s)
	in.record(ctx, item.Header.Type, pipeline.Refused, reason)
}

func (in *ingestion) record(ctx context.Context, item sentry.ItemType, o pipeline.Outcome, reason string) {
	in.outcomes.add(o)
	in.telemetry.itemDone(ctx, in.sender, item, o, reason)
}

// countLinks counts the links of V1 profiles. Profiles whose transaction was not found stay
// unlinked.
func (in *ingestion) countLinks(ctx context.Context) {
	if n := in.translation.takeForeignThreads(); n > 0 {
		in.telemetry.fieldsLost(ctx, sentry.ItemTransaction, []discard.Flaw{{Field: semconv.ThreadID, Count: n}})
	}
	links, unlinked := in.translation.takeLinks()
	for _, l := range links {
		in.telemetry.aligned(ctx, l.alignment)
		in.telemetry.linked(ctx, l.stats)
	}
	in.telemetry.withoutTransaction(ctx, unlinked)
}

// dropPayloads drops the references to the body, so that its memory is free while a pipeline
// processes the output. Translated data does not refer to the body.
func (in *ingestion) dropPayloads() {
	for i := range in.items {
		in.items[i].Payload = nil
	}
}
