// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// forwarder sends each request to Sentry until Sentry responds or the request is dropped.
//
//	add ──▶ fresh ──────────┬──▶ consumer ──▶ Sentry ──▶ end: forwarded, refused, rate limited, dropped
//	load ─▶ waiting ─drain──┤       │
//	        again ◀─────────┴───────┘ failed
//
// The queue again has requests that Sentry failed to accept. While Sentry accepts none, new requests go to the queue waiting. Both are
// drained at a limited rate.
type forwarder struct {
	cfg       *Config
	logger    *zap.Logger
	telemetry *telemetry
	post      func(context.Context, *request) (reply, time.Duration) // of the upstream
	room      *httpbody.Budget                                       // memory of requests
	spool     *spool                                                 // nil = no storage
	limits    *keyLimits
	outgoing  *outgoing
	reports   *reports
	now       func() time.Time

	mu                    sync.Mutex
	changed               *sync.Cond
	fresh, waiting, again queue
	breaker               breaker
	nextDrained           time.Time
	drainedAgain          bool // the last drained entry was from again
	accepted              uint64
	underWay              int
	storedBytes           int64
	lost                  int // at the shutdown
	state                 state

	consumers, reporter sync.WaitGroup
	stopReports         chan struct{}
	cancel              context.CancelFunc
}

// state is the state of a forwarder.
type state int

const (
	running  state = iota
	flushing       // sends the entries in fresh, then stops
	stopped
)

// Reasons for dropping requests, as used in metrics.
const (
	reasonNoRoom     = "no_room"           // no memory: max_bytes_in_flight
	reasonSpoolFull  = "spool_full"        // evicted in favour of newer requests: spool::max_bytes
	reasonTooOld     = "too_old"           // spool::max_age
	reasonExhausted  = "retries_exhausted" // Sentry keeps failing to accept the request, but accepts others
	reasonIncomplete = "body_incomplete"   // the client did not send the whole body
	reasonShutdown   = "shutdown"          // was only in memory
	reasonUnreadable = "unreadable"        // damaged in the storage
	reasonNoUpstream = "no_upstream"       // its project has no upstream
	reasonKeys       = "too_many_keys"     // of a client report: reports of maxKeys keys are waiting
)

const (
	// maxRefusals is the maximum number of failed attempts of a request while Sentry accepts others: with their pauses, five minutes.
	maxRefusals = 10

	// stopGrace is the time at shutdown for requests that are being sent and, without a storage, for waiting requests.
	stopGrace = 5 * time.Second
)

func newForwarder(cfg *Config, logger *zap.Logger, telemetry *telemetry) *forwarder {
	f := &forwarder{
		cfg: cfg, logger: logger, telemetry: telemetry, limits: newKeyLimits(), now: time.Now,
		room: httpbody.NewBudget(cfg.MaxBytesInFlight, func(context.Context, int64) {}),
	}
	f.outgoing = newOutgoing(cfg, f.limits)
	f.reports = &reports{overflow: func() { telemetry.ended(endpointReport, outcomeDropped, reasonKeys) }}
	f.changed = sync.NewCond(&f.mu)
	f.stopReports = make(chan struct{})
	return f
}

// openSpool opens the storage, and queues the requests of earlier runs.
func (f *forwarder) openSpool(ctx context.Context, host component.Host, tee component.ID) (err error) {
	f.spool, err = openSpool(ctx, host, *f.cfg.Storage, tee, f.reports, f.telemetry.storageFailed)
	if err != nil {
		return err
	}
	err = f.spool.load(ctx, func(number uint64, size int64, r *request) {
		f.storedBytes += size
		f.waiting.push(&entry{project: r.Project, endpoint: r.Endpoint, received: r.Received, number: number, weight: size})
	})
	f.spool.start()
	return err
}

// observe returns the state for metrics.
func (f *forwarder) observe() observed {
	f.mu.Lock()
	defer f.mu.Unlock()
	o := observed{spoolBytes: f.storedBytes, bytes: f.room.Used(), requests: int64(f.underWay), limits: f.limits.active(f.now())}
	for _, q := range []*queue{&f.fresh, &f.waiting, &f.again} {
		o.requests += int64(q.Len())
		if oldest := q.Oldest(); oldest != nil {
			o.oldest = max(o.oldest, f.now().Sub(oldest.Value.received))
		}
	}
	return o
}

// start starts the consumers and the reporter.
func (f *forwarder) start(post func(context.Context, *request) (reply, time.Duration)) {
	f.post = post
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.reporter.Go(func() { f.reportAlways(ctx) })
	for range f.cfg.NumConsumers {
		f.consumers.Go(func() {
			for e := f.next(); e != nil; e = f.next() {
				f.send(ctx, e)
			}
		})
	}
}

// add accepts a request that is in memory. With a storage, the request is stored when add returns.
func (f *forwarder) add(e *entry) {
	if f.spool != nil && len(e.request.Body) <= maxStoredBody {
		if number, size, err := f.spool.put(e.request); err == nil {
			e.number, e.weight = number, size
		}
	}
	f.queueUp(e)
}

