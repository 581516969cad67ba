// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// translateSamples translates observations to OTLP samples: one Sample per identity (stack and
// attributes), with ascending timestamps and without values. start is added to every time.
func translateSamples(profile pprofile.Profile, s *profile.Sampled, start uint64, frames *frameTranslator) {
	g := groupings.Get().(*grouping)
	defer g.release()
	g.group(s, frames.stacks(s))
	g.groupTimes(s.Samples.Time, start)

	attributes := make([][]dictionary.AttributeIndex, len(g.origins))
	frames.b.Grow(dictionary.Hints{Attributes: len(s.Threads)})
	samples := profile.Samples()
	samples.EnsureCapacity(len(g.groups))
	for _, group := range g.groups {
		if attributes[group.origin] == nil {
			attributes[group.origin] = originAttributes(frames.b, s, g.origins[group.origin].threadQueue)
		}
		sample := samples.AppendEmpty()
		sample.SetStackIndex(int32(group.stack))
		dictionary.SetAttributes(sample.AttributeIndices(), attributes[group.origin]...)
		sample.TimestampsUnixNano().FromRaw(g.sortedTimes(group))
	}
}

// originAttributes returns the attributes for the thread and the queue of an observation.
func originAttributes(b *dictionary.Builder, s *profile.Sampled, c threadQueue) []dictionary.AttributeIndex {
	thread, queue := s.Threads[c.thread], s.Queues[c.queue]
	list := attributeList{b: b}
	list.add(semconv.ThreadID, decimalValue(thread.ID), "")
	list.text(semconv.ThreadName, thread.Name)
	if thread.Priority != nil {
		list.add(semconv.SentryThreadPriority, dictionary.IntValue(*thread.Priority), "")
	}
	list.text(semconv.SentryQueueAddress, queue.Address)
	list.text(semconv.SentryQueueLabel, queue.Label)
	return list.indices
}

// grouping groups observations by identity, in linear time. It is scratch memory.
type grouping struct {
	groups  []group
	origins []originState

	groupOf  []int32          // observation → group
	byKey    map[uint64]int32 // stack and origin → group, without the first group of each origin
	byOrigin map[threadQueue]int32
	times    []uint64 // observations by group
}

// group is one identity, which becomes a Sample.
type group struct {
	stack  dictionary.StackIndex
	origin int32 // index into grouping.origins

	count, end int32 // its observations are grouping.times[end-count:end]
}

// threadQueue is a thread and, for Cocoa, its dispatch queue.
type threadQueue struct{ thread, queue int32 }

type originState struct {
	threadQueue
	first, recent int32 // the groups of its first and last observations, plus one
}

var groupings = sync.Pool{New: func() any {
	return &grouping{byKey: map[uint64]int32{}, byOrigin: map[threadQueue]int32{}}
}}

// maxPooledObservations bounds the scratch memory to a few megabytes (20 bytes per observation),
// enough for ten chunks of 60 s.
const maxPooledObservations = 1 << 18

func (g *grouping) release() {
	if cap(g.groupOf) <= maxPooledObservations {
		groupings.Put(g)
	}
}

func (g *grouping) group(s *profile.Sampled, stacks []dictionary.StackIndex) {
	clear(g.byKey)
	g.groups = g.groups[:0]
	g.groupOf = slices.Grow(g.groupOf[:0], s.Samples.Len())

	originOf := g.originsOf(s)
	for i, stack := range s.Samples.Stack {
		origin := originOf(i)
		index := g.find(stacks[stack], origin)
		g.groups[index].count++
		g.groupOf = append(g.groupOf, index)
	}
}

// find returns the group of an identity. Threads often stay in the same stack, which saves the map
// lookup.
func (g *grouping) find(stack dictionary.StackIndex, origin int32) int32 {
	state := &g.origins[origin]
	for _, known := range [...]int32{state.recent, state.first} {
		if known != 0 && g.groups[known-1].stack == stack {
			state.recent = known
			return known - 1
		}
	}
	key := uint64(stack)<<32 | uint64(origin)
	index, known := g.byKey[key]
	if !known {
		index = int32(len(g.groups))
		g.groups = append(g.groups, group{stack: stack, origin: origin})
		if state.first == 0 {
			state.first = index + 1
		} else {
			g.byKey[key] = index
		}
	}
	state.recent = index + 1
	return index
}

// originsOf assigns numbers to origins. Origins are threads, unless a sample names a queue.
func (g *grouping) originsOf(s *profile.Sampled) func(observation int) int32 {
	clear(g.byOrigin)
	g.origins = g.origins[:0]
	if len(s.Samples.Queue) == 0 {
		for thread := range s.Threads {
			g.origins = append(g.origins, originState{threadQueue: threadQueue{thread: int32(thread)}})
		}
		return func(i int) int32 { return s.Samples.Thread[i] }
	}
	return func(i int) int32 {
		c := threadQueue{thread: s.Samples.Thread[i], queue: s.Samples.Queue[i]}
		index, known := g.byOrigin[c]
		if !known {
			index = int32(len(g.origins))
			g.origins = append(g.origins, originState{threadQueue: c})
			g.byOrigin[c] = index
		}
		return index
	}
}

// groupTimes stores the times of each group contiguously.
func (g *grouping) groupTimes(elapsed []uint64, start uint64) {
	begin := int32(0)
	for i := range g.groups {
		g.groups[i].end = begin
		begin += g.groups[i].count
	}
	g.times = slices.Grow(g.times[:0], len(elapsed))[:len(elapsed)]
	for i, t := range elapsed {
		group := &g.groups[g.groupOf[i]]
		g.times[group.end] = start + t
		group.end++
	}
}

// sortedTimes returns the times of a group in ascending order. Java sends them out of order. Equal
// times are separate observations.
func (g *grouping) sortedTimes(of group) []uint64 {
	times := g.times[of.end-of.count : of.end]
	if !slices.IsSorted(times) {
		slices.Sort(times)
	}
	return times
}
