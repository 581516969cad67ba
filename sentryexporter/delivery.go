// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v7"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter/exporterhelper/xexporterhelper"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
)

// push sends the envelopes of a request. It returns a permanent error if an envelope was dropped.
// Any other error means that the request must be sent again later, because retries are disabled or
// the exporter is shutting down.
func (q *categoryQueue) push(ctx context.Context, req xexporterhelper.Request) error {
	if q.superseded(ctx, req.(*request)) {
		return nil
	}
	q.addBusy(1)
	defer q.addBusy(-1)
	envelopes := req.(*request).Envelopes
	dropped := 0
	var last error
	for i := range envelopes {
		switch err := q.deliver(ctx, &envelopes[i], 0); {
		case err == nil:
		case consumererror.IsPermanent(err):
			dropped++
			last = err
		default:
			return err
		}
	}
	if dropped > 0 {
		return consumererror.NewPermanent(fmt.Errorf("%d of %d envelopes dropped, last error: %w", dropped, len(envelopes), last))
	}
	return nil
}

// attempt is the state of an unsent envelope.
type attempt struct {
	started  time.Time
	backoff  backoff.ExponentialBackOff
	failed   int   // number of failed posts
	refusals int   // failed posts during which Sentry accepted other envelopes
	accepted int64 // value of destination.accepted at the last failure
	wake     chan struct{}
	dropped  atomic.Bool // by unblock
}

func (q *categoryQueue) newAttempt() *attempt {
	retry := &q.cfg.Retry
	return &attempt{
		started: time.Now(), accepted: q.accepted.Load(), wake: make(chan struct{}, 1),
		backoff: backoff.ExponentialBackOff{
			InitialInterval: retry.InitialInterval, RandomizationFactor: retry.RandomizationFactor, Multiplier: retry.Multiplier,
			MaxInterval: retry.MaxInterval,
		},
	}
}

// deliver posts an envelope until it is sent or dropped. halvings counts how often the original
// chunk was halved.
func (q *categoryQueue) deliver(ctx context.Context, e *envelope, halvings int) error {
	a := q.newAttempt()
	for {
		r := q.post(ctx, e, a.failed > 0)
		wait := r.wait
		switch r.verdict {
		case sent:
			q.telemetry.posted(ctx, e, r)
			q.reportLosses(ctx, false)
			return nil
		case refused:
			if halves := halve(e, r, halvings); halves != nil {
				q.telemetry.halved(ctx, e)
				return q.deliverHalves(ctx, halves, halvings+1)
			}
			err := q.drop(ctx, e, r)
			q.reportLosses(ctx, false)
			return err
		case failed:
			a.fail(q.accepted.Load(), r.status == http.StatusTooManyRequests)
			wait = max(wait, a.backoff.NextBackOff())
		case limited:
		}
		if q.giveUp(a, wait) && q.cfg.Retry.Enabled {
			return q.exhausted(ctx, e, r)
		}
		if err := q.wait(ctx, a, wait, r); err != nil {
			return err
		}
		if a.dropped.Load() {
			return q.exhausted(ctx, e, r)
		}
	}
}

// fail counts a failed post. Sentry is considered up if it accepts other envelopes, or responds
// with a 429 for other categories.
func (a *attempt) fail(accepted int64, isUp bool) {
	a.failed++
	if isUp || accepted > a.accepted {
		a.refusals++
	}
	a.accepted = accepted
}

// giveUp reports whether an envelope has failed too often.
func (q *categoryQueue) giveUp(a *attempt, wait time.Duration) bool {
	most := q.cfg.Retry.MaxElapsedTime
	return a.refusals >= q.cfg.MaxAttempts || most > 0 && time.Since(a.started)+wait > most
}

// post waits for a slot and until no rate limit applies, then posts an envelope once.
func (q *categoryQueue) post(ctx context.Context, e *envelope, retry bool) reply {
	if retry {
		defer acquire(q.retries)()
	}
	defer acquire(q.posts)()
	if wait, category := q.limitOf(e); wait > 0 {
		q.telemetry.throttledBy(ctx, category)
		return reply{verdict: limited, wait: wait, err: fmt.Errorf("rate limit of Sentry on %s", category.Label())}
	}
	r := q.client.post(ctx, e)
	if r.status != 0 {
		q.limits.Learn(r.status, r.header, time.Now())
	}
	switch r.verdict {
	case sent:
		q.accepted.Add(1)
	case limited:
		if r.wait, _ = q.limitOf(e); r.wait == 0 { // the limit is for other categories
			r.verdict = failed
		}
	case failed:
		r.wait = r.pause(time.Now())
	case refused:
	}
	if r.verdict == limited || r.verdict == failed {
		q.telemetry.posted(ctx, e, r)
	}
	q.reportStatus(&r)
	return r
}

// limitOf returns how long a rate limit delays the envelope, and the limited category.
func (q *categoryQueue) limitOf(e *envelope) (time.Duration, sentry.Category) {
	return q.limits.Of(sentry.LimitedBy(&e.Item.Header), time.Now())
}

