// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// delivery is a message for the pipeline of one signal.
type delivery struct {
	item     sentry.ItemType // its source
	follower bool            // the item has a delivery before this one, which decides its outcome
	message  pipeline.Message

	ids      []dedup.ID        // to recognize duplicates; nil = never
	dropSeen func(seen []bool) // drops the parts with these IDs; nil = the message has no parts
}

// deliver sends what was translated so far.
func (in *ingestion) deliver(ctx context.Context) {
	resent := false
	for i := range in.deliveries {
		d := &in.deliveries[i]
		if d.follower && resent {
			continue // dropped with the first one of its item
		}
		o, reason := in.sendOnce(ctx, d)
		if !d.follower {
			resent = reason == reasonResent
			in.record(ctx, d.item, o, reason)
		}
	}
	in.deliveries = nil
}

// sendOnce sends the parts of a message that were not accepted before.
func (in *ingestion) sendOnce(ctx context.Context, d *delivery) (o pipeline.Outcome, reason string) {
	if len(d.ids) == 0 {
		return in.send(ctx, d)
	}
	attempt, err := in.dedup.Begin(ctx, d.ids)
	if err != nil { // the client disconnected while the same data was being delivered for another request
		in.pipelines.Abandon(d.message.Signal)
		return pipeline.Refused, pipeline.ReasonBackpressure
	}
	defer func() { in.finish(ctx, attempt, o) }()
	resent := 0
	for _, seen := range attempt.Seen {
		if seen {
			resent++
		}
	}
	if resent == len(d.ids) {
		in.pipelines.Abandon(d.message.Signal)
		return pipeline.Discarded, reasonResent
	}
	if resent > 0 {
		d.dropSeen(attempt.Seen)
		in.telemetry.elementsLost(ctx, d.item, []discard.Loss{{Reason: reasonResent, Count: resent}})
	}
	return in.send(ctx, d)
}

// finish remembers the IDs of accepted data, even if the client has disconnected.
func (in *ingestion) finish(ctx context.Context, attempt *dedup.Attempt, o pipeline.Outcome) {
	accepted := dedup.Parts(0)
	if o == pipeline.Accepted {
		accepted = dedup.All
	}
	if err := attempt.Finish(context.WithoutCancel(ctx), accepted); err != nil {
		in.logger.Warn("Cannot store the IDs of accepted data: duplicates are accepted after a restart", zap.Error(err))
	}
}

func (in *ingestion) send(ctx context.Context, d *delivery) (o pipeline.Outcome, reason string) {
	in.sent[d.message.Signal] = true
	o, reason = in.pipelines.Send(ctx, d.message, string(d.item))
	switch o {
	case pipeline.Accepted:
		in.outcomes.delivered = true
	case pipeline.Refused:
		in.outcomes.refused = append(in.outcomes.refused, d.message.Signal)
	}
	return o, reason
}
