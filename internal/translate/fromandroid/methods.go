// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Reasons for unusable parts of a method trace.
const (
	// ReasonUnmatchedExit: an exit from a method that the thread did not enter.
	ReasonUnmatchedExit discard.Reason = "method_exit_unmatched"
	// ReasonTooDeep: a call below the maximum depth of stacks. Its time counts for its callers.
	ReasonTooDeep discard.Reason = "stack_too_deep"
)

// MethodTrace decodes a method trace of ART and observes its threads once per period. The number of
// observations is at most the number of bytes in the trace plus spare. The error is a
// *discard.Error.
func MethodTrace(data []byte, period time.Duration, spare int) (*Trace, error) {
	trace, err := arttrace.Parse(data)
	if err != nil {
		return nil, discardOf(err)
	}
	observed, err := trace.Observe(period, spare)
	if err != nil {
		return nil, discardOf(err)
	}
	t := &Trace{
		OnCPU: trace.Clock == arttrace.ClockThreadCPU, Spent: observed.Spent,
		period: observed.Period, truncated: trace.Overflow, source: methods{observed},
	}
	if trace.SinceBoot > unlikelyUptime {
		t.Start = uint64(trace.SinceBoot)
	}
	t.Elements = addLoss(t.Elements, ReasonUnmatchedExit, observed.Unmatched)
	t.Elements = addLoss(t.Elements, ReasonTooDeep, observed.TooDeep)
	for _, known := range observed.Threads {
		t.threads = append(t.threads, thread{known.ID, known.Name})
	}
	t.setExtent(observed)
	return t, nil
}

// unlikelyUptime is the limit above which a time in the header is Unix time, as in old versions,
// rather than the time since boot.
const unlikelyUptime = 40 * 365 * 24 * time.Hour

// setExtent sets the times of the first and the last observation.
func (t *Trace) setExtent(o *arttrace.Observations) {
	first, end := o.Runs[0].First, uint32(0)
	for _, run := range o.Runs {
		first, end = min(first, run.First), max(end, run.First+run.Count)
	}
	t.First, t.Duration = time.Duration(first)*o.Period, time.Duration(end-first)*o.Period
}

// methods is a method trace as a source of samples.
type methods struct{ *arttrace.Observations }

// fill creates one sample for each combination of thread and stack.
func (m methods) fill(samples pprofile.SampleSlice, b *dictionary.Builder, threads *threadAttributes, start uint64) {
	identities, sampleOf := m.group(b)
	samples.EnsureCapacity(len(identities))
	for _, identity := range identities {
		sample := samples.AppendEmpty()
		sample.SetStackIndex(int32(identity.stack))
		dictionary.SetAttributes(sample.AttributeIndices(), threads.of(identity.thread)...)
		sample.TimestampsUnixNano().EnsureCapacity(identity.count)
	}
	var at []uint64
	for i, run := range m.Runs {
		times := samples.At(int(sampleOf[i])).TimestampsUnixNano()
		at = at[:0]
		for point := run.First; point < run.First+run.Count; point++ {
			at = append(at, start+uint64(point)*uint64(m.Period))
		}
		times.Append(at...)
	}
}

// inStack is a thread and a stack, with the number of their observations.
type inStack struct {
	thread int32
	stack  dictionary.StackIndex
	count  int
}

// group returns the samples in the order of their first runs, and the index of the sample of each
// run. Different stacks of equal methods become one stack.
func (m methods) group(b *dictionary.Builder) (samples []inStack, sampleOf []int32) {
	stacks := m.stacks(b)
	known := map[uint64]int32{} // key: thread and stack
	sampleOf = make([]int32, len(m.Runs))
	for i, run := range m.Runs {
		stack := stacks(run.Stack)
		key := uint64(run.Thread)<<32 | uint64(stack)
		sample, again := known[key]
		if !again {
			sample = int32(len(samples))
			known[key] = sample
			samples = append(samples, inStack{thread: run.Thread, stack: stack})
		}
		sampleOf[i] = sample
		samples[sample].count += int(run.Count)
	}
	return samples, sampleOf
}

// stacks returns a function that translates a stack.
func (m methods) stacks(b *dictionary.Builder) func(stack int32) dictionary.StackIndex {
	frames := frameBuilder{b: b}
	locations := make([]dictionary.LocationIndex, m.Methods())
	known := make([]dictionary.StackIndex, m.Stacks.Len())
	var leafFirst []dictionary.LocationIndex
	return func(stack int32) dictionary.StackIndex {
		if known[stack] != 0 || stack == 0 {
			return known[stack]
		}
		leafFirst = leafFirst[:0]
		for _, method := range slices.Backward(m.Stacks.At(stack)) {
			if locations[method] == 0 {
				locations[method] = frames.method(m.Method(method))
			}
			leafFirst = append(leafFirst, locations[method])
		}
		known[stack] = b.Stack(leafFirst)
		return known[stack]
	}
}