// queueUp adds an entry to a queue.
func (f *forwarder) queueUp(e *entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.number != 0 {
		f.storedBytes += e.weight
	}
	switch {
	case f.state == stopped:
		f.abandon(e)
	case f.breaker.pause > 0 && e.done == nil && e.number != 0:
		e.leaveMemory()
		f.waiting.push(e)
	default:
		f.fresh.push(e)
	}
	f.evict()
	f.changed.Signal()
}

// evict keeps the storage below its limit.
func (f *forwarder) evict() {
	for f.storedBytes > f.cfg.Spool.MaxBytes {
		e := f.waiting.evict()
		if e == nil {
			e = f.again.evict()
		}
		if e == nil {
			e = f.fresh.evict()
		}
		if e == nil {
			return // the other stored requests are being sent
		}
		f.drop(e, reasonSpoolFull)
	}
}

// next waits for an entry to send. It returns nil when the forwarder stops.
func (f *forwarder) next() *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if f.state == stopped || f.state == flushing && f.fresh.Len() == 0 {
			return nil
		}
		now := f.now()
		f.expire(now)
		e, wait := f.choose(now)
		if e != nil {
			f.breaker.begin()
			f.underWay++
			return e
		}
		f.sleep(wait)
	}
}

// choose removes and returns the entry to send next, or returns the time until there is one; 0 means until the state changes.
func (f *forwarder) choose(now time.Time) (*entry, time.Duration) {
	if wait := f.breaker.wait(now); wait != 0 {
		return nil, max(wait, 0)
	}
	if e := f.fresh.pop(); e != nil {
		return e, 0
	}
	failedBefore := f.again.Oldest()
	if failedBefore == nil && f.waiting.Len() == 0 {
		return nil, 0
	}
	if wait := f.nextDrained.Sub(now); wait > 0 {
		return nil, wait
	}
	isDue := failedBefore != nil && !failedBefore.Value.due.After(now)
	source := &f.waiting
	// The queues take turns. The probe after a pause is a request that has not failed before: it is more likely to succeed.
	if f.waiting.Len() == 0 || isDue && !f.drainedAgain && f.breaker.pause == 0 {
		if !isDue {
			return nil, failedBefore.Value.due.Sub(now)
		}
		source = &f.again
	}
	f.drainedAgain = source == &f.again
	f.nextDrained = now.Add(time.Second / time.Duration(f.cfg.Spool.DrainRate))
	return source.pop(), 0
}

// sleep waits until the state changes, at most d unless d is 0.
func (f *forwarder) sleep(d time.Duration) {
	if d > 0 {
		timer := time.AfterFunc(d, func() { f.changed.Broadcast() })
		defer timer.Stop()
	}
	f.changed.Wait()
}

// expire drops requests that have waited longer than spool::max_age.
func (f *forwarder) expire(now time.Time) {
	for _, q := range []*queue{&f.again, &f.waiting, &f.fresh} {
		for e := q.popBefore(now.Add(-f.cfg.Spool.MaxAge)); e != nil; e = q.popBefore(now.Add(-f.cfg.Spool.MaxAge)) {
			f.drop(e, reasonTooOld)
		}
	}
}

// send makes one attempt to send an entry.
func (f *forwarder) send(ctx context.Context, e *entry) {
	if e.request == nil {
		if reason := f.load(ctx, e); reason != "" {
			f.putBack(e, reason)
			return
		}
	}
	p, err := f.outgoing.prepare(ctx, e.request, f.now())
	switch {
	case errors.Is(err, errNoUpstream):
		f.putBack(e, reasonNoUpstream)
		return
	case err != nil:
		f.putBack(e, reasonNoRoom)
		return
	case p.request == nil:
		f.omit(e, p.omitted)
		return
	}
	defer p.claim.Release()
	r, took := f.post(ctx, p.request)
	f.telemetry.answered(ctx, &r, took)
	if r.status != 0 {
		f.limits.learn(e.request.key(), r.status, r.header, f.now())
	}
	f.settle(ctx, e, r, p.omitted)
}

// settle processes the result of an attempt. part is the data that was omitted from the request.
func (f *forwarder) settle(ctx context.Context, e *entry, r reply, part omit.Losses) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	f.underWay--
	now := f.now()
	if ctx.Err() == nil && f.breaker.end(r.verdict == failed, e.attempts == 0, now) {
		f.logger.Warn("Sentry fails to accept requests: forwarding is paused", zap.Stringer("last", &r))
		f.park()
	}
	e.answer(r)
	if r.verdict != failed {
		if r.verdict == sent {
			f.accepted++
		} else {
			f.logger.Warn("Request not accepted by Sentry", zap.String("endpoint", e.endpoint), zap.String("project", e.project), zap.Stringer("answer", &r))
		}
		if r.verdict == limited && e.endpoint == endpointReport {
			part = omit.LossesOf(e.request.Losses) // reported again later
		}
		f.telemetry.ended(e.endpoint, outcomes[r.verdict], r.reason)
		f.forget(e, r, part)
		return
	}
	if e.attempts > 0 && f.accepted > e.accepted {
		e.refusals++
	}
	e.attempts, e.accepted = e.attempts+1, f.accepted
	if e.refusals >= maxRefusals {
		f.drop(e, reasonExhausted)
		return
	}
	e.due = now.Add(min(firstPause<<min(e.attempts-1, 6), maxPause))
	e.leaveMemory()
	f.again.push(e)
}

