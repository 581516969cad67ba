// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
)

// TestResponsesAreBounded: of long texts in long lists, every response is no longer than
// answer.MaxResponse, and states what is missing.
func TestResponsesAreBounded(t *testing.T) {
	t.Parallel()
	h := start(t, func(c *Config) { c.MaxBytes = 1 << 30 })
	h.addLong(strings.Repeat("\"<\x01", answer.LongestText/3))
	h.addLongProfile(strings.Repeat("\\", answer.LongestText))
	for _, path := range []string{
		"overview", "profiles/1", "flame?profile=1", "ordered?profile=1&thread=7", "compare?a=1&b=2", "frame?profile=1&frame=0",
		"traces/00000000000000000000000000000007", "traces/00000000000000000000000000000007/spans/0000000000000007", "logs", "errors", "metrics",
		"flame?" + span7,
	} {
		response, body := h.request("/api/" + path)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %.300s", path, body)
		assert.LessOrEqual(t, len(body), answer.MaxResponse, path)
		var out struct{ Omitted int }
		require.NoError(t, json.Unmarshal(body, &out))
		t.Logf("%-80s %8d bytes, %d omitted", path, len(body), out.Omitted)
		if len(body) > answer.MaxTexts {
			assert.Positive(t, out.Omitted, path)
		}
	}
}

// addLong keeps lists of everything, whose texts are all long.
func (h *harness) addLong(long string) {
	h.t.Helper()
	h.addLongProfile(long)
	traces, logs := ptrace.NewTraces(), plog.NewLogs()
	spans := traces.ResourceSpans().AppendEmpty()
	spans.Resource().Attributes().PutStr("service.name", long)
	records := logs.ResourceLogs().AppendEmpty()
	records.Resource().Attributes().PutStr("service.name", long)
	list, recordList := spans.ScopeSpans().AppendEmpty().Spans(), records.ScopeLogs().AppendEmpty().LogRecords()
	for i := range maxSpansShown {
		span := list.AppendEmpty()
		span.SetTraceID(timelinetest.Trace(7))
		span.SetSpanID(pcommon.SpanID{6: byte((i + 7) >> 8), 7: byte(i + 7)})
		span.SetName(long)
		span.Status().SetMessage(long)
	}
	for i := range 1000 {
		list.At(0).Attributes().PutStr(fmt.Sprint(i, long), long)
		event := list.At(0).Events().AppendEmpty()
		event.SetName(long)
		event.Attributes().PutStr(long, long)
	}
	for range maxRecordsShown {
		record := recordList.AppendEmpty()
		record.SetTraceID(timelinetest.Trace(7))
		record.Body().SetStr(long)
		for i := range 5 {
			record.Attributes().PutStr(fmt.Sprint(i, long), long)
		}
	}
	require.NoError(h.t, h.traces.ConsumeTraces(h.t.Context(), traces))
	require.NoError(h.t, h.logs.ConsumeLogs(h.t.Context(), logs))
}

// addLongProfile keeps a profile, most of whose functions are shown.
func (h *harness) addLongProfile(long string) {
	h.t.Helper()
	var samples []timelinetest.Sample
	for i := range 450 {
		samples = append(samples, timelinetest.Sample{
			Thread: int64(i % 300), Stack: fmt.Sprint(long, i, ";", long, -i), Span: 7, At: []time.Duration{time.Duration(i) * ms},
		})
	}
	message := timelinetest.Message(long, timelinetest.Wall, samples...)
	resource := message.ResourceProfiles().At(0).Resource().Attributes()
	for i := range 1000 {
		resource.PutStr(fmt.Sprint(i, long), long)
	}
	h.consume(message)
}
