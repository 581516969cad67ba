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

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

// TestResponsesAreBounded: of long texts in long lists, every response is no longer than maxResponse, and
// states what is missing.
func TestResponsesAreBounded(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = 1 << 30 })
	h.addLong(strings.Repeat("\"<\x01", longestText/3))
	h.addLongProfile(strings.Repeat("\\", longestText))
	for _, path := range []string{
		"overview", "profiles/1", "flame?profile=1", "ordered?profile=1&thread=7", "compare?a=1&b=2", "frame?profile=1&frame=0",
		"traces/00000000000000000000000000000007", "traces/00000000000000000000000000000007/spans/0000000000000007", "logs",
		"flame?" + span7,
	} {
		response, body := h.request("/api/" + path)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %.300s", path, body)
		assert.LessOrEqual(t, len(body), maxResponse, path)
		var out struct{ Omitted int }
		require.NoError(t, json.Unmarshal(body, &out))
		t.Logf("%-80s %8d bytes, %d omitted", path, len(body), out.Omitted)
		if len(body) > maxTexts {
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

// TestBudget: a text takes at most half of what is left of its budget, and some of it in any case.
func TestBudget(t *testing.T) {
	var out omissions
	b := perEntry(1000, 1, &out)
	long := strings.Repeat("x", 10_000)
	assert.Equal(t, "short", b.text("short"))
	for _, longest := range []int{500, 250, 140, briefText, briefText} {
		text := b.text(long)
		assert.LessOrEqual(t, len(text), longest+timeline.ClipSlack)
		assert.GreaterOrEqual(t, len(text), briefText)
		assert.Contains(t, text, " bytes]…")
	}
	assert.Equal(t, 5, out.Omitted)
	assert.Equal(t, "short", b.text("short"))
	assert.Equal(t, 5, out.Omitted)
}

// TestAttributeLists: all attributes are listed up to maxAttributes of them, and then how many more there are.
func TestAttributeLists(t *testing.T) {
	for all, want := range map[int]int{0: 0, 3: 3, maxAttributes: maxAttributes, maxAttributes + 2: maxAttributes + 1} {
		var out omissions
		b := perEntry(1<<20, 1, &out)
		list, m := make([]dictionary.Attribute, all), pcommon.NewMap()
		for i := range list {
			list[i] = dictionary.Attribute{Key: fmt.Sprint("k", i), Unit: "By", Value: pcommon.NewValueInt(int64(i))}
			m.PutInt(list[i].Key, int64(i))
		}
		listed, entries := b.attributes(list), b.mapEntries(m)
		require.Len(t, listed, want)
		require.Len(t, entries, want)
		for i := range min(all, maxAttributes) {
			require.Equal(t, attributeAnswer{Key: list[i].Key, Value: fmt.Sprint(i), Unit: "By"}, listed[i])
			require.Equal(t, attributeAnswer{Key: list[i].Key, Value: fmt.Sprint(i)}, entries[i])
		}
		if all > maxAttributes {
			more := attributeAnswer{Key: "…", Value: moreText(2)}
			assert.Equal(t, []attributeAnswer{more, more}, []attributeAnswer{listed[maxAttributes], entries[maxAttributes]})
		}
		assert.Zero(t, out.Omitted, "the list says it")
	}
}

// TestEncodedLen: the length of a text in JSON is known before it is encoded.
func TestEncodedLen(t *testing.T) {
	for _, text := range []string{"", "plain", `"quoted" \ back`, "line\nand\ttab", "<script>&", "\x00\x7f\u2028\u202e", "half \xff rune", "𝓊nicode", strings.Repeat("\x01", 3000)} {
		short := displayText(text)
		assert.LessOrEqual(t, len(short), longestText+timeline.ClipSlack)
		encoded, err := encodeJSON(short)
		require.NoError(t, err)
		assert.Equal(t, len(encoded), encodedLen(short)+len("\"\"\n"), "%q", text)
		assert.Equal(t, short, displayText(short), "not clipped twice")
	}
}
