// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"container/heap"
	"time"
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
	later  turnHeap         // of senders without due messages, by their first message
	ready  turnHeap         // of the others, by work
	length int
}

// turn has the messages of one sender.
type turn struct {
	sender   string
	messages messageHeap
	work     int64 // see workDone
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
		if len(s.ready.turns) > 0 {
			t.work = s.ready.turns[0].work
		}
		s.turns[t.sender] = t
		heap.Push(&t.messages, h)
		heap.Push(&s.later, t)
	} else {
		heap.Push(&t.messages, h)
		s.fix(t)
	}
	s.length++
}

func (s *schedule) remove(h *heldMessage) {
	t := s.turns[h.tenant.Authenticated]
	heap.Remove(&t.messages, h.index)
	s.length--
	if len(t.messages) > 0 {
		s.fix(t)
		return
	}
	heap.Remove(s.heapOf(t), t.index)
	delete(s.turns, t.sender)
}

// moved must be called after the next attempt of a message has changed.
func (s *schedule) moved(h *heldMessage) {
	t := s.turns[h.tenant.Authenticated]
	heap.Fix(&t.messages, h.index)
	s.fix(t)
}

func (s *schedule) heapOf(t *turn) *turnHeap {
	if t.isReady {
		return &s.ready
	}
	return &s.later
}

func (s *schedule) fix(t *turn) { heap.Fix(s.heapOf(t), t.index) }

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
	for len(s.later.turns) > 0 && !s.later.turns[0].messages[0].nextAttempt.After(now) {
		t := heap.Pop(&s.later).(*turn)
		if len(s.ready.turns) > 0 {
			t.work = max(t.work, s.ready.turns[0].work)
		}
		t.isReady = true
		s.ready.byWork = true
		heap.Push(&s.ready, t)
	}
	for len(s.ready.turns) > 0 {
		t := s.ready.turns[0]
		if !t.messages[0].nextAttempt.After(now) {
			return t.messages[0]
		}
		heap.Pop(&s.ready)
		t.isReady = false
		heap.Push(&s.later, t)
	}
	if len(s.later.turns) == 0 {
		return nil
	}
	return s.later.turns[0].messages[0]
}

// messageHeap is a heap of messages by the time of their next attempt, earliest first.
type messageHeap []*heldMessage

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (m messageHeap) Len() int           { return len(m) }
func (m messageHeap) Less(i, j int) bool { return m[i].nextAttempt.Before(m[j].nextAttempt) }
func (m messageHeap) Swap(i, j int) {
	m[i], m[j] = m[j], m[i]
	m[i].index, m[j].index = i, j
}

func (m *messageHeap) Push(x any) {
	h := x.(*heldMessage)
	h.index = len(*m)
	*m = append(*m, h)
}

func (m *messageHeap) Pop() any {
	last := len(*m) - 1
	h := (*m)[last]
	(*m)[last] = nil
	*m = (*m)[:last]
	return h
}

// turnHeap is a heap of senders by the attempt of their first message, or by work.
type turnHeap struct {
	turns  []*turn
	byWork bool
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (q *turnHeap) Len() int { return len(q.turns) }
func (q *turnHeap) Less(i, j int) bool {
	a, b := q.turns[i], q.turns[j]
	if q.byWork && a.work != b.work {
		return a.work < b.work
	}
	return a.messages[0].nextAttempt.Before(b.messages[0].nextAttempt)
}

func (q *turnHeap) Swap(i, j int) {
	q.turns[i], q.turns[j] = q.turns[j], q.turns[i]
	q.turns[i].index, q.turns[j].index = i, j
}

func (q *turnHeap) Push(x any) {
	t := x.(*turn)
	t.index = len(q.turns)
	q.turns = append(q.turns, t)
}

func (q *turnHeap) Pop() any {
	last := len(q.turns) - 1
	t := q.turns[last]
	q.turns[last] = nil
	q.turns = q.turns[:last]
	return t
}