// park moves new entries that are in the storage to waiting.
func (f *forwarder) park() {
	if f.spool == nil {
		return
	}
	for range f.fresh.Len() {
		e := f.fresh.pop()
		if e.done != nil || e.number == 0 {
			f.fresh.push(e)
			continue
		}
		e.leaveMemory()
		f.waiting.push(e)
	}
}

// load reads the request of an entry from the storage. If it cannot, it returns the reason.
func (f *forwarder) load(ctx context.Context, e *entry) (reason string) {
	claim := f.room.Claim(ctx)
	claim.SetTenant(e.project)
	if err := claim.Acquire(e.weight); err != nil {
		return reasonNoRoom
	}
	r, err := f.spool.get(ctx, e.number)
	if err != nil {
		claim.Release()
		f.telemetry.storageFailed("load", err)
		return reasonUnreadable
	}
	e.request, e.claim = r, claim
	return ""
}

// omit ends an entry that is omitted completely.
func (f *forwarder) omit(e *entry, all omit.Losses) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	f.breaker.trying = false
	f.underWay--
	f.telemetry.ended(e.endpoint, outcomes[omitted], all.Reason())
	f.forget(e, reply{verdict: omitted}, all)
}

// putBack ends an attempt that sent nothing. For lack of memory, it is repeated; for other reasons, the entry is dropped.
func (f *forwarder) putBack(e *entry, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer f.changed.Broadcast()
	f.breaker.trying = false
	f.underWay--
	if reason != reasonNoRoom {
		f.drop(e, reason)
		return
	}
	e.leaveMemory()
	e.due = f.now().Add(firstPause)
	f.again.push(e)
}

// drop ends an entry that was not sent, and counts it.
func (f *forwarder) drop(e *entry, reason string) {
	f.telemetry.ended(e.endpoint, outcomeDropped, reason)
	f.logger.Warn("Request dropped", zap.String("endpoint", e.endpoint), zap.String("project", e.project), zap.String("reason", reason))
	f.forget(e, reply{verdict: failed, reason: reason}, nil)
}

// forget removes an entry. part is the data that was omitted from it, to be reported to Sentry.
func (f *forwarder) forget(e *entry, r reply, part omit.Losses) {
	e.answer(r)
	f.telemetry.omitted(part)
	switch {
	case e.number != 0:
		f.storedBytes -= e.weight
		f.spool.remove(e.number, e.request.keyOrNone(), part)
		e.number = 0
	case f.spool != nil && len(part) > 0:
		f.spool.note(e.request.key(), part)
	default:
		f.reports.add(e.request.keyOrNone(), part, 1)
	}
	e.request = nil
	e.claim.Release()
}

// abandon ends an entry at shutdown: it stays in the storage or, if it is not stored, is dropped.
func (f *forwarder) abandon(e *entry) {
	if e.number == 0 {
		f.lost++
		f.drop(e, reasonShutdown)
		return
	}
	e.answer(reply{verdict: failed, reason: reasonShutdown})
	e.leaveMemory()
}

// stop waits for requests that are being sent and, without a storage, for all waiting requests, but not longer than stopGrace.
func (f *forwarder) stop(ctx context.Context) error {
	close(f.stopReports)
	f.reporter.Wait()
	if f.spool == nil {
		f.report(ctx) // with a storage, the next run sends the reports
	}
	f.setState(flushing)
	if f.spool != nil {
		f.setState(stopped)
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	end := context.AfterFunc(ctx, func() {
		f.setState(stopped)
		f.cancel()
	})
	f.consumers.Wait()
	end()
	f.cancel()
	f.setState(stopped)
	f.abandonAll()
	if f.lost > 0 { // metrics of a shutdown are rarely scraped, and the lines of single requests are limited
		f.logger.Warn("Requests lost because they were only in memory", zap.Int("requests", f.lost))
	}
	if f.spool == nil {
		return nil
	}
	return f.spool.close(context.WithoutCancel(ctx))
}

func (f *forwarder) setState(s state) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = s
	f.changed.Broadcast()
}

func (f *forwarder) abandonAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spool == nil {
		for range f.reports.all() {
			f.telemetry.ended(endpointReport, outcomeDropped, reasonShutdown)
		}
	}
	for _, q := range []*queue{&f.fresh, &f.waiting, &f.again} {
		for e := q.pop(); e != nil; e = q.pop() {
			f.abandon(e)
		}
	}
}
