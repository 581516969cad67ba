// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"time"
)

// A next component that refuses a message may refuse everything, as a queue does while its backend is down, or only this message,
// however often it gets it. The attempt that follows tells: if the next component then accepts another message, the refused one is a
// suspect.
//
// While the last attempt of any other message was refused, retries probe the next component, one every retryInterval. Nothing is
// dropped then: how long a backend is down says nothing of a message. Once a message is accepted, all that were refused are retried at
// once, except for suspects. These are retried ever less often and expire, by the time for which the next component refused them and
// accepted others.

// Pauses before the retries of one message double from the first to the longest. They are not shorter since of several next
// consumers, those that do take a message get it again with each attempt.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// retryInterval is the time between two retries of different messages while the next component refuses.
const retryInterval = 500 * time.Millisecond

// retries are the attempts to forward one message.
type retries struct {
	last     time.Time     // zero before the first
	refusals int           // in a row; of a suspect, since it is one
	suspect  bool          // the next component refused it and accepted the message after it
	elapsed  time.Duration // for which the next component refused it and accepted others
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

// nextState is what the attempts so far say of the next component.
type nextState struct {
	refusing    bool  // it refused the last message that is no suspect
	lastRefused *held // that message, if it is queued

	refusedAt, retriedAt, bypassedAt time.Time // the last refusal, the last retry, the last refusal of a message without a place
}

// mayTry reports whether it is time for another attempt with a message that is not due.
func (n *nextState) mayTry(now time.Time) bool {
	return !n.refusing || now.Sub(n.refusedAt) >= retryInterval
}

// mayBypass reports likewise for a message that found no place. It has a time of its own: where all that wait are refused for good,
// only new messages can show that the next component accepts others.
func (n *nextState) mayBypass(now time.Time) bool {
	return now.Sub(n.bypassedAt) >= retryInterval
}

// retryAt returns when a message may be retried that no suspicion is on, if its pause ends at some time.
func (n *nextState) retryAt(pauseEnds time.Time) time.Time {
	if !n.refusing {
		return time.Time{}
	}
	if next := n.retriedAt.Add(retryInterval); next.After(pauseEnds) {
		return next
	}
	return pauseEnds
}

// accepted takes note that the next component accepted a message, which is not queued.
func (r *waitingRoom) accepted() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.refusing = false
	if h := r.next.lastRefused; h != nil {
		r.queues[refused].remove(h)
		h.retries.suspect, h.retries.refusals = true, 1
		h.next = h.retries.last.Add(h.retries.pause())
		r.queues[suspects].add(h)
		r.next.lastRefused = nil
	}
	if len(r.queues[refused])+len(r.queues[suspects]) > 0 {
		select {
		case r.wake <- struct{}{}:
		default:
		}
	}
}

// passedOver takes note that the next component refused a message that found no place.
func (r *waitingRoom) passedOver(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.next.bypassedAt = now
}

// putBack queues a message that was refused, with what became of its parts. Not ok: the message has expired. first reports whether the
// message before it was accepted.
func (r *waitingRoom) putBack(ctx context.Context, h *held, a attempt, now time.Time) (first, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.accepted {
		h.retries = retries{suspect: a.others}
	}
	s := &h.retries
	if s.suspect && !r.next.refusing {
		s.elapsed += min(now.Sub(s.last), s.pause())
		if r.maxElapsed > 0 && s.elapsed >= r.maxElapsed {
			return false, false
		}
	}
	s.last = now
	s.refusals++
	h.next = now.Add(s.pause())
	r.occupy(h)
	r.queue(ctx, h)
	if !s.suspect {
		first = !r.next.refusing
		r.next.refusing, r.next.refusedAt, r.next.lastRefused = true, now, h
	}
	return first, true
}
