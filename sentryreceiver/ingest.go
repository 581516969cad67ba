// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"fmt"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver/internal/ledger"
)

// ingestion processes one envelope: it translates the items, delivers the results, and responds.
type ingestion struct {
	*sentryReceiver
	translation *sentryitems.Translation
	envelope    *sentry.Envelope
	auth        sentry.Auth
	sender      ledger.Sender // in metrics
	program     program       // for items that do not state their service
	via         string        // collectors that forwarded the envelope
	budget      budget

	allowed    [pipeline.NumSignals]bool // the breaker of a signal allowed this envelope
	sent       [pipeline.NumSignals]bool // a message was sent to the pipeline
	deliveries [pipeline.NumSignals][]*delivery
	outcomes   outcomes
}

// translate translates all items. An unusable item does not affect the others.
func (in *ingestion) translate(ctx context.Context) {
	for item := range sentryitems.Ordered(in.envelope.Items) {
		in.translateItem(ctx, item)
	}
	in.countLinks(ctx)
	in.abandonTrials()
	in.services.saw(in.program, in.translation.Stated())
}

func (in *ingestion) translateItem(ctx context.Context, item *sentry.Item) {
	t := sentryitems.Types[item.Header.Type]
	decisive, wanted := in.decisiveSignal(t)
	if !wanted {
		in.translation.LinkOnly(item)
		in.ignore(ctx, item.Header.Type, t)
		return
	}
	if why := t.Oversize(item); why != nil {
		in.discard(ctx, item, why)
		return
	}
	if !in.allow(decisive) {
		in.translation.LinkOnly(item)
		in.refuse(ctx, item, decisive, pipeline.ReasonBackpressure)
		return
	}
	out := in.translateWithin(ctx, item)
	switch {
	case in.budget.failed != nil && !errors.Is(in.budget.failed, errTooHeavy):
		in.refuse(ctx, item, decisive, reasonBytesInFlight)
	case out.Unusable != nil:
		in.discard(ctx, item, out.Unusable)
	case len(out.Deliveries) == 0:
		in.record(ctx, item.Header.Type, pipeline.Ignored, "")
	default:
		in.enqueue(item.Header.Type, out.Deliveries)
	}
}

// translateWithin translates an item within the memory budget.
func (in *ingestion) translateWithin(ctx context.Context, item *sentry.Item) (out sentryitems.Result) {
	before, err := in.reserve(ctx, item)
	if err != nil {
		out.Unusable = discard.Errorf(discard.ReasonTooMuchMemory, "%s", err)
		return out
	}
	out = in.translation.Translate(item)
	in.telemetry.lost(ctx, item.Header.Type, &out)
	in.budget.settle(before, &out)
	return out
}

// enqueue appends the output of an item to the deliveries.
func (in *ingestion) enqueue(item sentry.ItemType, output []sentryitems.Delivery) {
	var first *delivery
	for _, out := range output {
		d := &delivery{Delivery: out, item: item, first: first}
		if first == nil {
			first = d
		}
		in.deliveries[d.Message.Signal] = append(in.deliveries[d.Message.Signal], d)
	}
}

// decisiveSignal returns the signal of an item's first delivery. Items whose signals have no
// pipeline are ignored.
func (in *ingestion) decisiveSignal(t sentryitems.Type) (decisive pipeline.Signal, wanted bool) {
	for _, s := range t.Signals {
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
	in.outcomes.unusable = why
	if why.Reason == discard.ReasonExceedSizeLimit || why.Reason == jsonscan.ReasonTooLarge || why.Reason == discard.ReasonTooMuchMemory {
		in.outcomes.tooLarge = why
	}
	level := zap.DebugLevel
	if notices.Shared.Report(in.notice(in.translation.ServiceName(), item.Header.Type.Label()+" items", string(why.Reason), why.Detail)) {
		level = zap.InfoLevel // once per type and reason
	}
	in.logger.Log(level, "Item discarded", zap.String("type", item.Header.Type.Label()), zap.Error(why))
	in.record(ctx, item.Header.Type, pipeline.Discarded, string(why.Reason))
}

// reasonUnsupportedType is the reason for ignored items of types that Sentry has retired or does
// not define.
const reasonUnsupportedType = "unsupported_type"

// noPipeline has the details of the notices for ignored items. With a single pipeline, most items
// are ignored.
var noPipeline = func() (details [pipeline.NumSignals]string) {
	for s := range details {
		details[s] = fmt.Sprintf("there is no %s pipeline with this receiver; add one, or use one with the nop exporter if you do not need the data", pipeline.Signal(s))
	}
	return details
}()

// ignore drops an item that no pipeline receives. It logs a warning once per type, because not all
// users know that errors are logs.
func (in *ingestion) ignore(ctx context.Context, item sentry.ItemType, t sentryitems.Type) {
	if len(t.Signals) == 0 {
		in.record(ctx, item, pipeline.Ignored, reasonUnsupportedType)
		return
	}
	detail := noPipeline[t.Signals[0]]
	if notices.Shared.Report(in.notice(in.translation.ServiceName(), item.Label()+" items", pipeline.ReasonNoPipeline, detail)) {
		in.logger.Warn("Items of the type " + item.Label() + " are dropped: " + detail)
	}
	in.record(ctx, item, pipeline.Ignored, pipeline.ReasonNoPipeline)
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
	if n := in.translation.TakeForeignThreads(); n > 0 {
		in.telemetry.fieldsLost(ctx, sentry.ItemTransaction, []discard.Flaw{{Field: semconv.ThreadID, Count: n}})
	}
	links, unlinked := in.translation.TakeLinks()
	for _, l := range links {
		in.telemetry.aligned(ctx, l.Alignment)
		in.telemetry.linked(ctx, l.Stats)
	}
	in.telemetry.withoutTransaction(ctx, unlinked)
}

// dropPayloads drops the references to the body, so that its memory is free while a pipeline
// processes the output. Translated data does not refer to the body.
func (in *ingestion) dropPayloads() {
	for i := range in.envelope.Items {
		in.envelope.Items[i].Payload = nil
	}
}
