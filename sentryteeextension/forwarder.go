// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/schedule"
)

// forwarder sends each request to Sentry until Sentry responds or the request is dropped.
//
//	add, load ──▶ schedule ──▶ consumer ──▶ Sentry ──▶ settle: forwarded, refused, rate limited, dropped
//	                 ▲                                   │
//	                 └───────────────────────────────────┘ failed
type forwarder struct {
	cfg       *Config
	logger    *zap.Logger
	telemetry *telemetry
	post      func(context.Context, *request) (reply, time.Duration) // of the upstream
	room      *httpbody.Budget                                       // memory of requests
	spool     *journal.Journal                                       // nil = no storage
	limits    *keyLimits
	outgoing  *outgoing
	reports   *reports
	now       func() time.Time

	mu          sync.Mutex
	idle        []chan struct{} // of consumers without an entry, in the order in which they became idle
	schedule    *schedule.Schedule[*entry]
	storedBytes int64
	lost        int // at shutdown
	state       state

	consumers, reporter sync.WaitGroup
	stopReports         chan struct{}
	cancel              context.CancelFunc
}

// state is the state of a forwarder.
type state int

const (
	running  state = iota
	flushing       // sends the new entries, then stops
	stopped
)

// Reasons for dropping requests, as used in metrics.
const (
	reasonNoRoom     = "no_room"           // no memory: max_bytes_in_flight
	reasonSpoolFull  = "spool_full"        // evicted in favor of newer requests: spool::max_bytes
	reasonTooOld     = "too_old"           // spool::max_age
	reasonExhausted  = "retries_exhausted" // Sentry keeps failing to accept the request, but accepts others
	reasonIncomplete = "body_incomplete"   // the client did not send the whole body
	reasonShutdown   = "shutdown"          // was only in memory
	reasonUnreadable = "unreadable"        // damaged in the storage
	reasonNoUpstream = "no_upstream"       // its project has no upstream
	reasonKeys       = "too_many_keys"     // of a client report: reports of maxKeys keys are waiting
)

// stopGrace is the time at shutdown for requests that are being sent and, without storage, for
// waiting requests.
const stopGrace = 5 * time.Second

func newForwarder(cfg *Config, logger *zap.Logger, telemetry *telemetry) *forwarder {
	f := &forwarder{
		cfg: cfg, logger: logger, telemetry: telemetry, limits: newKeyLimits(), now: time.Now,
		room:     httpbody.NewBudget(cfg.MaxBytesInFlight, func(context.Context, int64) {}),
		schedule: schedule.New[*entry](schedule.Limits{Consumers: cfg.NumConsumers, DrainRate: cfg.Spool.DrainRate, MaxAge: cfg.Spool.MaxAge}),
	}
	f.outgoing = newOutgoing(cfg, f.limits)
	f.reports = &reports{overflow: func() { telemetry.ended(endpointReport, outcomeDropped, reasonKeys) }}
	f.stopReports = make(chan struct{})
	return f
}

// observe returns the state for metrics.
func (f *forwarder) observe() observed {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	return observed{
		requests: int64(f.schedule.Queued() + f.schedule.UnderWay()), bytes: f.room.Used(), spoolBytes: f.storedBytes, oldest: f.schedule.OldestAge(now),
		limits: f.limits.active(now),
	}
}

// start starts the consumers and the reporter.
func (f *forwarder) start(post func(context.Context, *request) (reply, time.Duration)) {
	f.post = post
	ctx, cancel := context.WithCancel(context.Background())
	f.cancel = cancel
	f.reporter.Go(func() { f.reportAlways(ctx) })
	for range f.cfg.NumConsumers {
		f.consumers.Go(func() {
			wake := make(chan struct{}, 1)
			for e := f.next(wake); e != nil; e = f.next(wake) {
				f.send(ctx, e)
			}
		})
	}
}

// add accepts a request that is in memory. With storage, the request is stored when add returns,
// unless the disk is full or busy.
func (f *forwarder) add(e *entry) {
	if f.spool != nil && len(e.request.Body) <= maxStoredBody {
		ctx, cancel := context.WithTimeout(context.Background(), maxStoreWait)
		defer cancel()
		if number, size, err := f.store(ctx, e.request); err == nil {
			e.number, e.Weight = number, size
		}
	}
	f.queueUp(e)
}

