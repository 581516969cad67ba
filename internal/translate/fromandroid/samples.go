// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Reasons for unusable samples of a Perfetto trace, in addition to Sentry's.
const (
	ReasonPacket       discard.Reason = "perfetto_packet_malformed"
	ReasonUnknownFrame discard.Reason = "perfetto_frame_unknown"
	// ReasonNoStack: the profiler did not capture a call stack in time.
	ReasonNoStack discard.Reason = "sample_without_stack"
	// ReasonNoClock: no clock snapshot contains the clock of the sample.
	ReasonNoClock discard.Reason = "sample_clock_unknown"
)

// defaultPeriod is the period of a Perfetto trace that contains none: by default, Android's
// ProfilingManager takes 101 samples per second.
const defaultPeriod = time.Second / 101

// PerfettoTrace decodes the call stack samples of a Perfetto trace. The error is a *discard.Error.
func PerfettoTrace(data []byte) (*Trace, error) {
	trace, err := perfetto.Parse(data)
	if err != nil {
		return nil, discardOf(err)
	}
	t := &Trace{Start: trace.Samples[0].Time, period: trace.Period, source: callStacks{trace}}
	if t.period == 0 {
		t.period = defaultPeriod
	}
	last := trace.Samples[len(trace.Samples)-1].Time
	t.Duration = time.Duration(last-t.Start) + t.period
	for _, known := range trace.Threads {
		t.threads = append(t.threads, thread{known.TID, trace.Strings[known.Name]})
	}
	t.Elements = addLoss(t.Elements, ReasonPacket, trace.Lost.Packets)
	t.Elements = addLoss(t.Elements, ReasonUnknownFrame, trace.Lost.Frames)
	t.Samples = addLoss(t.Samples, discard.ReasonMalformedStacks, trace.Lost.Stacks)
	t.Samples = addLoss(t.Samples, ReasonNoStack, trace.Lost.Skipped)
	t.Samples = addLoss(t.Samples, ReasonNoClock, trace.Lost.Clocks)
	return t, nil
}

// callStacks is a Perfetto trace as a source of samples.
type callStacks struct{ *perfetto.Trace }

// identity is the data that all observations of one OTLP sample share.
type identity struct {
	thread int32
	stack  dictionary.StackIndex
	mode   string // CPU mode, if OpenTelemetry has a value for it
	unwind perfetto.UnwindError
}

// fill creates one sample for each identity. start is the time of the first observation.
func (c callStacks) fill(samples pprofile.SampleSlice, b *dictionary.Builder, threads *threadAttributes, start uint64) {
	shift := start - c.Samples[0].Time
	stacks, stackOf := c.stacks(b), make([]dictionary.StackIndex, c.Stacks.Len())
	sampleOf := map[identity]int{}
	for i := range c.Samples {
		s := &c.Samples[i]
		if stackOf[s.Stack] == 0 {
			stackOf[s.Stack] = stacks(s.Stack)
		}
		key := identity{s.Thread, stackOf[s.Stack], cpuModes[s.Mode], max(s.Unwind, perfetto.UnwindComplete)}
		index, known := sampleOf[key]
		if !known {
			index = samples.Len()
			sampleOf[key] = index
			sample := samples.AppendEmpty()
			sample.SetStackIndex(int32(key.stack))
			dictionary.SetAttributes(sample.AttributeIndices(), key.attributes(b, threads)...)
		}
		samples.At(index).TimestampsUnixNano().Append(s.Time + shift)
	}
}

func (i identity) attributes(b *dictionary.Builder, threads *threadAttributes) []dictionary.AttributeIndex {
	attributes := threads.of(i.thread)
	attributes = attributes[:len(attributes):len(attributes)]
	if i.mode != "" {
		attributes = append(attributes, b.AttrString(semconv.CPUMode, i.mode))
	}
	if i.unwind > perfetto.UnwindComplete {
		attributes = append(attributes, b.AttrInt(semconv.AndroidUnwindError, int64(i.unwind)))
	}
	return attributes
}

// cpuModes maps CPU modes to OpenTelemetry's values.
var cpuModes = map[perfetto.CPUMode]string{perfetto.ModeKernel: "kernel", perfetto.ModeUser: "user"}

// stacks returns a function that translates a call stack.
func (c callStacks) stacks(b *dictionary.Builder) func(stack int32) dictionary.StackIndex {
	frames := frameBuilder{b: b}
	locations := make([]dictionary.LocationIndex, len(c.Frames))
	mappings := make([]dictionary.MappingIndex, len(c.Mappings))
	location := func(index int32) dictionary.LocationIndex {
		if locations[index] == 0 {
			frame := c.Frames[index]
			mapping := dictionary.MappingIndex(0)
			if address, ok := c.Address(frame); ok && c.Mappings[frame.Mapping].Contains(address) {
				if mappings[frame.Mapping] == 0 {
					mappings[frame.Mapping] = frames.mapping(c.Trace, &c.Mappings[frame.Mapping])
				}
				mapping = mappings[frame.Mapping]
			}
			locations[index] = frames.sampled(c.Trace, frame, mapping)
		}
		return locations[index]
	}
	var stack []dictionary.LocationIndex
	return func(index int32) dictionary.StackIndex {
		stack = stack[:0]
		for _, frame := range c.Stacks.At(index) {
			stack = append(stack, location(frame))
		}
		return b.Stack(stack)
	}
}
