// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/waterfall"
)

// TestHostileNames: whatever a sender calls things, nothing of it reaches the page as anything but
// text of bounded length, and in the direction it is written in. That the page keeps it text is for
// its policy, and the browser test.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("f", 1<<20) + "end"
	names := []string{"<script>alert(1)</script>", "\u202egnp.exe", "a\x00b\x1b[31m", long, "half \xff rune", `";alert(1);//`, "𝓊nicode ok"}
	h := start(t, nil)
	for _, name := range names {
		h.addProfile(name, timelinetest.Sample{Thread: 1, Stack: name, Span: 7, At: []time.Duration{0}})
		h.addSpans(name, 7, testSpan{7, 0, name, 0, 1})
		h.addLog(name, name, 7, 7)
	}
	for _, path := range []string{
		"overview", "profiles/1", "flame?profile=4", "ordered?profile=4&thread=1", "frame?profile=4&frame=0",
		"traces/00000000000000000000000000000007", "traces/00000000000000000000000000000007/spans/0000000000000007", "logs", "flame?" + span7,
	} {
		response, body := h.request("/api/" + path)
		require.Equal(t, http.StatusOK, response.StatusCode, "%s: %s", path, body)
		assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
		assert.Less(t, len(body), 100<<10, path)
		assert.True(t, utf8.Valid(body), path)
		assert.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"), "< is not escaped")
		assert.NotContains(t, string(body), "\u202e", path)
	}
	span := get[flameAnswer](h, "flame?"+span7)
	var shown []string
	for _, f := range span.Frames {
		shown = append(shown, f.Name)
	}
	assert.Contains(t, shown, "<script>alert(1)</script>", "as it is; escaping is the page's")
	assert.Contains(t, shown, `\u{202e}gnp.exe`)
	assert.Contains(t, shown, `a\u{0}b\u{1b}[31m`)
	assert.Contains(t, shown, "𝓊nicode ok")
	assert.Contains(t, shown, strings.Repeat("f", answer.LongestText-200)+"…[1046579 bytes]…"+strings.Repeat("f", 200-3)+"end")

	for _, format := range []string{"pprof", "speedscope", "otlp"} {
		response, _ := h.request("/api/download/" + format + "?profile=4")
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Equal(t, "nosniff", response.Header.Get("X-Content-Type-Options"))
	}
}

// TestForeignPages: a page of another site cannot read what is here, under whatever name it reaches
// this port.
func TestForeignPages(t *testing.T) {
	h := start(t, func(c *Config) { c.AllowedHosts = []string{"profiles.example.com"} })
	for host, want := range map[string]int{
		"localhost:4321": 200, "127.0.0.1:4321": 200, "[::1]:4321": 200, "192.0.2.7": 200, "shop.localhost": 200,
		"profiles.example.com": 200, "Profiles.Example.com:80": 200,
		"attacker.example": 421, "localhost.attacker.example:4321": 421, "127.0.0.1.attacker.example": 421,
	} {
		for _, path := range []string{"/", "/api/overview"} {
			response, _ := h.request(path, "Host", host)
			assert.Equal(t, want, response.StatusCode, "%s of %s", path, host)
		}
	}
	response, _ := h.request("/api/overview")
	assert.Empty(t, response.Header.Get("Access-Control-Allow-Origin"))
	assert.Equal(t, "same-origin", response.Header.Get("Cross-Origin-Resource-Policy"))
}

// TestCrossSiteRequests: a page of another site cannot have anything done here, but it may link to
// the page.
func TestCrossSiteRequests(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	const page, overview, download = "/", "/api/overview", "/api/download/pprof?profile=1"
	navigate := []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}
	script := []string{"Sec-Fetch-Mode", "no-cors", "Sec-Fetch-Dest", "script"}
	for _, c := range []struct {
		path, site string
		headers    []string
		want       int
	}{
		{overview, "same-origin", nil, 200},
		{overview, "none", navigate, 200},
		{download, "none", navigate, 200},
		{page, "none", navigate, 200},
		{page, "cross-site", navigate, 200},
		{page, "same-site", navigate, 200},
		{page, "cross-site", script, 403},
		{page, "cross-site", []string{"Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "iframe"}, 403},
		{overview, "cross-site", nil, 403},
		{overview, "same-site", nil, 403},
		{overview, "cross-site", navigate, 403},
		{download, "cross-site", navigate, 403},
		{overview, "nonsense", nil, 403},
	} {
		response, _ := h.request(c.path, append([]string{"Sec-Fetch-Site", c.site}, c.headers...)...)
		assert.Equal(t, c.want, response.StatusCode, "%s of %s, %s", c.path, c.site, c.headers)
	}
	for origin, want := range map[string]int{h.base: 200, "http://attacker.example": 403, "null": 403, h.base + "0": 403} {
		response, _ := h.request(overview, "Origin", origin)
		assert.Equal(t, want, response.StatusCode, "without Sec-Fetch-Site, of %s", origin)
	}
}

func TestPolicy(t *testing.T) {
	h := start(t, nil)
	for _, path := range []string{"/", "/api/overview", "/nowhere", "/api/flame"} {
		response, _ := h.request(path)
		policy := response.Header.Get("Content-Security-Policy")
		assert.Contains(t, policy, "default-src 'none'", path)
		assert.Contains(t, policy, "require-trusted-types-for 'script'", path)
		assert.NotContains(t, policy, "unsafe", path)
		assert.NotContains(t, policy, "http", "nothing from elsewhere")
	}
	response, _ := h.request("/speedscope/")
	assert.Contains(t, response.Header.Get("Content-Security-Policy"), "script-src 'self' 'wasm-unsafe-eval';")

	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete, http.MethodOptions} {
		r, err := http.NewRequest(method, h.base+"/api/overview", nil)
		require.NoError(t, err)
		response, err := h.client.Do(r)
		require.NoError(t, err)
		response.Body.Close()
		assert.Equal(t, http.StatusMethodNotAllowed, response.StatusCode, method)
	}
}

