package profiletransformprocessor

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/dictionary/dictionarytest"
)

func TestPassesThrough(t *testing.T) {
	h := start(t, "")
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), oneProfile()))
	require.Len(t, h.profilesSink.AllProfiles(), 1)
	dictionarytest.MustBeValid(t, h.profilesSink.AllProfiles()[0])

	traces := ptrace.NewTraces()
	traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetName("work")
	traces.MarkReadOnly()
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	require.Len(t, h.tracesSink.AllTraces(), 1)
	assert.Equal(t, traces, h.tracesSink.AllTraces()[0])
}
