// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toissues"
)

// A provisional event has no stack, and a span may state the same failure with one. It waits in a
// queue, and in the storage of the queue, for holdTime; if the event of a span is sent in the
// meantime, the provisional one is a duplicate.

// heldQueue is the name of the queue for provisional events. In the queue of the other errors, they
// would occupy its consumers while they wait. Here, all events wait equally long, so those behind
// the first ones are due later.
const heldQueue = "log_error_held"

// holdTime is longer than the delay between a log record and its span: by default, OpenTelemetry's
// SDKs export log records after a second and spans five seconds after their end.
const holdTime = 10 * time.Second

// provisional is the kind of the IDs of failures whose event waits.
const provisional = "provisional"

// holds reports whether an event waits. Without a queue, it would block the pipeline.
func (e *sentryExporter) holds(event *toissues.Event) bool {
	return event.Provisional && e.cfg.Errors.Dedupe > 0 && e.cfg.Queue.HasValue() && e.fromSpans.Load()
}

func (e *sentryExporter) failureID(failure [24]byte) dedup.ID {
	return dedup.ID{Tenant: e.project, Value: failure}
}

// issueRequest returns the request for an event.
func (e *sentryExporter) issueRequest(event *toissues.Event, now time.Time) *request {
	r := newRequest(1, newEnvelope(event.Outgoing))
	if e.holds(event) {
		r.HeldUntil, r.Failure = now.Add(holdTime).UnixNano(), event.Failure
	}
	return r
}

// superseded waits until a provisional event is due, or until the exporter stops. It reports
// whether the event of a span was sent in the meantime. If not, the event is that of the failure.
func (q *categoryQueue) superseded(ctx context.Context, r *request) bool {
	if r.HeldUntil == 0 {
		return false
	}
	due := time.NewTimer(min(time.Until(time.Unix(0, r.HeldUntil)), holdTime)) // the clock may have been set back
	defer due.Stop()
	select {
	case <-due.C:
	case <-q.stopping:
	case <-ctx.Done():
	}
	attempt, err := q.failures.Begin(ctx, []dedup.ID{q.failureID(r.Failure)})
	if err != nil { // the context has ended, and the request remains in the storage
		return false
	}
	r.HeldUntil = 0 // a retry is neither held nor a duplicate
	if attempt.Seen[0] {
		q.telemetry.lost(ctx, q.telemetry.exceptionsDiscarded, []discard.Loss{{Reason: toissues.ReasonDuplicate, Count: 1}})
	}
	if err := attempt.Finish(ctx, dedup.All); err != nil { // only with a storage, which this window does not have
		q.logger.Error("Cannot remember failures", zap.Error(err))
	}
	return attempt.Seen[0]
}