// TestHostileStructure: deep, wide and broken messages are answered, or refused, in bounded time.
func TestHostileStructure(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	deep := strings.TrimSuffix(strings.Repeat("f;", 5000), ";")
	at := make([]time.Duration, 1000)
	if testsize.Full() {
		at = make([]time.Duration, 30_000) // more than speedscope's files may have
	}
	for i := range at {
		at[i] = time.Duration(i) * ms
	}
	h.addProfile("deep", timelinetest.Sample{Thread: 1, Stack: deep, At: at})
	broken := timelinetest.Message("broken", timelinetest.Wall, shop...)
	broken.Dictionary().StackTable().At(1).LocationIndices().SetAt(0, -7)
	timelinetest.Profile(broken).Samples().At(1).SetStackIndex(1 << 30)
	h.consume(broken)

	assert.Equal(t, int64(len(at)), get[flameAnswer](h, "flame?profile=1").Cut)
	get[orderedAnswer](h, "ordered?profile=1&thread=1")
	get[profileAnswer](h, "profiles/2")
	get[flameAnswer](h, "flame?profile=2")
	if !testsize.Full() {
		return // TestDownloadsAreBounded has the limit of a file
	}
	status, text := h.fails("download/speedscope?profile=1")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, text, "select a thread")
}

// TestFloods: of what a sender has made a thousand of, lists have the most important part, and say
// how many more there are.
func TestFloods(t *testing.T) {
	h := start(t, nil)
	var samples []timelinetest.Sample
	for i := range 1000 {
		samples = append(samples, timelinetest.Sample{Thread: int64(i), Stack: "f", At: []time.Duration{0}})
	}
	h.addProfile("threads", samples...)
	assert.Len(t, get[profileAnswer](h, "profiles/1").ThreadList, maxListed)
	assert.Equal(t, 1000, get[profileAnswer](h, "profiles/1").Threads)
	assert.Len(t, get[flameAnswer](h, "flame?profile=1").Threads, maxListed)

	traces := ptrace.NewTraces()
	for i := range 1000 {
		resource := traces.ResourceSpans().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", fmt.Sprintf("service %03d", i))
		span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID(pcommon.TraceID{15: 7})
		span.SetSpanID(pcommon.SpanID{6: byte(i >> 8), 7: byte(i)})
		if i == 0 {
			for j := range 1000 {
				span.Attributes().PutInt(fmt.Sprintf("key %03d", j), 1)
				span.Events().AppendEmpty().SetName("event")
			}
		}
	}
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	overview := get[overviewAnswer](h, "overview")
	assert.Len(t, overview.Services, maxListed)
	assert.Equal(t, "service 000", overview.Services[0].Name)
	assert.Equal(t, 1, overview.Services[0].Traces)
	assert.Len(t, overview.Traces[0].Services, 20)
	assert.Equal(t, 1, get[overviewAnswer](h, "overview?service=service+999").TraceCount)
	span := get[spanDetailAnswer](h, "traces/00000000000000000000000000000007/spans/0000000000000000")
	assert.Len(t, span.Attributes, answer.MaxAttributes+1)
	assert.Equal(t, answer.Attribute{Key: "…", Value: "750 more"}, span.Attributes[answer.MaxAttributes])
	assert.Len(t, span.Events, maxEventsShown)
	assert.Equal(t, 1000, span.EventCount)
}

// TestTraceOfManySpans: of a trace of any size, as many spans are arranged as there is memory for,
// and the first of them are shown.
func TestTraceOfManySpans(t *testing.T) {
	t.Parallel()
	h := start(t, nil)
	const spans = waterfall.MaxSpans + 1000
	traces := ptrace.NewTraces()
	list := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	id := func(i int) pcommon.SpanID { return pcommon.SpanID{0: 1, 5: byte(i >> 16), 6: byte(i >> 8), 7: byte(i)} }
	for i := range spans {
		span := list.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{15: 7})
		span.SetSpanID(id(i))
		span.SetStartTimestamp(pcommon.Timestamp(spans - i)) // the last to arrive is the first to start
	}
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	trace := get[traceAnswer](h, "traces/00000000000000000000000000000007")
	assert.Equal(t, spans, trace.Spans)
	require.Len(t, trace.SpanList, maxSpansShown)
	assert.Equal(t, hexSpan(id(waterfall.MaxSpans-1)), trace.SpanList[0].ID)
	assert.Zero(t, trace.SpanList[0].Start)
}
