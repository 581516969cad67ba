// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	profilespb "go.opentelemetry.io/proto/otlp/profiles/v1development"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

const testTrace = "8a5c1bfa0e1a4f3ab5f1d2c3b4a59687"

// profiles returns an attack by a valid profile after a change.
func profiles(name string, memory int, change func(*dict, *profile)) otlpAttack {
	return otlpAttack{name: name, memory: memory, message: func() []byte { return hostileProfile(change) }}
}

// answered returns the attack with an expected status other than 200.
func (a otlpAttack) answered(status int) otlpAttack {
	a.status = status
	return a
}

// indices returns an attack by a profile in which all indices are equal.
func indices(name string, index int32) otlpAttack {
	return profiles(name, memorySmall, func(d *dict, p *profile) {
		d.AttributeTable[1].KeyStrindex, d.AttributeTable[1].UnitStrindex = index, index
		d.FunctionTable[1] = &profilespb.Function{NameStrindex: index, SystemNameStrindex: index, FilenameStrindex: index}
		d.LocationTable[1] = &profilespb.Location{MappingIndex: index, AttributeIndices: []int32{index},
			Lines: []*profilespb.Line{{FunctionIndex: index}, {FunctionIndex: 1}}}
		d.MappingTable = append(d.MappingTable, &profilespb.Mapping{FilenameStrindex: index, AttributeIndices: []int32{index}})
		d.StackTable[1].LocationIndices = []int32{index, 1}
		p.SampleType, p.PeriodType = &profilespb.ValueType{TypeStrindex: index}, &profilespb.ValueType{UnitStrindex: index}
		p.AttributeIndices = []int32{index}
		broken := sampleAt(p, index)
		broken.LinkIndex, broken.AttributeIndices = index, []int32{index}
		p.Samples = append(p.Samples, broken)
	})
}

// hostileProfile returns a message with one profile of one sample, after a change.
func hostileProfile(change func(*dict, *profile)) []byte {
	now := uint64(time.Now().UnixNano())
	id, _ := hex.DecodeString(harness.NewID())
	d, p := validDictionary(), &profile{
		SampleType: &profilespb.ValueType{TypeStrindex: 1, UnitStrindex: 2},
		PeriodType: &profilespb.ValueType{TypeStrindex: 3, UnitStrindex: 4},
		Period:     10_000_000, TimeUnixNano: now, DurationNano: 1_000_000_000, ProfileId: id,
	}
	p.Samples = []*profilespb.Sample{sampleAt(p, 1)}
	change(d, p)
	return exportOf(d, []*profile{p})
}

func validDictionary() *dict {
	return &dict{
		StringTable:    []string{"", "samples", "count", "wall", "nanoseconds", "main", "thread.id"},
		AttributeTable: []*profilespb.KeyValueAndUnit{{}, {KeyStrindex: 6, Value: textValue("1")}},
		FunctionTable:  []*profilespb.Function{{}, {NameStrindex: 5}},
		LocationTable:  []*profilespb.Location{{}, {Lines: []*profilespb.Line{{FunctionIndex: 1, Line: 10}}}},
		StackTable:     []*profilespb.Stack{{}, {LocationIndices: []int32{1}}},
		MappingTable:   []*profilespb.Mapping{{}},
		LinkTable:      []*profilespb.Link{{}},
	}
}

// sampleAt returns a sample of the stack at two times, the minimum that Sentry accepts for a
// thread.
func sampleAt(p *profile, stack int32) *profilespb.Sample {
	return &profilespb.Sample{StackIndex: stack, AttributeIndices: []int32{1}, TimestampsUnixNano: []uint64{p.TimeUnixNano, p.TimeUnixNano + 10_000_000}}
}

func exportOf(d *dict, all []*profile) []byte {
	return marshalled(&profilespb.ProfilesData{Dictionary: d, ResourceProfiles: []*profilespb.ResourceProfiles{{
		Resource: service(), ScopeProfiles: []*profilespb.ScopeProfiles{{Profiles: all}},
	}}})
}

func service() *resourcepb.Resource {
	return &resourcepb.Resource{Attributes: []*commonpb.KeyValue{{Key: "service.name", Value: textValue("shop")}}}
}

