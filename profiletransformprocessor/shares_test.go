// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// spansIn are n spans of a project, each of a trace of its own.
func spansIn(project string, n int) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("sentry.project_id", project)
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	spans.EnsureCapacity(n)
	for i := range n {
		span := spans.AppendEmpty()
		var id pcommon.TraceID
		binary.BigEndian.PutUint64(id[:], uint64(i+1))
		span.SetTraceID(id)
		span.SetSpanID(pcommon.SpanID{1})
		span.SetStartTimestamp(1)
		span.SetEndTimestamp(2)
		span.Attributes().PutStr("sentry.profiler_id", session)
		span.Attributes().PutStr("thread.id", "1")
	}
	return traces
}

// TestProjectsShareTheIndex: a project that fills the index many times over unlinks no profile of
// another one.
func TestProjectsShareTheIndex(t *testing.T) {
	const limit = 1000
	h := start(t, "link: {wait: 0s, max_spans: 1000}")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), spansIn("noisy", 10*limit)))
	assert.Equal(t, map[string]int64{"": limit}, h.counts("index_spans"))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(h.received(1)[0]))
	assert.Equal(t, int64(9*limit+1), h.counts("spans")["event=evicted"])
}
