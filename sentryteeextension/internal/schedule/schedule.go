// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"iter"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
)

// Schedule holds the requests to be sent.
type Schedule[E Entry] struct {
	limits Limits

	fresh, waiting queue[E]
	again          [pauses]queue[E] // by the length of their pause, so that each is in order of due times
	breaker        health.Breaker
	sentry         health.Destination
	nextDrained    time.Time
	lastDrained    source
	underWay       [fromAgain + 1]int // attempts, by source
	ofProject      map[attempts]int   // attempts
}

// attempts identifies the attempts to send requests of one project from one queue.
type attempts struct {
	project string
	from    source
}

// Limits are the limits of a schedule.
type Limits struct {
	Consumers int           // concurrent attempts
	DrainRate int           // requests per second from the waiting and again queues
	MaxAge    time.Duration // of a request
}

const (
	// pauses is the number of different pauses between attempts: 1 s, 2 s, … 32 s, and maxPause.
	pauses = 7

	// maxRefusals is the maximum number of failed attempts of a request while Sentry accepts
	// others: with their pauses, five minutes.
	maxRefusals = 10

	// tolerated is the number of consecutive failures that pause forwarding: single requests may
	// fail while Sentry works.
	tolerated = 10

	// firstPause and maxPause are the same as Relay's for its own upstream.
	firstPause = time.Second
	maxPause   = time.Minute

	// freeFactor limits the attempts of a project to this many times the free consumers, as
	// httpbody does for memory: a project alone gets four fifths, and leaves one fifth to the next.
	freeFactor = 4
)

// New returns an empty schedule.
func New[E Entry](limits Limits) *Schedule[E] {
	return &Schedule[E]{
		limits: limits, ofProject: map[attempts]int{},
		breaker: health.Breaker{Policy: health.Policy{Failures: tolerated, First: firstPause, Longest: maxPause, Random: true}},
	}
}

// Add adds a new request.
func (s *Schedule[E]) Add(e E) { s.fresh.push(e) }

// Wait adds a request that can wait, because it is from an earlier run or forwarding is paused.
func (s *Schedule[E]) Wait(e E) { s.waiting.push(e) }

// Paused reports whether forwarding is paused because Sentry fails.
func (s *Schedule[E]) Paused() bool { return s.breaker.Paused() }

// Park moves the new requests that can wait to the waiting queue.
func (s *Schedule[E]) Park(can func(E) bool) {
	for range s.fresh.Len() {
		if e, _ := s.fresh.pop(); can(e) {
			s.waiting.push(e)
		} else {
			s.fresh.push(e)
		}
	}
}

// Fresh returns the number of new requests.
func (s *Schedule[E]) Fresh() int { return s.fresh.Len() }

// Queued returns the number of requests that are not being sent.
func (s *Schedule[E]) Queued() (n int) {
	for q := range s.queues() {
		n += q.Len()
	}
	return n
}

// UnderWay returns the number of requests that are being sent.
func (s *Schedule[E]) UnderWay() (n int) {
	for _, attempts := range s.underWay {
		n += attempts
	}
	return n
}

// OldestAge returns the age of the oldest request at the head of a queue.
func (s *Schedule[E]) OldestAge(now time.Time) (age time.Duration) {
	for q := range s.queues() {
		if oldest := q.Oldest(); oldest != nil {
			age = max(age, now.Sub(oldest.Value.Scheduled().Received))
		}
	}
	return age
}

// All returns the requests that are not being sent.
func (s *Schedule[E]) All() iter.Seq[E] {
	return func(yield func(E) bool) {
		for q := range s.queues() {
			for e := q.Oldest(); e != nil; e = e.Newer() {
				if !yield(e.Value) {
					return
				}
			}
		}
	}
}

// queues returns the queues in the order in which they lose requests.
func (s *Schedule[E]) queues() iter.Seq[*queue[E]] {
	return func(yield func(*queue[E]) bool) {
		if !yield(&s.waiting) {
			return
		}
		for i := range s.again {
			if !yield(&s.again[pauses-1-i]) {
				return
			}
		}
		yield(&s.fresh)
	}
}

// Evict removes and returns the oldest request of the project that uses the most space, if it may
// be evicted.
func (s *Schedule[E]) Evict(may func(E) bool) (e E, ok bool) {
	largest, most := "", int64(-1)
	for q := range s.queues() {
		if first := q.LargestOldest(); first != nil {
			if use := s.use(first.Tenant()); use > most {
				largest, most = first.Tenant(), use
			}
		}
	}
	for q := range s.queues() {
		if first := q.OldestOf(largest); first != nil && may(first.Value) {
			return q.take(first)
		}
	}
	return e, false
}

// use returns the space of a project's requests that are not being sent.
func (s *Schedule[E]) use(project string) (use int64) {
	for q := range s.queues() {
		use += q.Use(project)
	}
	return use
}

// Expired removes and returns a request that has waited longer than the maximum age.
func (s *Schedule[E]) Expired(now time.Time) (e E, ok bool) {
	for q := range s.queues() {
		if e, ok = q.popBefore(now.Add(-s.limits.MaxAge)); ok {
			return e, true
		}
	}
	return e, false
}

// Pop removes and returns any request.
func (s *Schedule[E]) Pop() (e E, ok bool) {
	for q := range s.queues() {
		if e, ok = q.pop(); ok {
			return e, true
		}
	}
	return e, false
}

