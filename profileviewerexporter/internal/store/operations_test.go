// SPDX-License-Identifier: Apache-2.0

package store

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/operations"
)

// TestOperationsVisitNoSpans: the figures are ready when they are requested. The messages are
// unreadable, and the number of spans has no effect on the work, as counted by allocations.
func TestOperationsVisitNoSpans(t *testing.T) {
	spans := 20_000
	if testsize.Full() {
		spans = 1_000_000
	}
	work := func(spans int) float64 {
		s, now := New(1<<40, time.Hour), time.Now()
		const perMessage = 1000
		for first := 0; first < spans; first += perMessage {
			_, err := s.AddTraces(t.Context(), spansFrom(first, perMessage), now)
			require.NoError(t, err)
		}
		for _, m := range s.Messages() {
			m.otlp = []byte("unreadable")
		}
		figures, _, _ := s.Operations("shop")
		require.Len(t, figures, 2)
		assert.Equal(t, spans, figures[0].Count+figures[1].Count)
		return testing.AllocsPerRun(3, func() { s.Operations("shop") })
	}
	assert.InDelta(t, work(spans/10), work(spans), 5)
}

// TestOperationSamplesAreBounded: the samples of the newest profiles are read, up to a number of
// spans.
func TestOperationSamplesAreBounded(t *testing.T) {
	s, spans := New(1<<40, time.Hour), map[timeline.Link]Sum{}
	for i := range uint64(MaxVisitedLinks) {
		link := timeline.Link{Span: pcommon.SpanID{1}}
		binary.BigEndian.PutUint64(link.Trace[:], i+1)
		spans[link] = Sum{Samples: 1}
	}
	_, err := s.AddTraces(t.Context(), spansFrom(0, 2), time.Now())
	require.NoError(t, err)
	add := func() {
		m := &Message{Signal: Profiles, Arrived: time.Now()}
		m.Profiles = []*Profile{{Message: m, Service: "shop", Spans: spans}}
		require.True(t, s.add(m))
	}
	for _, want := range []bool{true, false} {
		add()
		samples, all := s.OperationSamples("shop")
		assert.Equal(t, want, all)
		assert.Equal(t, map[operations.Name]int64{{Name: "GET /"}: 1}, samples)
	}
}

// TestDeepSpansCountAsSeveral: the work does not grow with the depth of traces.
func TestDeepSpansCountAsSeveral(t *testing.T) {
	s, spans := New(1<<40, time.Hour), map[timeline.Link]Sum{}
	traces, id := ptrace.NewTraces(), func(i int) (id pcommon.SpanID) { binary.BigEndian.PutUint64(id[:], uint64(i)); return id }
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	list := resource.ScopeSpans().AppendEmpty().Spans()
	for i := range MaxVisitedLinks / 2 {
		span := list.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(id(i + 1))
		span.SetParentSpanID(id(min(i, 32)))
		spans[timeline.Link{Trace: span.TraceID(), Span: span.SpanID()}] = Sum{Samples: 1}
	}
	_, err := s.AddTraces(t.Context(), traces, time.Now())
	require.NoError(t, err)
	m := &Message{Signal: Profiles, Arrived: time.Now()}
	m.Profiles = []*Profile{{Message: m, Service: "shop", Spans: spans}}
	require.True(t, s.add(m))
	_, all := s.OperationSamples("shop")
	assert.False(t, all)
	visited := 0
	links := s.OperationLinks(m.Profiles[0], func(operations.Name) bool { return true }, &visited)
	assert.InDelta(t, MaxVisitedLinks/3, len(links), 100)
}

// spansFrom returns pairs of a request and its query. All durations occur in the first thousand.
func spansFrom(first, count int) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	list := resource.ScopeSpans().AppendEmpty().Spans()
	for i := first; i < first+count; i++ {
		span, trace := list.AppendEmpty(), pcommon.TraceID{}
		binary.BigEndian.PutUint64(trace[:], uint64(i/2+1))
		span.SetTraceID(trace)
		span.SetSpanID(pcommon.SpanID{byte(i%2 + 1)})
		span.SetName("GET /")
		if i%2 == 1 {
			span.SetParentSpanID(pcommon.SpanID{1})
			span.SetName("query")
		}
		span.SetEndTimestamp(pcommon.Timestamp(1 + i%1000))
	}
	return traces
}
