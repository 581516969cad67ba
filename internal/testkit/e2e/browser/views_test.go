// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBrowserViewerFirst: a new user finds the DSN for the SDK, and the reason if data was
// rejected.
func TestBrowserViewerFirst(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	traffic := b.run(t, "viewer-first.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct{ Findings, Rows []string }
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	rows := strings.Join(result.Rows, "\n")
	assert.Contains(t, rows, "auth_bad_key")
	assert.Contains(t, rows, "profile_chunk items")
	t.Logf("%s", rows)
}

// TestBrowserViewerAxe: axe has no findings in any view, in two themes and two sizes, and a third
// size has space for all content.
func TestBrowserViewerAxe(t *testing.T) {
	testsize.NeedFull(t)
	b, demo := findBrowser(t), demo.use(t)
	t.Parallel()
	traffic := b.run(t, "viewer-axe.mjs", demo().page)
	assert.Empty(t, traffic.Errors)
	var result struct {
		Findings []string
		Views    int
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	t.Logf("%d views without findings", result.Views)
}

// TestBrowserViewerLive: data appears in the open view when it arrives; live updates can be paused,
// and the store cleared.
func TestBrowserViewerLive(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	traffic := b.run(t, "viewer-live.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	t.Logf("%s", traffic.Result)
}

// TestBrowserViewerLists clicks through errors, log records and metrics.
func TestBrowserViewerLists(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	post := envelopes(t, c)
	for _, name := range []string{"event-python", "event-node-locals", "event-java", "all-fields-trace-metrics", "android-measurements"} {
		body, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata", "cases", name, "in.envelope"))
		require.NoError(t, err)
		_, items, _ := strings.Cut(string(body), "\n")
		post("{}\n" + items) // the header has the key of another project
	}
	now := float64(time.Now().Unix())
	second := fmt.Sprintf(`{"timestamp":%f,"platform":"node","release":"again@1","exception":{"values":[{"type":"RangeError","value":"again","stacktrace":`+
		`{"frames":[{"function":"?","module":"server","filename":"/srv/app/node10/server.js","lineno":71,"in_app":true}]}}]}}`, now)
	post("{}\n{\"type\":\"event\"}\n" + second + "\n")
	post("{}\n{\"type\":\"profile_chunk\"}\n" + fmt.Sprintf(`{"version":"2","profiler_id":"0123456789abcdef0123456789abcdef","chunk_id":"%032d",`+
		`"platform":"python","release":"sampled@1","profile":{"frames":[{"function":"main"}],"stacks":[[0]],"samples":[`+
		`{"timestamp":%f,"thread_id":"1","stack_id":0},{"timestamp":%f,"thread_id":"1","stack_id":0},{"timestamp":%f,"thread_id":"1","stack_id":0}]}}`,
		7, now, now+0.5, now+1) + "\n")
	post("{}\n{\"type\":\"event\"}\n" + fmt.Sprintf(`{"timestamp":%f,"platform":"python","release":"sampled@1",`+
		`"exception":{"values":[{"type":"IOError","value":"around"}]}}`, now+0.4) + "\n")
	var records []string
	for i := range 450 {
		records = append(records, fmt.Sprintf(`{"timestamp":%f,"trace_id":"0123456789abcdef0123456789abcdef","level":"%s","body":"record %d",`+
			`"attributes":{"sentry.release":{"type":"string","value":"paging@1"}}}`, now+float64(i), []string{"info", "warn", "error"}[i%3], i))
	}
	post("{}\n{\"type\":\"log\",\"item_count\":450,\"content_type\":\"application/vnd.sentry.items.log+json\"}\n" +
		`{"items":[` + strings.Join(records, ",") + "]}\n")
	waitLinked(t, c)

	traffic := b.run(t, "viewer-lists.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Findings       []string
		Groups, Series int
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	t.Logf("%d groups of errors, %d series", result.Groups, result.Series)
}

// TestBrowserViewerOverview clicks through lists of more than 200 profiles, traces and services,
// and through the threads of a profile.
func TestBrowserViewerOverview(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	post := envelopes(t, c)
	now := float64(time.Now().Unix()) - 60
	for i := range 230 {
		at, trace := now+float64(i)/10, fmt.Sprintf("%031x%x", i+1, i%7)
		post("{}\n{\"type\":\"transaction\"}\n" + fmt.Sprintf(`{"type":"transaction","platform":"python","transaction":"GET /%d","release":"worker-%d@1","start_timestamp":%f,"timestamp":%f,`+
			`"contexts":{"trace":{"trace_id":%q,"span_id":"%016x","op":"http.server","status":%q}}}`, i, i%9, at, at+float64(i*37%100)/100, trace, i+1, []string{"ok", "internal_error"}[i%2]) +
			"\n{\"type\":\"profile_chunk\"}\n" + threadChunk(fmt.Sprintf("%032x", i+1), fmt.Sprintf("worker-%d", i%9), at, 1+i%3, 2+i%5))
	}
	profiler := strings.Repeat("d", 32)
	for i, name := range []string{"GET /slow", "GET /other"} {
		post("{}\n{\"type\":\"transaction\"}\n" + fmt.Sprintf(`{"type":"transaction","platform":"python","transaction":%q,"release":"timeline@1","start_timestamp":%f,"timestamp":%f,`+
			`"contexts":{"trace":{"trace_id":"%032x","span_id":"%016x","op":"http.server","data":{"thread.id":"%d"}},"profile":{"profiler_id":%q}}}`,
			name, now+0.1+float64(i)*0.2, now+0.4+float64(i)*0.2, 1000+i, 1000+i, i+1, profiler) + "\n")
	}
	post("{}\n{\"type\":\"profile_chunk\"}\n" + threadChunk(profiler, "timeline", now, 6, 100))
	waitLinked(t, c)
	traffic := b.run(t, "viewer-overview.mjs", page)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Findings                       []string
		Traces, Profiles, Observations int
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	assert.Positive(t, result.Observations)
	t.Logf("%d traces, %d profiles", result.Traces, result.Profiles)
}

// threadChunk is a profile in which threads take samples every 10 ms; each thread takes one less
// than the one before.
func threadChunk(profiler, service string, at float64, threads, samples int) string {
	var list []string
	for thread := range threads {
		for i := range max(2, samples-thread) {
			list = append(list, fmt.Sprintf(`{"timestamp":%f,"thread_id":"%d","stack_id":0}`, at+float64(i)/100, thread+1))
		}
	}
	return fmt.Sprintf(`{"version":"2","profiler_id":%q,"chunk_id":%q,"platform":"python","release":"%s@1","profile":{"frames":[{"function":"main"}],"stacks":[[0]],`+
		`"samples":[%s]}}`, profiler, profiler, service, strings.Join(list, ",")) + "\n"
}

// TestBrowserViewerInteraction uses the search, the menu, the tip, the keys and the timeline of
// flame graphs.
func TestBrowserViewerInteraction(t *testing.T) {
	testsize.NeedFull(t)
	b, demo := findBrowser(t), demo.use(t)
	t.Parallel()
	traffic := b.run(t, "viewer-interaction.mjs", demo().page)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Findings []string
		Hits     int
		Stored   string
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	t.Logf("%d matches, editor %s", result.Hits, result.Stored)
}

// sendMarked sends a profile of ten seconds, with an error and two log records during this time.
func sendMarked(t *testing.T, c *harness.Collector) {
	post := envelopes(t, c)
	now := float64(time.Now().Unix())
	post("{}\n{\"type\":\"profile_chunk\"}\n" + fmt.Sprintf(`{"version":"2","profiler_id":"0123456789abcdef0123456789abcdef","chunk_id":"%032d",`+
		`"platform":"python","release":"marked@1","profile":{"frames":[{"function":"main"}],"stacks":[[0]],"samples":[`+
		`{"timestamp":%f,"thread_id":"1","stack_id":0},{"timestamp":%f,"thread_id":"1","stack_id":0}]}}`, 9, now, now+10) + "\n")
	post("{}\n{\"type\":\"event\"}\n" + fmt.Sprintf(`{"timestamp":%f,"platform":"python","release":"marked@1",`+
		`"exception":{"values":[{"type":"IOError","value":"failed"}]}}`, now+2) + "\n")
	for i, level := range []string{"info", "warning"} {
		post("{}\n{\"type\":\"event\"}\n" + fmt.Sprintf(`{"timestamp":%f,"platform":"python","release":"marked@1","level":%q,"message":"note"}`,
			now+5+float64(i), level) + "\n")
	}
}

// envelopes returns a function that sends an envelope to the collector.
func envelopes(t *testing.T, c *harness.Collector) func(body string) {
	return func(body string) {
		response, err := http.Post("http://"+c.Address+"/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef", "application/x-sentry-envelope",
			strings.NewReader(body))
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
}

// testSpan is a span in OTLP JSON; times are milliseconds.
func testSpan(trace string, id, parent int, name string, from, to float64, more string) string {
	at := func(ms float64) string { return strconv.FormatInt(1_780_000_000_000_000_000+int64(ms*1e6), 10) }
	parentID := ""
	if parent > 0 {
		parentID = fmt.Sprintf("%016x", parent)
	}
	return fmt.Sprintf(`{"traceId":%q,"spanId":"%016x","parentSpanId":%q,"name":%q,"startTimeUnixNano":%q,"endTimeUnixNano":%q%s}`,
		trace, id, parentID, name, at(from), at(to), more)
}

// TestBrowserViewerTrace: the rows of a small trace and of one with 100,000 spans.
func TestBrowserViewerTrace(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	_, page := startQuickstart(t)
	send := func(signal, resource, service, items string) {
		body := fmt.Sprintf(`{"resource%[1]s":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%[2]q}}]},"scope%[1]s":[{%[3]s}]}]}`,
			resource, service, items)
		response, err := http.Post(page+"api/import?name="+signal, "application/json", strings.NewReader(body))
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
	small, large := strings.Repeat("a", 32), strings.Repeat("b", 32)
	send("traces", "Spans", "shop", `"spans":[`+strings.Join([]string{
		testSpan(small, 1, 0, "GET /order", 0, 100, ""), testSpan(small, 2, 1, "reserve", 2, 30, ""), testSpan(small, 3, 1, "log", 3, 20, ""),
		testSpan(small, 4, 1, "pay", 31, 98, ""),
	}, ",")+"]")
	send("traces", "Spans", "bank", `"spans":[`+testSpan(small, 5, 4, "POST /charge", 35, 90, `,"status":{"code":2,"message":"declined"}`)+"]")
	send("logs", "Logs", "bank", fmt.Sprintf(`"logRecords":[{"timeUnixNano":"1780000000050000000","severityNumber":17,"severityText":"ERROR","body":{"stringValue":"declined"},`+
		`"traceId":%q,"spanId":"%016x"}]`, small, 5))
	spans := []string{testSpan(large, 1, 0, "batch", 0, 100_000, "")}
	for i := 2; i <= 100_000; i++ {
		parent, name := 1, fmt.Sprint("item ", i%50)
		if i > 1000 {
			parent = 2 + i%999
		}
		if i == 77_777 {
			name = "needle"
		}
		spans = append(spans, testSpan(large, i, parent, name, float64(i-2), float64(i), ""))
	}
	send("traces", "Spans", "worker", `"spans":[`+strings.Join(spans, ",")+"]")

	traffic := b.run(t, "viewer-trace.mjs", page)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Findings          []string
		First, InDocument int
		Jumps, Wheel      zoomFrames
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	t.Logf("100,000 spans: first rows after %d ms, %d rows in the document; scrolling by three rows %+v, to other rows in each frame %+v",
		result.First, result.InDocument, result.Wheel, result.Jumps)
}

// TestBrowserViewerService: the profiles of a service in a window of time, compared with those
// before and with another release.
func TestBrowserViewerService(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	post := envelopes(t, c)
	now := float64(time.Now().Unix()) - 10
	for i, chunk := range []struct {
		release, slow string
		at            float64
	}{{"merged@1", "parse", -90}, {"merged@2", "render", -20}, {"merged@2", "render", -10}} {
		at := now + chunk.at
		var samples []string
		for sample := range 60 {
			samples = append(samples, fmt.Sprintf(`{"timestamp":%f,"thread_id":"1","stack_id":%d}`, at+float64(sample)/100, sample%3/2))
		}
		post("{}\n{\"type\":\"profile_chunk\"}\n" + fmt.Sprintf(`{"version":"2","profiler_id":"0123456789abcdef0123456789abcdef","chunk_id":"%032d",`+
			`"platform":"python","release":%q,"profile":{"frames":[{"function":"main"},{"function":%q},{"function":"store"}],"stacks":[[1,0],[2,0]],"samples":[%s]}}`,
			i+1, chunk.release, chunk.slow, strings.Join(samples, ",")) + "\n")
	}
	waitLinked(t, c)
	traffic := b.run(t, "viewer-service.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct{ Findings, Changed []string }
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	assert.ElementsMatch(t, []string{"render", "parse"}, result.Changed, "store has equal shares")
}
