// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"time"
)

// A next component that refuses a message may refuse everything, like a full queue while the
// backend is down, or only this message, however often it is retried. The next attempt with another
// message shows the difference: if that message is accepted, the refused message is a suspect.
//
// While the next component refuses everything, retries probe it, one every retryInterval. No
// message is dropped, because the outage is not caused by a message. Once a message is accepted,
// all refused messages except suspects are retried at once. Suspects are retried less and less
// often. They expire when the next component has refused them for MaxElapsedTime while it accepted
// others.

// The pauses between retries of a message double from firstPause to longestPause. They are not
// shorter because, with several next components, those that accept a message receive it again on
// each attempt.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// retryInterval is the time between retries of different messages while the next component refuses
// everything.
const retryInterval = 500 * time.Millisecond

// retries is the state of the attempts to forward one message.
type retries struct {
	last     time.Time     // time of the last attempt; zero before the first
	refusals int           // consecutive refusals; for a suspect, since it became one
	suspect  bool          // the next component refused it and accepted the message after it
	elapsed  time.Duration // how long the next component has refused it while it accepted others
}

func (r *retries) schedule() int {
	switch {
	case r.suspect:
		return suspects
	case r.last.IsZero():
		return waiting
	}
	return refused
}

func (r *retries) pause() time.Duration {
	return min(firstPause<<min(max(r.refusals-1, 0), 10), longestPause)
}

// nextState is the state of the next component, as far as attempts show it.
type nextState struct {
	refusing    bool         // it refused the last message that is not a suspect
	lastRefused *heldMessage // that message, if it is queued

	refusedAt, retriedAt, bypassedAt time.Time // the last refusal, the last retry, the last refusal of a message that bypassed the queue
}

// canRetry reports whether it is time for another attempt with a message that is not due.
func (n *nextState) canRetry(now time.Time) bool {
	return !n.refusing || now.Sub(n.refusedAt) >= retryInterval
}

// canBypass reports whether it is time to forward a message for which the queue has no memory. It
// has its own interval: if all held messages are refused forever, only new messages can show that
// the next component accepts others.
func (n *nextState) canBypass(now time.Time) bool {
	return now.Sub(n.bypassedAt) >= retryInterval
}

// retryAt returns when to retry a refused message that is not a suspect. Its pause ends at the
// given time.
func (n *nextState) retryAt(pauseEnds time.Time) time.Time {
	if !n.refusing {
		return time.Time{}
	}
	if next := n.retriedAt.Add(retryInterval); next.After(pauseEnds) {
		return next
	}
	return pauseEnds
}

// accepted records that the next component accepted a message that is not in the queue.
func (q *waitQueue) accepted() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next.refusing = false
	if h := q.next.lastRefused; h != nil {
		q.schedules[refused].remove(h)
		h.retries.suspect, h.retries.refusals = true, 1
		h.nextAttempt = h.retries.last.Add(h.retries.pause())
		q.schedules[suspects].add(h)
		q.next.lastRefused = nil
	}
	if q.schedules[refused].len()+q.schedules[suspects].len() > 0 {
		q.signal()
	}
}

// signal makes the worker look for messages that are due.
func (q *waitQueue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// bypassRefused records that the next component refused a message that bypassed the queue.
func (q *waitQueue) bypassRefused(now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next.bypassedAt = now
}

// requeue queues a refused message. ok is false if the message has expired; first reports whether
// the previous message was accepted.
func (q *waitQueue) requeue(ctx context.Context, h *heldMessage, result sendResult, now time.Time) (first, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if result.accepted {
		h.retries = retries{suspect: result.acceptedLater}
	}
	attempts := &h.retries
	if attempts.suspect && !q.next.refusing {
		attempts.elapsed += min(now.Sub(attempts.last), attempts.pause())
		if q.maxElapsed > 0 && attempts.elapsed >= q.maxElapsed {
			return false, false
		}
	}
	attempts.last = now
	attempts.refusals++
	h.nextAttempt = now.Add(attempts.pause())
	q.addUse(h)
	q.schedule(ctx, h)
	if !attempts.suspect {
		first = !q.next.refusing
		q.next.refusing, q.next.refusedAt, q.next.lastRefused = true, now, h
	}
	return first, true
}
