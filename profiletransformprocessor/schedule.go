// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import "container/heap"

// A message in the queue is in one of three schedules.
const (
	waiting      = iota // waits for its spans; never forwarded so far
	refused             // refused by a next component that may refuse everything
	suspects            // refused by a next component that accepts others
	numSchedules        // number of schedules
)

// schedule is a heap of messages by the time of their next attempt, earliest first.
type schedule []*heldMessage

func (s *schedule) add(h *heldMessage) { heap.Push(s, h) }

func (s *schedule) remove(h *heldMessage) { heap.Remove(s, h.index) }

// first returns the message with the earliest attempt, or nil.
func (s schedule) first() *heldMessage {
	if len(s) == 0 {
		return nil
	}
	return s[0]
}

// Len, Less, Swap, Push and Pop implement heap.Interface.
func (s schedule) Len() int           { return len(s) }
func (s schedule) Less(i, j int) bool { return s[i].nextAttempt.Before(s[j].nextAttempt) }
func (s schedule) Swap(i, j int) {
	s[i], s[j] = s[j], s[i]
	s[i].index, s[j].index = i, j
}

func (s *schedule) Push(x any) {
	h := x.(*heldMessage)
	h.index = len(*s)
	*s = append(*s, h)
}

func (s *schedule) Pop() any {
	last := len(*s) - 1
	h := (*s)[last]
	(*s)[last] = nil
	*s = (*s)[:last]
	return h
}
