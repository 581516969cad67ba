// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
)

// Parts of a method trace that are passed over.
const (
	// ReasonUnmatchedExit: an exit from a method that the thread had not entered.
	ReasonUnmatchedExit discard.Reason = "method_exit_unmatched"
	// ReasonTooDeep: a call deeper than stacks are observed. Its time counts for its callers.
	ReasonTooDeep discard.Reason = "stack_too_deep"
)

// MethodTrace decodes a method trace of ART and observes its threads once in a period. Spare is how many more observations there
// may be than the trace has bytes. The error is a *discard.Error.
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

// unlikelyUptime: the header counts from boot. A value of 40 years or more is Unix time, which old versions wrote.
const unlikelyUptime = 40 * 365 * 24 * time.Hour

// setExtent sets the time from the first observation to the last one.
func (t *Trace) setExtent(o *arttrace.Observations) {
	first, end := o.Runs[0].First, uint32(0)
	for _, run := range o.Runs {
		first, end = min(first, run.First), max(end, run.First+run.Count)
	}
	t.First, t.Duration = time.Duration(first)*o.Period, time.Duration(end-first)*o.Period
}

// methods is a method trace as a source of samples.
type methods struct{ *arttrace.Observations }

// fill makes one sample of the observations of a thread in a stack.
func (m methods) fill(samples pprofile.SampleSlice, b *dictionary.Builder, threads *threadAttributes, start uint64) {
	identities, sampleOf := m.group(b)
	samples.EnsureCapacity(len(identities))
	for _, identity := range identities {
		sample := samples.AppendEmpty()
		sample.SetStackIndex(int32(identity.stack))
		dictionary.SetAttributes(sample.AttributeIndices(), threads.of(identity.thread)...)
		sample.TimestampsUnixNano().EnsureCapacity(identity.count)
	}
	for i, run := range m.Runs {
		times := samples.At(int(sampleOf[i])).TimestampsUnixNano()
		for point := run.First; point < run.First+run.Count; point++ {
			times.Append(start + uint64(point)*uint64(m.Period))
		}
	}
}

// inStack is what the observations of one sample have in common, and how many there are.
type inStack struct {
	thread int32
	stack  dictionary.StackIndex
	count  int
}

// group returns the samples in the order of their first runs, and the sample of each run. Call paths of equal methods, which are
// different ones to the trace, are one stack.
func (m methods) group(b *dictionary.Builder) (samples []inStack, sampleOf []int32) {
	stacks := m.stacks(b)
	known := map[uint64]int32{} // by thread and stack
	sampleOf = make([]int32, len(m.Runs))
	for i, run := range m.Runs {
		stack := stacks(run.Node)
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

// stacks returns a function that translates a call path, which is a list from its last call to its first.
func (m methods) stacks(b *dictionary.Builder) func(node int32) dictionary.StackIndex {
	frames := frameBuilder{b: b}
	locations := make([]dictionary.LocationIndex, m.Methods())
	known := make([]dictionary.StackIndex, len(m.Nodes))
	var stack []dictionary.LocationIndex
	return func(node int32) dictionary.StackIndex {
		if known[node] != 0 || node == 0 {
			return known[node]
		}
		stack = stack[:0]
		for at := node; at != 0; at = m.Nodes[at].Parent {
			method := m.Nodes[at].Method
			if locations[method] == 0 {
				locations[method] = frames.method(m.Method(method))
			}
			stack = append(stack, locations[method])
		}
		known[node] = b.Stack(stack)
		return known[node]
	}
}
