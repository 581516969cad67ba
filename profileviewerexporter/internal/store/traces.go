// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
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
	fragments := fragmentsOf(m)
	for _, resource := range traces.ResourceSpans().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				fragments.of(span.TraceID(), service).addSpan(span)
			}
		}
	}
}

func (f *Fragment) addSpan(span ptrace.Span) {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	if f.Spans == 0 || start < f.start {
		f.start, f.first = start, displayText(spanname.Of(span))
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
		f.root = displayText(spanname.Of(span))
	}
}