// spanAttacks are attacks by traces.
var spanAttacks = []otlpAttack{
	spans("a span that is its own parent", memorySmall, 1, func(_ int, s *tracepb.Span) { s.ParentSpanId = s.SpanId }),
	spans("a cycle of 1,000 parent spans", memorySmall, 1000, func(i int, s *tracepb.Span) { s.ParentSpanId = spanID((i + 1) % 1000) }),
	spans("a chain of 50,000 parent spans", memoryLarge, 50_000, func(i int, s *tracepb.Span) {
		if i > 0 {
			s.ParentSpanId = spanID(i - 1)
		}
	}),
	spans("20,000 segments", memoryLarge, 20_000, func(int, *tracepb.Span) {}),
	spans("20,000 spans with the same ID", memoryLarge, 20_000, func(_ int, s *tracepb.Span) { s.SpanId = spanID(7) }),
	spans("a span with extreme times that ends before it starts", memorySmall, 1, func(_ int, s *tracepb.Span) {
		s.StartTimeUnixNano, s.EndTimeUnixNano = 1<<64-1, 0
	}),
	spans("a span attribute nested 10,000 levels deep", memoryLarge, 1, func(_ int, s *tracepb.Span) {
		s.Attributes = []*commonpb.KeyValue{{Key: "deep", Value: deepValue(10_000)}}
	}).answered(http.StatusBadRequest), // since pdata v1.71.0
	spans("a span with 100,000 attributes", memoryLarge, 1, func(_ int, s *tracepb.Span) {
		for i := range 100_000 {
			s.Attributes = append(s.Attributes, &commonpb.KeyValue{Key: fmt.Sprint(i), Value: textValue("x")})
		}
	}),
	spans("a span with a million events", memoryLarge, 1, func(_ int, s *tracepb.Span) {
		s.Events = repeated(million, &tracepb.Span_Event{Name: "e"})
	}),
	spans("a span with 400,000 links", memoryLarge, 1, func(_ int, s *tracepb.Span) {
		s.Links = repeated(400_000, &tracepb.Span_Link{TraceId: s.TraceId, SpanId: spanID(2)})
	}), // does not fit into an envelope: counted by sentry_envelope
	spans("a span name of 18 MiB", memoryLarge, 1, func(_ int, s *tracepb.Span) { s.Name = strings.Repeat("s", 18<<20) }),
	spans("a trace ID of three bytes", memorySmall, 1, func(_ int, s *tracepb.Span) { s.TraceId, s.SpanId = []byte{1, 2, 3}, []byte{1} }).answered(http.StatusBadRequest),
}

// spans returns an attack by count spans of one trace, each after a change.
func spans(name string, memory, count int, change func(int, *tracepb.Span)) otlpAttack {
	return otlpAttack{name: name, path: harness.TracesPath, memory: memory, message: func() []byte {
		now, trace := uint64(time.Now().UnixNano()), traceID()
		all := make([]*tracepb.Span, count)
		for i := range all {
			all[i] = &tracepb.Span{TraceId: trace, SpanId: spanID(i), Name: "span", StartTimeUnixNano: now, EndTimeUnixNano: now + 1_000_000}
			change(i, all[i])
		}
		return marshalled(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
			Resource: service(), ScopeSpans: []*tracepb.ScopeSpans{{Spans: all}},
		}}})
	}}
}

func spanID(i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i+1)) }

func traceID() []byte {
	id, _ := hex.DecodeString(testTrace)
	return id
}

func link(i int) *profilespb.Link { return &profilespb.Link{TraceId: traceID(), SpanId: spanID(i)} }

func textValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

// deepValue returns nested lists.
func deepValue(depth int) *commonpb.AnyValue {
	value := textValue("the ground")
	for range depth {
		value = &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: &commonpb.ArrayValue{Values: []*commonpb.AnyValue{value}}}}
	}
	return value
}

func repeated[T any](n int, element T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = element
	}
	return all
}

func marshalled(message proto.Message) []byte {
	b, err := proto.Marshal(message)
	if err != nil {
		panic(err)
	}
	return b
}
