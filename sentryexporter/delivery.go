// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
)

// push posts the envelopes of a request. After an error that is not permanent, exporterhelper calls
// it again later, for the envelopes that are left. It returns a permanent error if an envelope was
// dropped.
func (q *categoryQueue) push(ctx context.Context, req xexporterhelper.Request) error {
	r := req.(*request)
	if r.stopWaiting != nil && r.stopWaiting() {
		q.waiting.Add(-1)
	}
	if q.superseded(ctx, r) {
		return nil
	}
	for len(r.Envelopes) > 0 {
		answer := q.post(ctx, r)
		switch answer.verdict {
		case sent:
			q.telemetry.posted(ctx, &r.Envelopes[0], answer)
		case refused:
			if halves := halve(&r.Envelopes[0], answer); halves != nil {
				q.telemetry.halved(ctx, &r.Envelopes[0])
				r.Envelopes = append(halves, r.Envelopes[1:]...)
				continue
			}
			r.lost = q.drop(ctx, &r.Envelopes[0], answer)
		case limited, failed:
			switch again, err := q.retry(ctx, r, answer); {
			case err != nil:
				return err
			case again:
				continue
			}
			answer.reason = reasonExhausted
			r.lost = q.drop(ctx, &r.Envelopes[0], answer)
		}
		q.reportLosses(ctx, false)
		r.Envelopes, r.attempts, r.begun = r.Envelopes[1:], health.Message{}, time.Time{}
	}
	return r.lost
}

// post waits for a slot, then posts the first envelope of a request once, unless a rate limit
// applies.
func (q *categoryQueue) post(ctx context.Context, r *request) reply {
	e := &r.Envelopes[0]
	q.health.Begin(&r.attempts)
	if r.begun.IsZero() {
		r.begun = time.Now()
	}
	if r.attempts.Failures > 0 {
		defer acquire(q.retries)()
	}
	defer acquire(q.posts)()
	if wait, category := q.limitOf(e); wait > 0 {
		q.telemetry.throttledBy(ctx, category)
		return reply{verdict: limited, wait: wait, err: fmt.Errorf("rate limit of Sentry on %s", category.Label())}
	}
	answer := q.client.post(ctx, e)
	if answer.status != 0 {
		q.limits.Learn(answer.status, answer.header, time.Now())
	}
	switch answer.verdict {
	case sent:
		q.health.Accepted()
	case limited:
		if answer.wait, _ = q.limitOf(e); answer.wait == 0 { // the limit is for other categories
			answer.verdict = failed
		}
	case failed:
		answer.wait = answer.pause(time.Now())
	case refused:
	}
	if answer.verdict == limited || answer.verdict == failed {
		q.telemetry.posted(ctx, e, answer)
	}
	q.reportStatus(&answer)
	return answer
}

// limitOf returns how long a rate limit delays the envelope, and the limited category.
func (q *categoryQueue) limitOf(e *envelope) (time.Duration, sentry.Category) {
	return q.limits.Of(sentry.LimitedBy(&e.Item.Header), time.Now())
}

// retry decides about an envelope that was not sent. An error means that exporterhelper retries the
// request later, or drops it if retries are disabled. Otherwise, again reports whether to post the
// envelope again at once, or to drop it.
//
// A request that waits for a retry occupies a consumer. If there are already maxWaiting of them in
// the queue, the request must not wait unless Sentry is down.
func (q *categoryQueue) retry(ctx context.Context, r *request, answer reply) (again bool, err error) {
	if !q.cfg.Retry.Enabled {
		return false, answer.err
	}
	most := q.cfg.Retry.MaxElapsedTime
	if most > 0 && time.Since(r.begun)+answer.wait > most {
		return false, nil
	}
	if answer.verdict == failed {
		q.health.Failed(&r.attempts, answer.status == http.StatusTooManyRequests)
		if r.attempts.Refusals >= q.cfg.MaxAttempts {
			return false, nil
		}
		if q.posts != nil && q.waiting.Load() >= maxWaiting {
			if q.acceptsOthers(ctx, &r.attempts) {
				return r.attempts.Refusals < minRefusals, nil
			}
			answer.wait = 0
		}
		q.waiting.Add(1)
		r.stopWaiting = context.AfterFunc(ctx, func() { q.waiting.Add(-1) })
	}
	return false, exporterhelper.NewThrottleRetry(answer.err, answer.wait)
}

// drop counts an envelope that Sentry rejected.
func (q *categoryQueue) drop(ctx context.Context, e *envelope, answer reply) error {
	answer.verdict = refused
	q.telemetry.posted(ctx, e, answer)
	if !answer.isUnauthorized() { // if Sentry rejects the key, it also rejects the report
		q.losses.add(e, lossRejected)
	}
	q.logger.Warn("Envelope dropped", zap.String("type", string(e.Item.Header.Type)),
		zap.String("reason", answer.reason), zap.Error(answer.err))
	return consumererror.NewPermanent(answer.err)
}

const (
	// minRefusals is the minimum number of refusals before an envelope is dropped because too many
	// others wait. If one in ten posts fails at random, one request in a thousand is dropped.
	minRefusals = 2

	// maxHalvings limits the parts of a chunk that is too large to 32. Proxies accept 1 MB
	// (compressed) by default.
	maxHalvings = 5
)

// halve splits a chunk that is too large for Sentry, or for a proxy in front of it. It returns nil
// if it cannot.
func halve(e *envelope, answer reply) (halves []envelope) {
	if answer.status != http.StatusRequestEntityTooLarge || e.Item.Header.Type != sentry.ItemProfileChunk || e.halvings >= maxHalvings {
		return nil
	}
	for _, half := range chunking.Halve(e.Item.Payload) {
		h := *e
		h.Item.Payload, h.Count, h.halvings = half.Payload, half.Count, e.halvings+1
		halves = append(halves, h)
	}
	return halves
}
