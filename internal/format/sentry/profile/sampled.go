// SPDX-License-Identifier: Apache-2.0

package profile

import "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"

// Sampled is the object "profile" that both formats share: samples that point at stacks that point at frames.
// After decoding every index is in range.
//
// It is held in columns, not in a struct per sample: a chunk has tens of thousands of samples and a few hundred stacks.
// Columns and strings are the Decoder's scratch, valid until its next use.
type Sampled struct {
	Samples Samples
	Stacks  Stacks
	Frames  []Frame  // distinct by their JSON text: node repeats each frame for every stack that has it
	Threads []Thread // those that samples name, in order of first appearance
	Queues  []Queue  // likewise; Queues[0] stands for "no queue"

	Lost  []discard.Loss // samples that were sent and are not in Samples
	Flaws []discard.Flaw // fields that were not of their published type
}

// Samples are the observations, in the order they were sent.
type Samples struct {
	Time   []uint64 // V1: nanoseconds since Profile.Timestamp; V2: unix nanoseconds
	Stack  []int32  // index into Stacks
	Thread []int32  // index into Threads
	Queue  []int32  // index into Queues; empty where no sample names a queue
}

// Len is the number of samples.
func (s *Samples) Len() int { return len(s.Time) }

func (s *Samples) move(from, to int) {
	if from == to {
		return
	}
	s.Time[to], s.Stack[to], s.Thread[to] = s.Time[from], s.Stack[from], s.Thread[from]
	if len(s.Queue) > 0 {
		s.Queue[to] = s.Queue[from]
	}
}

func (s *Samples) truncate(n int) {
	s.Time, s.Stack, s.Thread = s.Time[:n], s.Stack[:n], s.Thread[:n]
	if len(s.Queue) > 0 {
		s.Queue = s.Queue[:n]
	}
}

// Stacks are lists of frame indices, leaf first, laid end to end.
type Stacks struct {
	frames   []int32
	ends     []int32
	dangling int // stacks with a frame that is not there; no sample refers to them
}

// Len is the number of stacks.
func (s *Stacks) Len() int { return len(s.ends) }

// Append adds a stack, given leaf first, and returns its index.
func (s *Stacks) Append(frames ...int32) int32 {
	s.frames = append(s.frames, frames...)
	s.ends = append(s.ends, int32(len(s.frames)))
	return int32(len(s.ends) - 1)
}

// Entries is the number of frames in all stacks together.
func (s *Stacks) Entries() int { return len(s.frames) }

// Reset takes all stacks out and keeps the memory.
func (s *Stacks) Reset() { *s = Stacks{frames: s.frames[:0], ends: s.ends[:0]} }

// At returns the frame indices of stack i, leaf first. Empty means idle.
func (s *Stacks) At(i int32) []int32 {
	start := int32(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.frames[start:s.ends[i]]
}

// Thread is a thread that samples name, with its entry of thread_metadata if there is one.
type Thread struct {
	ID       string // decimal text as a rule; any text is legal in V2
	Name     string
	Priority *int64
}

// Queue is a cocoa dispatch queue that samples name, with its entry of queue_metadata if there is one.
type Queue struct {
	Address string // hex text
	Label   string
}

func (s *Sampled) drop(reason discard.Reason, samples int) {
	s.Lost = discard.AddLoss(s.Lost, reason, samples)
}

func (s *Sampled) addFlaw(field string) {
	for i := range s.Flaws {
		if s.Flaws[i].Field == field {
			s.Flaws[i].Count++
			return
		}
	}
	s.Flaws = append(s.Flaws, discard.Flaw{Field: field, Count: 1})
}
