// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Sampled is the object "profile" of both formats: samples refer to stacks, and stacks to frames.
// After decoding, every index is in range.
//
// Samples are stored in columns rather than in a struct per sample: a chunk has tens of thousands
// of samples and a few hundred stacks. Columns and strings are scratch of the Decoder, valid until
// its next use.
type Sampled struct {
	Samples Samples
	Stacks  Stacks
	Frames  []Frame  // with distinct JSON text: Node repeats each frame in every stack that contains it
	Threads []Thread // those that samples refer to, in order of first appearance
	Queues  []Queue  // the same; Queues[0] means "no queue"

	Lost  []discard.Loss // dropped samples
	Flaws []discard.Flaw // fields that did not have their published type
}

// NominalPeriod is the target interval of Sentry's profilers, 1/101 s in nanoseconds. The real
// interval is not in the payload and varies from 1 to 90 ms, so derive weights from the gaps
// between timestamps, not from the period.
const NominalPeriod = 9_900_990

// Samples are the observations in the order of the payload.
type Samples struct {
	Time   []uint64 // V1: nanoseconds since Profile.Timestamp; V2: Unix nanoseconds
	Stack  []int32  // index into Stacks
	Thread []int32  // index into Threads
	Queue  []int32  // index into Queues; empty if no sample names a queue
}

// Len returns the number of samples.
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

// Stacks are lists of frame indices, leaf first, stored one after another.
type Stacks struct {
	frames   []int32
	ends     []int32
	dangling int // number of stacks with a missing frame; no sample refers to them
}

// Len returns the number of stacks.
func (s *Stacks) Len() int { return len(s.ends) }

// Append adds a stack, given leaf first, and returns its index.
func (s *Stacks) Append(frames ...int32) int32 {
	s.frames = append(s.frames, frames...)
	s.ends = append(s.ends, int32(len(s.frames)))
	return int32(len(s.ends) - 1)
}

// Reserve removes all stacks and reserves memory for others, which have a number of frames
// together.
func (s *Stacks) Reserve(stacks, entries int) {
	*s = Stacks{frames: slices.Grow(s.frames[:0], entries), ends: slices.Grow(s.ends[:0], stacks)}
}

// MemoryBytes returns the memory that is reserved.
func (s *Stacks) MemoryBytes() int { return 4 * (cap(s.frames) + cap(s.ends)) }

// Entries returns the number of frames in all stacks together.
func (s *Stacks) Entries() int { return len(s.frames) }

// Reset removes all stacks and keeps the memory.
func (s *Stacks) Reset() { *s = Stacks{frames: s.frames[:0], ends: s.ends[:0]} }

// At returns the frame indices of stack i, leaf first. Empty means idle.
func (s *Stacks) At(i int32) []int32 {
	start := int32(0)
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.frames[start:s.ends[i]]
}

// Thread is a thread that samples refer to, with its entry of thread_metadata, if any.
type Thread struct {
	ID       string // usually decimal text; V2 allows any text
	Name     string
	Priority *int64
}

// HasValidPriority reports whether ingest accepts the priority: it rejects a chunk with a number
// outside 32 bits without a sign (relay-profiling/src/sample/v2.rs).
func (t *Thread) HasValidPriority() bool {
	return t.Priority == nil || *t.Priority >= 0 && *t.Priority <= math.MaxUint32
}

// Queue is a Cocoa dispatch queue that samples refer to, with its entry of queue_metadata, if any.
type Queue struct {
	Address string // hex text
	Label   string
}

func (s *Sampled) drop(reason discard.Reason, samples int) {
	s.Lost = discard.AddLoss(s.Lost, reason, samples)
}

func (s *Sampled) addFlaw(field string) {
	s.Flaws = discard.AddFlaw(s.Flaws, field, 1)
}