// queueUp adds an entry to a queue.
func (f *forwarder) queueUp(e *entry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e.number != 0 {
		f.storedBytes += e.Weight
	}
	switch {
	case f.state == stopped:
		f.abandon(e)
	case f.schedule.Paused() && e.canWait():
		e.leaveMemory()
		f.schedule.Wait(e)
	default:
		if e.canWait() && f.room.Used() > f.cfg.MaxBytesInFlight/2 {
			e.leaveMemory()
		}
		f.schedule.Add(e)
	}
	f.evict()
	f.wake()
}

// evict keeps the storage below its limit.
func (f *forwarder) evict() {
	for f.storedBytes > f.cfg.Spool.MaxBytes {
		e, ok := f.schedule.Evict(func(*entry) bool { return true })
		if !ok {
			return // the other stored requests are being sent
		}
		f.drop(e, reasonSpoolFull)
	}
}

// maxRoomWait is how long a client waits for memory, because Sentry receives less than arrives.
// Sentry's SDKs wait at least two seconds for a response (Ruby).
const maxRoomWait = time.Second

// makeRoom adds n bytes to the claim of a request that is being received. While Sentry accepts
// requests, the client waits for others to be sent. Otherwise, or if that takes too long, waiting
// requests of projects that use more are dropped, the oldest ones first, if the client is
// authenticated. Those in the storage do not use memory.
func (f *forwarder) makeRoom(claim *httpbody.Claim, n int64, project string, authenticated bool) error {
	err := claim.TryAcquire(n)
	if err == httpbody.ErrNoMemory && !f.isPaused() {
		err = claim.Acquire(n)
	}
	for err == httpbody.ErrNoMemory && authenticated && f.dropOldest(project, n) {
		err = claim.TryAcquire(n)
	}
	return err
}

func (f *forwarder) isPaused() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.schedule.Paused()
}

// dropOldest drops the oldest request in memory of the project that uses the most, if that is more
// than another project uses with n more bytes. It reports whether there is one.
func (f *forwarder) dropOldest(project string, n int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	e, ok := f.schedule.Evict(func(e *entry) bool {
		return e.number == 0 && (e.Project == project || f.room.UsedBy(e.Project) > f.room.UsedBy(project)+n)
	})
	if ok {
		f.drop(e, reasonNoRoom)
	}
	return ok
}

// next waits for an entry to send; wake is the channel of the consumer. It returns nil when the
// forwarder stops.
func (f *forwarder) next(wake chan struct{}) *entry {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if f.state == stopped || f.state == flushing && f.schedule.Fresh() == 0 {
			f.wake()
			return nil
		}
		now := f.now()
		f.expire(now)
		e, wait, ok := f.schedule.Next(now)
		if ok {
			if f.state != running || f.schedule.Queued() > 0 {
				f.wake() // there may be an entry for another one
			}
			return e
		}
		f.sleep(wake, wait)
	}
}

// sleep waits until the consumer is woken, at most d unless d is 0.
func (f *forwarder) sleep(wake chan struct{}, d time.Duration) {
	f.idle = append(f.idle, wake)
	if d > 0 {
		timer := time.AfterFunc(d, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.wake() // any consumer; it then starts the timer for the next entry itself
		})
		defer timer.Stop()
	}
	f.mu.Unlock()
	<-wake
	f.mu.Lock()
}

// wake wakes a consumer, which wakes another one if necessary: waking them all would cost more than
// an attempt. It chooses the consumer that became idle last, because the garbage collector shrinks
// the stacks of the others.
func (f *forwarder) wake() {
	if last := len(f.idle) - 1; last >= 0 {
		f.idle[last] <- struct{}{}
		f.idle = f.idle[:last]
	}
}