// Next removes and returns the request to send next. If there is none now, it returns the time
// until there is one; 0 means until the state changes.
func (s *Schedule[E]) Next(now time.Time) (e E, wait time.Duration, ok bool) {
	if wait := s.breaker.Wait(now); wait != 0 {
		return e, max(wait, 0), false
	}
	var from source
	if s.Paused() {
		e, from, wait, ok = s.nextProbe(now)
	} else {
		e, from, wait, ok = s.nextInTurn(now)
	}
	if !ok {
		return e, wait, false
	}
	r := e.Scheduled()
	r.source, r.probe = from, s.Paused()
	if r.probe {
		s.breaker.Try(now)
	}
	s.sentry.Begin(&r.health)
	s.underWay[from]++
	s.ofProject[attempts{r.Project, from}]++
	return e, 0, true
}

// ended ends an attempt.
func (s *Schedule[E]) ended(r *Request) {
	s.underWay[r.source]--
	of := attempts{r.Project, r.source}
	if s.ofProject[of]--; s.ofProject[of] == 0 {
		delete(s.ofProject, of)
	}
}

// nextInTurn returns a new request, or one that waits or failed before. Each of the two groups has
// a quarter of the consumers to itself.
func (s *Schedule[E]) nextInTurn(now time.Time) (e E, from source, wait time.Duration, ok bool) {
	quarter := s.limits.Consumers / 4
	if e, from, _, ok = s.nextDrainedOf(now, quarter); ok {
		return e, from, 0, true
	}
	free := s.limits.Consumers - s.underWay[fromFresh] - max(s.drained(), quarter)
	if e, ok = s.fresh.popInTurn(s.fairShare(fromFresh, free)); ok {
		return e, fromFresh, 0, true
	}
	return s.nextDrainedOf(now, s.limits.Consumers-quarter)
}

// drained returns the number of attempts to send requests that have waited or failed before.
func (s *Schedule[E]) drained() int { return s.underWay[fromWaiting] + s.underWay[fromAgain] }

// fairShare returns a function that reports whether a project may use another of the free
// consumers. A server that never responds would otherwise occupy them all until the timeout.
func (s *Schedule[E]) fairShare(from source, free int) (may func(project string) bool) {
	return func(project string) bool { return s.ofProject[attempts{project, from}] < freeFactor*free }
}

// nextProbe returns the probe after a pause: a request that has not failed before, because it is
// more likely to succeed. It is the newest request of the next project: after a restart, the oldest
// requests are those that failed in an earlier run.
func (s *Schedule[E]) nextProbe(now time.Time) (e E, from source, wait time.Duration, ok bool) {
	if e, ok = s.fresh.popNewestInTurn(); ok {
		return e, fromFresh, 0, true
	}
	if e, ok = s.waiting.popNewestInTurn(); ok {
		return e, fromWaiting, 0, true
	}
	e, wait, ok = s.nextRetry(now)
	return e, fromAgain, wait, ok
}

// nextDrainedOf returns a request that has waited or failed before, if fewer than a maximum number
// of them are being sent. They are sent at a limited rate. The two kinds take turns, and retries
// use at most half of the maximum.
func (s *Schedule[E]) nextDrainedOf(now time.Time, most int) (e E, from source, wait time.Duration, ok bool) {
	free := most - s.drained()
	if free <= 0 {
		return e, 0, 0, false
	}
	if wait := s.nextDrained.Sub(now); wait > 0 {
		return e, 0, wait, false
	}
	kinds := [...]source{fromAgain, fromWaiting}
	if s.lastDrained == fromAgain {
		kinds = [...]source{fromWaiting, fromAgain}
	}
	for _, from := range kinds {
		switch {
		case from == fromWaiting:
			e, ok = s.waiting.popInTurn(s.fairShare(fromWaiting, free))
		case s.underWay[fromAgain] < (most+1)/2:
			e, wait, ok = s.nextRetry(now)
		}
		if ok {
			s.lastDrained, s.nextDrained = from, now.Add(time.Second/time.Duration(s.limits.DrainRate))
			return e, from, 0, true
		}
	}
	return e, 0, wait, false
}

// nextRetry returns a request whose pause is over, or the time until the first one is. Those with
// fewer failures come first: the others may never be accepted.
func (s *Schedule[E]) nextRetry(now time.Time) (e E, wait time.Duration, ok bool) {
	for i := range s.again {
		q := &s.again[i]
		first := q.Oldest()
		if first == nil {
			continue
		}
		left := first.Value.Scheduled().due.Sub(now)
		if left <= 0 {
			e, ok = q.pop()
			return e, 0, ok
		}
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return e, wait, false
}

// Accepted records that Sentry has accepted a request.
func (s *Schedule[E]) Accepted() { s.sentry.Accepted() }

// Replied ends an attempt: Sentry has replied to it. It must not be retried.
func (s *Schedule[E]) Replied(e E) {
	s.ended(e.Scheduled())
	s.breaker.Succeeded()
}

// Unsent ends an attempt that sent nothing.
func (s *Schedule[E]) Unsent(e E) {
	r := e.Scheduled()
	s.ended(r)
	if r.probe {
		s.breaker.Abandon()
	}
}

// Failed ends an attempt to which Sentry did not reply, or replied with an error of its own. paused
// reports whether the failure paused forwarding, exhausted whether the request must not be retried:
// Sentry keeps failing to accept it, but accepts others.
func (s *Schedule[E]) Failed(e E, now time.Time) (paused, exhausted bool) {
	r := e.Scheduled()
	s.ended(r)
	paused = s.breaker.Failed(r.health.Failures == 0, r.probe, now)
	s.sentry.Failed(&r.health, false)
	return paused, r.health.Refusals >= maxRefusals
}

// Retry adds a request again after an attempt. It waits for a pause that grows with the number of
// failures.
func (s *Schedule[E]) Retry(e E, now time.Time) {
	r := e.Scheduled()
	level := min(max(r.health.Failures-1, 0), pauses-1)
	r.due = now.Add(min(firstPause<<level, maxPause))
	s.again[level].push(e)
}
