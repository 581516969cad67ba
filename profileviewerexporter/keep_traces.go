// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"context"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// keepTraces keeps a message of spans.
func (v *viewer) keepTraces(ctx context.Context, traces ptrace.Traces) error {
	m := &message{signal: signalTraces, arrived: time.Now()}
	shares := sharesOf(m)
	for r, resource := range traces.ResourceSpans().All() {
		if r == 0 {
			m.project = projectOf(resource.Resource())
		}
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				shares.of(span.TraceID(), service).addSpan(span)
			}
		}
	}
	if len(m.traces) == 0 {
		return nil
	}
	var err error
	if m.otlp, err = (&ptrace.ProtoMarshaler{}).MarshalTraces(traces); err != nil {
		return consumererror.NewPermanent(fmt.Errorf("cannot keep spans: %w", err))
	}
	v.keep(ctx, m)
	return nil
}

func (s *traceShare) addSpan(span ptrace.Span) {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	if s.spans == 0 || start < s.start {
		s.start, s.first = start, shorten(span.Name())
	}
	s.end = max(s.end, end, start)
	s.spans++
	if span.Status().Code() == ptrace.StatusCodeError {
		s.errors++
	}
	if span.ParentSpanID().IsEmpty() && s.root == "" {
		s.root = shorten(span.Name())
	}
}