// expire drops requests that have waited longer than spool::max_age.
func (f *forwarder) expire(now time.Time) {
	for e, ok := f.schedule.Expired(now); ok; e, ok = f.schedule.Expired(now) {
		f.drop(e, reasonTooOld)
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
	e.answer(r)
	switch {
	case r.verdict != failed:
		f.schedule.Replied(e)
		f.end(e, r, part)
	case ctx.Err() != nil: // the attempt failed because of the shutdown
		f.schedule.Unsent(e)
		f.retry(e)
	default:
		f.fail(e, r)
	}
}

// end ends an entry with Sentry's reply.
func (f *forwarder) end(e *entry, r reply, part omit.Losses) {
	if r.verdict == sent {
		f.schedule.Accepted()
	} else {
		f.logger.Warn("Request not accepted by Sentry", zap.String("endpoint", e.endpoint), zap.String("project", e.Project), zap.Stringer("answer", &r))
	}
	if r.verdict == limited && e.endpoint == endpointReport {
		part = omit.LossesOf(e.request.Losses) // reported again later
	}
	f.telemetry.ended(e.endpoint, outcomes[r.verdict], r.reason)
	f.forget(e, r, part)
}

// fail processes a failed attempt. When it pauses forwarding, new entries wait in the storage.
func (f *forwarder) fail(e *entry, r reply) {
	paused, exhausted := f.schedule.Failed(e, f.now())
	if paused {
		f.logger.Warn("Sentry fails to accept requests: forwarding is paused", zap.Stringer("last", &r))
		f.schedule.Park(func(e *entry) bool {
			if e.canWait() {
				e.leaveMemory()
			}
			return e.canWait()
		})
	}
	if exhausted {
		f.drop(e, reasonExhausted)
		return
	}
	f.retry(e)
}

// retry repeats an attempt later.
func (f *forwarder) retry(e *entry) {
	e.leaveMemory()
	f.schedule.Retry(e, f.now())
}

// load reads the request of an entry from the storage. If it cannot, it returns the reason.
func (f *forwarder) load(ctx context.Context, e *entry) (reason string) {
	claim := f.room.Claim(ctx)
	claim.SetTenant(e.Project)
	if err := claim.Acquire(e.Weight); err != nil {
		return reasonNoRoom
	}
	r, err := f.read(ctx, e.number)
	if ctx.Err() != nil {
		claim.Release()
		return reasonNoRoom // stays in the storage
	}
	if err != nil {
		claim.Release()
		f.telemetry.storageFailed(journal.LoadOperation, err)
		return reasonUnreadable
	}
	e.request, e.claim = r, claim
	return ""
}

// omit ends an entry that is omitted completely.
func (f *forwarder) omit(e *entry, all omit.Losses) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.schedule.Unsent(e)
	f.telemetry.ended(e.endpoint, outcomes[omitted], all.Reason())
	f.forget(e, reply{verdict: omitted}, all)
}

// putBack ends an attempt that sent nothing. If memory was lacking, it is repeated later;
// otherwise, the entry is dropped.
func (f *forwarder) putBack(e *entry, reason string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.schedule.Unsent(e)
	if reason != reasonNoRoom {
		f.drop(e, reason)
		return
	}
	f.retry(e)
}

// drop ends an entry that was not sent, and counts it.
func (f *forwarder) drop(e *entry, reason string) {
	f.telemetry.ended(e.endpoint, outcomeDropped, reason)
	f.logger.Warn("Request dropped", zap.String("endpoint", e.endpoint), zap.String("project", e.Project), zap.String("reason", reason))
	f.forget(e, reply{verdict: failed, reason: reason}, nil)
}

// forget removes an entry. part is the data that was omitted from it, to be reported to Sentry.
func (f *forwarder) forget(e *entry, r reply, part omit.Losses) {
	e.answer(r)
	f.telemetry.omitted(part)
	switch {
	case e.number != 0:
		f.storedBytes -= e.Weight
		f.spool.Remove(e.number, f.reports.change(e.request.keyOrNone(), part, 1))
		e.number = 0
	case f.spool != nil && len(part) > 0:
		f.spool.Change(f.reports.change(e.request.key(), part, 1))
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

// stop waits for requests that are being sent and, without storage, for all waiting requests, but
// not longer than stopGrace. Nor does it wait longer for a storage that does not respond.
func (f *forwarder) stop(ctx context.Context) error {
	close(f.stopReports)
	f.awaitReporter()
	if f.spool == nil {
		f.report(ctx) // with storage, the next run sends the reports
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
	if f.lost > 0 { // metrics are rarely scraped during shutdown, and log lines about single requests are rate-limited
		f.logger.Warn("Requests lost because they were only in memory", zap.Int("requests", f.lost))
	}
	return f.spool.Close(context.WithoutCancel(ctx))
}

// awaitReporter waits until the reporter ends, but not longer than stopGrace: it may be storing a
// report.
func (f *forwarder) awaitReporter() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f.reporter.Wait()
	}()
	timer := time.NewTimer(stopGrace)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func (f *forwarder) setState(s state) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state = s
	f.wake()
}

func (f *forwarder) abandonAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.spool == nil {
		for range f.reports.all() {
			f.telemetry.ended(endpointReport, outcomeDropped, reasonShutdown)
		}
	}
	for e, ok := f.schedule.Pop(); ok; e, ok = f.schedule.Pop() {
		f.abandon(e)
	}
}