// drop counts an envelope that Sentry rejected.
func (q *categoryQueue) drop(ctx context.Context, e *envelope, r reply) error {
	q.telemetry.posted(ctx, e, r)
	if !r.isUnauthorized() { // if Sentry rejects the key, it also rejects the report
		q.losses.add(e, lossRejected)
	}
	q.logger.Warn("Envelope dropped", zap.String("type", string(e.Item.Header.Type)),
		zap.String("reason", r.reason), zap.Error(r.err))
	return consumererror.NewPermanent(r.err)
}

// exhausted drops an envelope after too many or too long retries.
func (q *categoryQueue) exhausted(ctx context.Context, e *envelope, r reply) error {
	r.verdict, r.reason = refused, reasonExhausted
	return q.drop(ctx, e, r)
}

// wait waits until the next post of the envelope. It returns the error of the last post if the
// exporter must not retry.
func (q *categoryQueue) wait(ctx context.Context, a *attempt, pause time.Duration, r reply) error {
	if !q.cfg.Retry.Enabled {
		return r.err
	}
	q.logger.Info("Envelope not sent, will be retried", zap.Error(r.err), zap.String("interval", pause.String()))
	if r.verdict == failed {
		q.addWaiting(a)
		defer q.removeWaiting(a)
	}
	for until := time.Now().Add(pause); ; {
		if r.verdict == failed {
			q.unblock(ctx, a)
		}
		timer := time.NewTimer(min(time.Until(until), unblockInterval))
		select {
		case <-ctx.Done():
		case <-q.stopping:
		case <-a.wake:
		case <-timer.C:
			if time.Now().Before(until) {
				continue
			}
			return nil
		}
		timer.Stop()
		if a.dropped.Load() || ctx.Err() == nil && !q.isStopping() {
			return nil
		}
		return errors.Join(r.err, ctx.Err())
	}
}

func (q *categoryQueue) isStopping() bool {
	select {
	case <-q.stopping:
		return true
	default:
		return false
	}
}

func (q *categoryQueue) addWaiting(a *attempt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, a)
}

func (q *categoryQueue) removeWaiting(a *attempt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = slices.DeleteFunc(q.waiting, func(other *attempt) bool { return other == a })
}

// unblock frees a consumer if failing requests occupy all consumers of the queue. It selects the
// waiting request with the most refusals and drops it, or posts it immediately if there are too few
// refusals to decide. If Sentry accepts no other envelopes either, it is down: unblock does
// nothing, and all requests wait.
func (q *categoryQueue) unblock(ctx context.Context, a *attempt) {
	if !q.isBlocked() {
		return
	}
	if q.accepted.Load() == a.accepted {
		q.checkHealth(ctx)
	}
	if q.accepted.Load() == a.accepted {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return
	}
	worst := slices.MaxFunc(q.waiting, func(a, b *attempt) int { return a.refusals - b.refusals })
	worst.dropped.Store(worst.refusals >= minRefusals)
	select {
	case worst.wake <- struct{}{}:
	default: // a post is in progress
	}
}

// isBlocked reports whether all consumers of the queue are occupied, and many of their requests
// have failed. The others may wait for a rate limit, which would also delay the requests behind
// them.
func (q *categoryQueue) isBlocked() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.consumers > 0 && q.busy >= q.consumers && len(q.waiting) >= maxWaiting/2
}

const (
	// unblockInterval is the interval at which a waiting request checks whether the queue is
	// blocked.
	unblockInterval = time.Second

	// minRefusals is the minimum number of refusals before unblock drops a request. If one in ten
	// posts fails at random, it drops one request in a thousand.
	minRefusals = 2

	// maxHalvings limits the parts of a chunk that is too large to 32. Proxies accept 1 MB
	// (compressed) by default.
	maxHalvings = 5
)

// halve splits a chunk that is too large for Sentry, or for a proxy in front of it. It returns nil
// if it cannot.
func halve(e *envelope, r reply, halvings int) (halves []envelope) {
	if r.status != http.StatusRequestEntityTooLarge || e.Item.Header.Type != sentry.ItemProfileChunk || halvings >= maxHalvings {
		return nil
	}
	for _, half := range chunking.Halve(e.Item.Payload) {
		halves = append(halves, envelope{Item: sentry.Item{Header: e.Item.Header, Payload: half.Payload}, Count: half.Count, Via: e.Via})
	}
	return halves
}

// deliverHalves delivers the result of halve. It stops at the first error that is not permanent,
// and otherwise returns the last one.
func (q *categoryQueue) deliverHalves(ctx context.Context, halves []envelope, halvings int) (permanent error) {
	for i := range halves {
		if err := q.deliver(ctx, &halves[i], halvings); err != nil {
			if !consumererror.IsPermanent(err) {
				return err
			}
			permanent = err
		}
	}
	return permanent
}
