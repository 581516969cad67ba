// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"slices"
	"strings"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
)

// delivery is the output of an item for one signal.
type delivery struct {
	sentryitems.Delivery
	item   sentry.ItemType
	first  *delivery // of the item, which decides its outcome; nil = this is the first
	resent bool      // all of it was accepted before
}

// maxMessage limits the output of several items in one message, in bytes of protobuf. gRPC servers
// accept 4 MiB by default, and a pipeline that rejects a message rejects all its items. The output
// of a single item may be larger.
const maxMessage = 1 << 20

// deliver sends the pending output, if possible as one message per signal and link key, because an
// exporter sends one request per message. Signals are ordered so that the first delivery of an item
// precedes its others.
func (in *ingestion) deliver(ctx context.Context) {
	for s, all := range in.deliveries {
		if s == int(pipeline.SignalTraces) {
			slices.SortStableFunc(all, func(a, b *delivery) int { return strings.Compare(a.LinkKey, b.LinkKey) })
		}
		for n := 0; len(all) > 0; all = all[n:] {
			n = fitting(all)
			in.deliverTogether(ctx, pipeline.Signal(s), all[:n])
		}
		in.deliveries[s] = nil
	}
}

// fitting returns how many of the deliveries for a signal fit into the next message.
func fitting(all []*delivery) (n int) {
	if len(all) == 1 || all[0].Message.Signal == pipeline.SignalProfiles { // each profile has its own dictionary
		return 1
	}
	for size := 0; n < len(all) && all[n].LinkKey == all[0].LinkKey; n++ {
		if size += all[n].Message.Size(); size > maxMessage {
			break
		}
	}
	return max(n, 1)
}

// deliverTogether sends deliveries as one message, and records the outcomes of their items.
func (in *ingestion) deliverTogether(ctx context.Context, s pipeline.Signal, all []*delivery) {
	all = slices.DeleteFunc(all, func(d *delivery) bool { return d.first != nil && d.first.resent })
	o, reason := in.sendOnce(ctx, s, all)
	for _, d := range all {
		switch {
		case d.resent:
			in.record(ctx, d.item, pipeline.Discarded, reasonResent)
		case d.first == nil:
			in.record(ctx, d.item, o, reason)
		}
	}
}

// sendOnce sends the parts of deliveries that were not accepted before.
func (in *ingestion) sendOnce(ctx context.Context, s pipeline.Signal, all []*delivery) (o pipeline.Outcome, reason string) {
	var ids []dedup.ID
	for _, d := range all {
		ids = append(ids, d.IDs...)
	}
	if len(ids) == 0 {
		return in.send(ctx, s, all)
	}
	attempt, err := in.dedup.Begin(ctx, ids)
	if err != nil { // the client disconnected while another request was delivering the same data
		in.pipelines.Abandon(s)
		return pipeline.Refused, pipeline.ReasonBackpressure
	}
	defer func() { in.finish(ctx, attempt, o) }()
	return in.send(ctx, s, in.fresh(ctx, all, attempt.Seen))
}

// fresh drops the parts that were accepted before, and returns the deliveries that have other
// parts.
func (in *ingestion) fresh(ctx context.Context, all []*delivery, seen []bool) (fresh []*delivery) {
	for _, d := range all {
		of := seen[:len(d.IDs)]
		seen = seen[len(d.IDs):]
		resent := 0
		for _, seen := range of {
			if seen {
				resent++
			}
		}
		if d.resent = resent > 0 && resent == len(of); d.resent {
			continue
		}
		if resent > 0 {
			d.DropSeen(of)
			in.telemetry.elementsLost(ctx, d.item, []discard.Loss{{Reason: reasonResent, Count: resent}})
		}
		fresh = append(fresh, d)
	}
	return fresh
}

// finish stores the IDs of accepted data, even if the client has disconnected.
func (in *ingestion) finish(ctx context.Context, attempt *dedup.Attempt, o pipeline.Outcome) {
	accepted := dedup.Parts(0)
	if o == pipeline.Accepted {
		accepted = dedup.All
	}
	if err := attempt.Finish(context.WithoutCancel(ctx), accepted); err != nil {
		in.logger.Warn("Cannot store the IDs of accepted data: duplicates are accepted after a restart", zap.Error(err))
	}
}

// send sends deliveries as one message. If there are none, the next envelope may test the pipeline.
func (in *ingestion) send(ctx context.Context, s pipeline.Signal, all []*delivery) (o pipeline.Outcome, reason string) {
	if len(all) == 0 {
		in.pipelines.Abandon(s)
		return pipeline.Discarded, reasonResent
	}
	message := all[0].Message
	for _, d := range all[1:] {
		message.Append(d.Message)
	}
	in.sent[s] = true
	o, reason = in.pipelines.Send(in.withClient(ctx, all[0].LinkKey), message)
	switch o {
	case pipeline.Accepted:
		in.outcomes.delivered = true
	case pipeline.Refused:
		in.outcomes.refused = append(in.outcomes.refused, s)
	}
	return o, reason
}
