// SPDX-License-Identifier: Apache-2.0

// Package timelinetest builds short OTLP profiles for tests.
package timelinetest

import (
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Start is the start time of the profiles. Times of samples are relative to it.
const Start = 1_700_000_000_000_000_000

// Interval is the period of the profiles.
const Interval = 10 * time.Millisecond

// Sample is a stack on a thread, at some times.
type Sample struct {
	Thread int64  // 0: samples state no thread
	Stack  string // "main;handler;query", root first; functions with the prefix "lib" are not in the application
	Span   byte   // of the IDs of the span and its trace; 0: no span
	At     []time.Duration
	Values []int64
}

// Shape is the meaning of samples.
type Shape struct{ Type, Unit, PeriodType, PeriodUnit string }

// Wall is the shape of profiles of our receiver.
var Wall = Shape{"samples", "count", "wall", "nanoseconds"}

// Message returns a message with one profile. It is valid if the samples are.
func Message(service string, shape Shape, samples ...Sample) pprofile.Profiles {
	message := pprofile.NewProfiles()
	b := dictionary.NewBuilder(message.Dictionary())
	resource := message.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", service)
	p := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	p.SetTime(Start)
	p.SetProfileID(pprofile.ProfileID{1, 2, 3})
	dictionary.SetValueType(p.SampleType(), b.String(shape.Type), b.String(shape.Unit))
	if shape.PeriodType != "" {
		dictionary.SetValueType(p.PeriodType(), b.String(shape.PeriodType), b.String(shape.PeriodUnit))
		p.SetPeriod(int64(Interval))
	}
	last := time.Duration(0)
	for _, s := range samples {
		out := p.Samples().AppendEmpty()
		out.SetStackIndex(int32(stack(b, s.Stack)))
		if s.Span != 0 {
			out.SetLinkIndex(int32(b.Link(Trace(s.Span), Span(s.Span))))
		}
		if s.Thread != 0 {
			dictionary.SetAttributes(out.AttributeIndices(), b.AttrInt("thread.id", s.Thread), b.AttrString("thread.name", threadName(s.Thread)))
		}
		for _, at := range s.At {
			out.TimestampsUnixNano().Append(Start + uint64(at))
			last = max(last, at)
		}
		out.Values().Append(s.Values...)
	}
	p.SetDurationNano(uint64(last + Interval))
	b.Finish()
	return message
}

// Trace returns the trace ID of the span with a number.
func Trace(n byte) pcommon.TraceID { return pcommon.TraceID{15: n} }

// Span returns the ID of the span with a number.
func Span(n byte) pcommon.SpanID { return pcommon.SpanID{7: n} }

func threadName(id int64) string {
	if id == 1 {
		return "main"
	}
	return "worker"
}

// stack adds a stack. Line numbers are 10 times the depth.
func stack(b *dictionary.Builder, folded string) dictionary.StackIndex {
	if folded == "" {
		return 0
	}
	names := strings.Split(folded, ";")
	locations := make([]dictionary.LocationIndex, len(names))
	for depth, name := range names {
		function := b.Function(dictionary.Function{Name: b.String(name), Filename: b.String("/app/" + name + ".py")})
		locations[len(names)-1-depth] = b.Location(dictionary.Location{
			Lines:      []dictionary.Line{{Function: function, Line: int64(10 * (depth + 1)), Column: 3}},
			Attributes: []dictionary.AttributeIndex{b.AttrBool("sentry.frame.in_app", !strings.HasPrefix(name, "lib"))},
		})
	}
	return b.Stack(locations)
}

// Profile returns the first profile of a message.
func Profile(message pprofile.Profiles) pprofile.Profile {
	return message.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
}

// Read reads a profile of a message with this dictionary.
func Read(d pprofile.ProfilesDictionary, p pprofile.Profile) *timeline.Profile {
	return timeline.NewReader(d).Read(p)
}
