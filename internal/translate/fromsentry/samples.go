// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"slices"
	"strconv"
	"sync"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// translateSamples turns observations into OTLP samples: one Sample per identity (stack, attributes), its observations as
// timestamps in ascending order, no values. `start` is added to every time.
func translateSamples(profile pprofile.Profile, s *profile.Sampled, start uint64, frames *frameTranslator) {
	g := groupings.Get().(*grouping)
	defer g.release()
	g.group(s, frames.stacks(s))
	g.layOut(s.Samples.Time, start)

	attributes := make([][]dictionary.AttributeIndex, len(g.contexts))
	samples := profile.Samples()
	samples.EnsureCapacity(len(g.groups))
	for _, group := range g.groups {
		if attributes[group.context] == nil {
			attributes[group.context] = contextAttributes(frames.b, s, g.contexts[group.context].context)
		}
		sample := samples.AppendEmpty()
		sample.SetStackIndex(int32(group.stack))
		dictionary.SetAttributes(sample.AttributeIndices(), attributes[group.context]...)
		sample.TimestampsUnixNano().FromRaw(g.sortedTimes(group))
	}
}

// contextAttributes are what an observation says beside its stack.
func contextAttributes(b *dictionary.Builder, s *profile.Sampled, c context) []dictionary.AttributeIndex {
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

// grouping sorts observations by identity, in linear time. It is scratch: nothing of it is handed downstream.
type grouping struct {
	groups   []group
	contexts []contextState

	groupOf   []int32          // observation → group
	byKey     map[uint64]int32 // stack and context → group
	byContext map[context]int32
	times     []uint64 // observations by group
}

// group is one identity: a Sample to be.
type group struct {
	stack   dictionary.StackIndex
	context int32 // index into grouping.contexts

	count, end int32 // its observations are grouping.times[end-count:end]
}

// context is a thread, and on cocoa a dispatch queue.
type context struct{ thread, queue int32 }

type contextState struct {
	context
	recent int32 // the group of its last observation, plus one
}

var groupings = sync.Pool{New: func() any {
	return &grouping{byKey: map[uint64]int32{}, byContext: map[context]int32{}}
}}

// maxPooledObservations bounds the scratch that is kept: 20 bytes each, some megabytes for ten times a chunk of 60 s.
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

	contextOf := g.contextsOf(s)
	for i, stack := range s.Samples.Stack {
		context := contextOf(i)
		index := g.find(stacks[stack], context)
		g.groups[index].count++
		g.groupOf = append(g.groupOf, index)
	}
}

// find gives the group of an identity. The thread is often still where it was, which spares the map.
func (g *grouping) find(stack dictionary.StackIndex, context int32) int32 {
	recent := &g.contexts[context].recent
	if *recent != 0 && g.groups[*recent-1].stack == stack {
		return *recent - 1
	}
	key := uint64(stack)<<32 | uint64(context)
	index, known := g.byKey[key]
	if !known {
		index = int32(len(g.groups))
		g.groups = append(g.groups, group{stack: stack, context: context})
		g.byKey[key] = index
	}
	*recent = index + 1
	return index
}

// contextsOf numbers the contexts: by thread where no sample names a queue, the rule.
func (g *grouping) contextsOf(s *profile.Sampled) func(observation int) int32 {
	clear(g.byContext)
	g.contexts = g.contexts[:0]
	if len(s.Samples.Queue) == 0 {
		for thread := range s.Threads {
			g.contexts = append(g.contexts, contextState{context: context{thread: int32(thread)}})
		}
		return func(i int) int32 { return s.Samples.Thread[i] }
	}
	return func(i int) int32 {
		c := context{s.Samples.Thread[i], s.Samples.Queue[i]}
		index, known := g.byContext[c]
		if !known {
			index = int32(len(g.contexts))
			g.contexts = append(g.contexts, contextState{context: c})
			g.byContext[c] = index
		}
		return index
	}
}

// layOut puts the times of each group side by side.
func (g *grouping) layOut(elapsed []uint64, start uint64) {
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

// sortedTimes gives the times of a group, ascending. Java sends them out of order; equal ones are observations of their own.
func (g *grouping) sortedTimes(of group) []uint64 {
	times := g.times[of.end-of.count : of.end]
	if !slices.IsSorted(times) {
		slices.Sort(times)
	}
	return times
}

func addressText(address uint64) string { return "0x" + strconv.FormatUint(address, 16) }
