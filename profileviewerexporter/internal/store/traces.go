// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/spanname"
)

// AddTraces stores a message of spans. It reports whether the message was small enough.
func (s *Store) AddTraces(ctx context.Context, traces ptrace.Traces, now time.Time) (stored bool, err error) {
	m := &Message{Signal: Traces, Arrived: now, Tenant: tenant.FromContext(ctx)}
	m.summarizeTraces(traces)
	if m.empty() {
		return true, nil
	}
	if m.otlp, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(traces); err != nil {
		return false, fmt.Errorf("cannot encode spans: %w", err)
	}
	return s.add(m), nil
}

func (m *Message) summarizeTraces(traces ptrace.Traces) {
	fragments, texts := fragmentsOf(m), textCache{}
	m.spans = make([]operations.Span, 0, traces.SpanCount())
	for _, resource := range traces.ResourceSpans().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				name := texts.display(spanname.Of(span))
				fragments.of(span.TraceID(), service).addSpan(span, name)
				m.spans = append(m.spans, operations.Span{
					Key: operations.Key{Trace: span.TraceID(), Span: span.SpanID()}, Parent: span.ParentSpanID(), Service: service, Name: name,
					Kind: span.Kind(), Calls: operations.CalleeOf(span), Start: uint64(span.StartTimestamp()), End: uint64(span.EndTimestamp()),
					Error: span.Status().Code() == ptrace.StatusCodeError,
				})
			}
		}
	}
	m.parents = operations.Absent(m.spans)
	m.cover()
}

// cover sums the times of the fragments by service.
func (m *Message) cover() {
	index := map[string]int{}
	for _, f := range m.Fragments {
		i, known := index[f.Service]
		if !known {
			i = len(m.coverage)
			index[f.Service] = i
			m.coverage = append(m.coverage, coverage{f.Service, f.start, f.end})
		}
		c := &m.coverage[i]
		c.start, c.end = min(c.start, f.start), max(c.end, f.end)
	}
}

func (f *Fragment) addSpan(span ptrace.Span, name string) {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	if f.Spans == 0 || start < f.start {
		f.start, f.first = start, name
	}
	f.end = max(f.end, end, start)
	f.Spans++
	if span.Status().Code() == ptrace.StatusCodeError {
		f.errors++
	}
	for _, event := range span.Events().All() {
		if IsException(event.Attributes()) {
			f.Exceptions++
		}
	}
	if span.ParentSpanID().IsEmpty() && f.root == "" {
		f.root = name
	}
}
