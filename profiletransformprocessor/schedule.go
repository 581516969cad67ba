// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/heap"
)

// A message in the queue is in one of three schedules.
const (
	waiting      = iota // waits for its spans; never forwarded so far
	refused             // refused by a next component that may refuse everything
	suspects            // refused by a next component that accepts others
	numSchedules        // number of schedules
)

// schedule has messages by the time of their next attempt. Of the messages that are due, the next
// one belongs to the sender (by credentials) that caused the least work, so that a sender whose
// messages are expensive delays only its own.
type schedule struct {
	turns  map[string]*turn // of senders with messages, by credentials
	later  heap.Heap[*turn] // of senders without due messages, by their first message
	ready  heap.Heap[readyTurn]
	length int
}

// turn has the messages of one sender.
type turn struct {
	sender   string
	messages heap.Heap[*heldMessage] // the earliest attempt first
	work     int64                   // see workDone
	isReady  bool
	index    int // in the heap later or ready
}

func (s *schedule) len() int { return s.length }

// add adds a message. A new sender begins with the work of the sender that is next, because a
// sender without messages does not save up turns.
func (s *schedule) add(h *heldMessage) {
	t := s.turns[h.tenant.Authenticated]
	if t == nil {
		if s.turns == nil {
			s.turns = map[string]*turn{}
		}
		t = &turn{sender: h.tenant.Authenticated}
		if len(s.ready) > 0 {
			t.work = s.ready[0].work
		}
		s.turns[t.sender] = t
		t.messages.Push(h)
		s.later.Push(t)
	} else {
		t.messages.Push(h)
		s.fix(t)
	}
	s.length++
}

func (s *schedule) remove(h *heldMessage) {
	t := s.turns[h.tenant.Authenticated]
	t.messages.Remove(h)
	s.length--
	if len(t.messages) > 0 {
		s.fix(t)
		return
	}
	if t.isReady {
		s.ready.Remove(readyTurn{t})
	} else {
		s.later.Remove(t)
	}
	delete(s.turns, t.sender)
}

// moved must be called after the next attempt of a message has changed.
func (s *schedule) moved(h *heldMessage) {
	t := s.turns[h.tenant.Authenticated]
	t.messages.Fix(h)
	s.fix(t)
}

func (s *schedule) fix(t *turn) {
	if t.isReady {
		s.ready.Fix(readyTurn{t})
	} else {
		s.later.Fix(t)
	}
}

// workDone counts the work for a message that was removed.
func (s *schedule) workDone(sender string, work int64) {
	if t := s.turns[sender]; t != nil {
		t.work += work
		s.fix(t)
	}
}

// first returns the message that is next: a due one or, if there is none, the one with the earliest
// attempt, or nil.
func (s *schedule) first(now time.Time) *heldMessage {
	for len(s.later) > 0 && !s.later[0].messages[0].nextAttempt.After(now) {
		t := s.later[0]
		s.later.Remove(t)
		if len(s.ready) > 0 {
			t.work = max(t.work, s.ready[0].work)
		}
		t.isReady = true
		s.ready.Push(readyTurn{t})
	}
	for len(s.ready) > 0 {
		t := s.ready[0].turn
		if !t.messages[0].nextAttempt.After(now) {
			return t.messages[0]
		}
		s.ready.Remove(s.ready[0])
		t.isReady = false
		s.later.Push(t)
	}
	if len(s.later) == 0 {
		return nil
	}
	return s.later[0].messages[0]
}

// readyTurn is the turn of a sender with due messages. The one with the least work is first.
type readyTurn struct{ *turn }

// Before and Place implement heap.Item.
func (h *heldMessage) Before(other *heldMessage) bool { return h.nextAttempt.Before(other.nextAttempt) }
func (h *heldMessage) Place() *int                    { return &h.index }
func (t *turn) Before(other *turn) bool               { return t.messages[0].Before(other.messages[0]) }
func (t *turn) Place() *int                           { return &t.index }

// Before implements heap.Item.
func (t readyTurn) Before(other readyTurn) bool {
	if t.work != other.work {
		return t.work < other.work
	}
	return t.turn.Before(other.turn)
}
