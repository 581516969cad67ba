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

// push sends the envelopes of a request. It returns a permanent error if one was dropped; any other
// error means that the request is still to be sent: retries are disabled, or the exporter shuts
// down.
func (q *categoryQueue) push(ctx context.Context, req xexporterhelper.Request) error {
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
		return consumererror.NewPermanent(fmt.Errorf("%d of %d envelopes dropped, the last one %w", dropped, len(envelopes), last))
	}
	return nil
}

// attempt is the state of an envelope that is to be sent.
type attempt struct {
	started  time.Time
	backoff  backoff.ExponentialBackOff
	failed   int   // posts
	refusals int   // failed posts since which, or since the ones before, Sentry has accepted other envelopes
	accepted int64 // envelopes that Sentry had accepted when this one failed last
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

// deliver posts an envelope until it is sent or dropped. halvings is how many times the chunk was
// halved that it is a part of.
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
		if over := q.giveUp(a, wait); over && q.cfg.Retry.Enabled {
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

// fail counts a failed post. Whether Sentry is down or refuses this envelope only is known by what
// else it has accepted; a 429 about other categories is an answer of a Sentry that is up.
func (a *attempt) fail(accepted int64, isUp bool) {
	a.failed++
	if isUp || accepted > a.accepted {
		a.refusals++
	}
	a.accepted = accepted
}

// giveUp reports whether an envelope has been tried for long enough.
func (q *categoryQueue) giveUp(a *attempt, wait time.Duration) bool {
	most := q.cfg.Retry.MaxElapsedTime
	return a.refusals >= q.cfg.MaxAttempts || most > 0 && time.Since(a.started)+wait > most
}

// post posts an envelope once, when it is its turn and no limit stops it.
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
		if r.wait, _ = q.limitOf(e); r.wait == 0 { // it is about other categories
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

// limitOf is how long the envelope has to wait by what Sentry has said until now, and for which
// category.
func (q *categoryQueue) limitOf(e *envelope) (time.Duration, sentry.Category) {
	return q.limits.Of(sentry.LimitedBy(&e.Item.Header), time.Now())
}

// drop counts an envelope that Sentry has refused.
func (q *categoryQueue) drop(ctx context.Context, e *envelope, r reply) error {
	q.telemetry.posted(ctx, e, r)
	q.losses.add(e, r)
	q.logger.Warn("Envelope refused by Sentry, dropped", zap.String("type", string(e.Item.Header.Type)),
		zap.String("reason", r.reason), zap.Error(r.err))
	return consumererror.NewPermanent(r.err)
}

// exhausted drops an envelope that Sentry has failed to accept too often, or for too long.
func (q *categoryQueue) exhausted(ctx context.Context, e *envelope, r reply) error {
	r.verdict, r.reason = refused, reasonExhausted
	return q.drop(ctx, e, r)
}

// wait waits until the envelope is to be posted again. The error, if there is one, is that of the
// last post.
func (q *categoryQueue) wait(ctx context.Context, a *attempt, pause time.Duration, r reply) error {
	if !q.cfg.Retry.Enabled {
		return r.err
	}
	q.logger.Info("Envelope not sent, waits to be sent again", zap.Error(r.err), zap.String("interval", pause.String()))
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

// unblock makes room if requests that failed occupy all consumers of the queue, so that those
// behind them can be sent: of the requests that wait, the one that was refused most often is
// dropped, or posted at once if it was not refused often enough to tell. It does nothing while
// Sentry accepts no other envelopes either: then it is down, and all requests wait for it.
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
	default: // it is on its way
	}
}

// isBlocked reports whether all consumers of the queue have a request, and many of these failed:
// others may wait for a limit, which stops those behind them, too.
func (q *categoryQueue) isBlocked() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.consumers > 0 && q.busy >= q.consumers && len(q.waiting) >= maxWaiting/2
}

const (
	// unblockInterval is how often a request that waits looks whether others wait behind it.
	unblockInterval = time.Second

	// minRefusals is how often a request is refused at least until unblock drops it: of requests
	// that fail by chance one in ten times, it drops one in a thousand.
	minRefusals = 2

	// maxHalvings bounds what is made of a chunk that is too large: 32 parts. Proxies take a
	// megabyte by default, compressed.
	maxHalvings = 5
)

// halve makes two chunks of one that was too large for Sentry or for a proxy in front of it. nil:
// it cannot be halved.
func halve(e *envelope, r reply, halvings int) (halves []envelope) {
	if r.status != http.StatusRequestEntityTooLarge || e.Item.Header.Type != sentry.ItemProfileChunk || halvings >= maxHalvings {
		return nil
	}
	for _, half := range chunking.Halve(e.Item.Payload) {
		halves = append(halves, envelope{Item: sentry.Item{Header: e.Item.Header, Payload: half.Payload}, Count: half.Count})
	}
	return halves
}

// deliverHalves delivers what halve returns. The error is the last one; the first one that is not
// permanent ends it.
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
