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

// delivery is something to hand on to the pipeline of one signal.
type delivery struct {
	item    sentry.ItemType // what it was made from
	signal  signal
	send    func(context.Context) error
	another bool // the item has a delivery before this one, which decides about its outcome

	ids  []dedup.ID        // by which it is recognized when it comes again; nil = never
	drop func(seen []bool) // takes out the parts with these ids; nil = there are none
}

// deliver hands on what was translated.
func (in *ingestion) deliver(ctx context.Context) {
	dropped := false
	for _, d := range in.deliveries {
		if d.another && dropped {
			continue // with the rest of its item
		}
		o, reason := in.handOnOnce(ctx, d)
		if !d.another {
			dropped = reason == reasonResent
			in.done(ctx, d.item, o, reason)
		}
	}
	in.deliveries = nil
}

// handOnOnce hands on what was not accepted before.
func (in *ingestion) handOnOnce(ctx context.Context, d delivery) (o outcome, reason string) {
	if len(d.ids) == 0 {
		return in.handOn(ctx, d)
	}
	attempt, err := in.dedup.Begin(ctx, d.ids)
	if err != nil { // the client disconnected while the same data was being delivered for another request
		in.gates[d.signal].Abandon(in.now())
		return outcomeRefused, sentry.RateLimitBackpressure
	}
	defer func() { in.finish(ctx, attempt, o) }()
	resent := 0
	for _, seen := range attempt.Seen {
		if seen {
			resent++
		}
	}
	if resent == len(d.ids) {
		in.gates[d.signal].Abandon(in.now())
		return outcomeDiscarded, reasonResent
	}
	if resent > 0 {
		d.drop(attempt.Seen)
		in.telemetry.elementsLost(ctx, d.item, []discard.Loss{{Reason: reasonResent, Count: resent}})
	}
	return in.handOn(ctx, d)
}

// finish remembers accepted data, even if the client has disconnected.
func (in *ingestion) finish(ctx context.Context, attempt *dedup.Attempt, o outcome) {
	accepted := dedup.Parts(0)
	if o == outcomeAccepted {
		accepted = dedup.All
	}
	if err := attempt.Finish(context.WithoutCancel(ctx), accepted); err != nil {
		in.logger.Warn("Cannot store the IDs of accepted data: it is accepted again after a restart", zap.Error(err))
	}
}

func (in *ingestion) handOn(ctx context.Context, d delivery) (o outcome, reason string) {
	if in.server.Closed.Load() { // the consumers may be gone already
		in.refused = append(in.refused, d.signal)
		return outcomeRefused, reasonShuttingDown
	}
	in.delivered[d.signal] = true
	err := d.send(ctx)
	in.gates[d.signal].Report(ctx, err, in.now())
	switch {
	case err == nil:
		in.taken = true
		return outcomeAccepted, ""
	case pipeline.IsPermanent(err):
		in.logger.Warn("Item rejected by the pipeline", zap.String("type", string(d.item)), zap.Error(err))
		return outcomeRejected, reasonPipeline
	default:
		in.logger.Warn("Item refused by the pipeline for now", zap.String("type", string(d.item)), zap.Error(err))
		in.refused = append(in.refused, d.signal)
		return outcomeRefused, sentry.RateLimitBackpressure
	}
}
