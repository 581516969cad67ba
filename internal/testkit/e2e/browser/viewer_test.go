// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// startQuickstart runs the quickstart's configuration on other ports until the end of the test, and
// returns the address of the page.
func startQuickstart(t *testing.T) (c *harness.Collector, page string) {
	c, page = launchQuickstart(t)
	t.Cleanup(func() { c.Stop(t) })
	return c, page
}

func launchQuickstart(t *testing.T) (c *harness.Collector, page string) {
	config, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "quickstart", "config.yaml"))
	require.NoError(t, err)
	address := harness.FreeAddress(t)
	ports := []string{"localhost:4319", "ENDPOINT", "localhost:4321", address}
	for _, port := range []string{"8969", "4317", "4318", "13133"} {
		ports = append(ports, "localhost:"+port, harness.FreeAddress(t))
	}
	text := strings.NewReplacer(ports...).Replace(string(config))
	c, err = harness.TryStart(t, harness.Settings{Config: text})
	require.NoError(t, err, "%s", c.Log.Tail())
	return c, "http://" + address + "/"
}

// sendDemo runs `make demo`.
func sendDemo(t *testing.T, c *harness.Collector) {
	demo := exec.Command("make", "demo", "DSN=http://"+harness.TestKey+"@"+c.Address+"/1")
	demo.Dir = golden.Root(t)
	output, err := demo.CombinedOutput()
	require.NoError(t, err, "%s", output)
	waitLinked(t, c)
}

// waitLinked waits until the viewer has all profiles that the collector received: they wait for
// running spans, see link::wait of the quickstart.
func waitLinked(t *testing.T, c *harness.Collector) {
	const metric = "otelcol_processor_profile_transform_"
	require.Eventually(t, func() bool {
		metrics := c.Scrape(t)
		return metrics.Sum(metric+"incoming_profiles") == metrics.Sum(metric+"outgoing_profiles")
	}, time.Minute, 50*time.Millisecond)
}

// demo is a collector after `make demo`, for tests that only read. It also has the data of
// sendMarked.
var demo = shared[quickstart]{
	start: func(t *testing.T) (q quickstart) {
		q.collector, q.page = launchQuickstart(t)
		sendMarked(t, q.collector)
		sendDemo(t, q.collector)
		return q
	},
	stop: func(t *testing.T, q quickstart) { q.collector.Stop(t) },
}

type quickstart struct {
	collector *harness.Collector
	page      string // its address
}

// TestBrowserViewer: the page, after `make demo`, in Chromium.
func TestBrowserViewer(t *testing.T) {
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	sendDemo(t, c)
	traffic := b.run(t, "viewer.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Services, Spans []string
		Thread, Status  string
		Top             []topRow
		Pprof           string
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	t.Logf("services: %s", strings.Join(result.Services[1:], ", "))
	t.Logf("thread %s", result.Thread)
	t.Logf("spans:\n%s", strings.Join(result.Spans, "\n"))
	comparePprof(t, result.Pprof, result.Top)
}

// TestBrowserViewerOrders clicks through the inverted graph and the callers and callees of
// functions.
func TestBrowserViewerOrders(t *testing.T) {
	testsize.NeedFull(t)
	b, demo := findBrowser(t), demo.use(t)
	t.Parallel()
	traffic := b.run(t, "viewer-orders.mjs", demo().page)
	assert.Empty(t, traffic.Errors)
	var result struct{ Inverted, Functions, Query int }
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Greater(t, result.Functions, 1, "several functions have self time")
	t.Logf("%+v", result)
}

// topRow is a row of the page's table, with shares as text.
type topRow struct{ Name, Self, Total string }

// comparePprof compares the table of the page with the output of go tool pprof for the downloaded
// file.
func comparePprof(t *testing.T, file string, rows []topRow) {
	tool := exec.Command("go", "tool", "pprof", "-top", "-symbolize=none", "-nodecount=10000", "-nodefraction=0", file)
	text, err := tool.CombinedOutput()
	require.NoError(t, err, "%s", text)
	shares := map[string][2]float64{} // flat and cum, in percent
	for _, match := range regexp.MustCompile(`(?m)^\s*\S+\s+([\d.]+)%\s+[\d.]+%\s+\S+\s+([\d.]+)%\s+(.*?)(?: \(inline\))?$`).FindAllStringSubmatch(string(text), -1) {
		flat, _ := strconv.ParseFloat(match[1], 64)
		cum, _ := strconv.ParseFloat(match[2], 64)
		shares[match[3]] = [2]float64{flat, cum}
	}
	require.Len(t, rows, 15)
	for _, row := range rows {
		require.Contains(t, shares, row.Name, "%s", text)
		assert.InDelta(t, shares[row.Name][0], percent(t, row.Self), 0.06, row.Name)
		assert.InDelta(t, shares[row.Name][1], percent(t, row.Total), 0.06, row.Name)
	}
	t.Logf("%d functions as in go tool pprof -top, the first %s with %s", len(rows), rows[0].Name, rows[0].Self)
}

func percent(t *testing.T, text string) float64 {
	value, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), "%")), 64)
	require.NoError(t, err, text)
	return value
}

// TestBrowserViewerHostile: names that contain scripts are shown as text.
func TestBrowserViewerHostile(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	c, page := startQuickstart(t)
	names := []string{`<img src=x onerror=pwned=1>`, `<script>pwned=1</script>`, "\u202egnp.exe", strings.Repeat("f", 1<<20), `"><svg onload=pwned=1>`}
	frames, _ := json.Marshal(func() (list []map[string]any) {
		for _, name := range names {
			list = append(list, map[string]any{"function": name, "filename": name, "module": name, "in_app": true})
		}
		return list
	}())
	now := float64(time.Now().Unix())
	chunk := fmt.Sprintf(`{"version":"2","profiler_id":"0123456789abcdef0123456789abcdef","chunk_id":"0123456789abcdef0123456789abcde0",`+
		`"platform":"python","release":"<b>shop</b>@1","profile":{"frames":%s,"stacks":[[0,1,2,3,4],[4,3,2,1,0]],`+
		`"samples":[{"timestamp":%f,"thread_id":"1","stack_id":0},{"timestamp":%f,"thread_id":"1","stack_id":1},{"timestamp":%f,"thread_id":"1","stack_id":0}],`+
		`"thread_metadata":{"1":{"name":"<script>pwned=1</script>"}}}}`, frames, now, now+0.01, now+0.02)
	records := fmt.Sprintf(`{"items":[%s]}`, strings.Join(slices.Repeat([]string{longRecord(now)}, 200), ","))
	response, err := http.Post("http://"+c.Address+"/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef", "application/x-sentry-envelope",
		strings.NewReader(fmt.Sprintf("{}\n{\"type\":\"profile_chunk\",\"length\":%d}\n%s\n{\"type\":\"log\",\"item_count\":200,"+
			"\"content_type\":\"application/vnd.sentry.items.log+json\",\"length\":%d}\n%s\n", len(chunk), chunk, len(records), records)))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	waitLinked(t, c)

	traffic := b.run(t, "viewer-hostile.mjs", page)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests)
	assert.Contains(t, string(traffic.Result), `onerror=pwned=1`, "as text")
	assert.Contains(t, string(traffic.Result), `\\u{202e}gnp.exe`)
	assert.NotContains(t, string(traffic.Result), "\u202e")
	assert.Regexp(t, `[\d,]+ texts`, string(traffic.Result))
}

// longRecord returns a log record of 50 kB: a page of 200 of them exceeds the maximum response of
// the API.
func longRecord(now float64) string {
	var attributes []string
	for i := range 25 {
		attributes = append(attributes, fmt.Sprintf(`"key %d":{"type":"string","value":%q}`, i, strings.Repeat("<", 2000)))
	}
	return fmt.Sprintf(`{"timestamp":%f,"trace_id":"0123456789abcdef0123456789abcdef","level":"info","body":"long","attributes":{%s}}`,
		now, strings.Join(attributes, ","))
}

// The maximum work until the page shows a graph: users notice delays of a second or two, and this
// does not depend on the machine.
const (
	maxRequests = 8
	maxBytes    = 1 << 20
)

// TestBrowserViewerStress opens the largest recorded profile: 34 MB of JSON, one minute of Node
// under load.
func TestBrowserViewerStress(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	var request golden.Request
	for _, r := range golden.Corpus(t) {
		if strings.HasSuffix(r.Name, "stress-continuous-manual/025") && strings.Contains(r.Name, "node-10") {
			request = r
		}
	}
	require.NotEmpty(t, request.Body)
	c, page := startQuickstart(t)
	post, err := http.NewRequest(http.MethodPost, "http://"+c.Address+"/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef",
		strings.NewReader(string(request.Body)))
	require.NoError(t, err)
	post.Header.Set("Content-Encoding", request.Encoding)
	response, err := http.DefaultClient.Do(post)
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	waitLinked(t, c)

	traffic := b.run(t, "viewer-stress.mjs", page)
	assert.Empty(t, traffic.Errors)
	var result struct {
		FirstGraph, Requests, Bytes, ByTime, Speedscope, Boxes int
		Merged, Ordered                                        zoomFrames
		MergedPixels, TimePixels                               [3]int
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	t.Logf("34 MB chunk: first flame graph after %d ms, %d requests and %d kB, by time after %d ms; speedscope after %d ms; %d boxes",
		result.FirstGraph, result.Requests, result.Bytes>>10, result.ByTime, result.Speedscope, result.Boxes)
	t.Logf("zooming: merged %+v, by time %+v", result.Merged, result.Ordered)
	t.Logf("columns, busy and shown: merged %v, by time %v", result.MergedPixels, result.TimePixels)
	assert.LessOrEqual(t, result.Requests, maxRequests)
	assert.LessOrEqual(t, result.Bytes, maxBytes)
	assert.Positive(t, result.Boxes)
}

// TestBrowserViewerMillion opens a profile of a million samples, imported from a file.
func TestBrowserViewerMillion(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	_, page := startQuickstart(t)
	file, err := (&pprofile.ProtoMarshaler{}).MarshalProfiles(timelinetest.Large("large", 1_000_000))
	require.NoError(t, err)
	response, err := http.Post(page+"api/import?name=large", "application/x-protobuf", bytes.NewReader(file))
	require.NoError(t, err)
	response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)

	traffic := b.run(t, "viewer-million.mjs", page)
	assert.Empty(t, traffic.Errors)
	var result struct {
		Samples, Threads, Largest, Open, All, ByTime int
		Merged, Ordered                              struct {
			zoomFrames
			Search int
		}
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Equal(t, 1_000_000, result.Samples)
	assert.LessOrEqual(t, result.Largest, 8<<20)
	t.Logf("%d samples, file of %d MB: flame graph after %d ms, all threads after %d ms, by time after %d ms; largest response %d kB",
		result.Samples, len(file)>>20, result.Open, result.All, result.ByTime, result.Largest>>10)
	t.Logf("zooming and searching: merged %+v, by time %+v", result.Merged, result.Ordered)
}

// zoomFrames are the milliseconds between frames, and those of CPU time of the main thread per
// frame: see work.mjs.
type zoomFrames struct {
	Frames        int
	Median, Worst float64
	Work          struct{ Task, Script, Layout, Style float64 }
}

// TestBrowserViewerDrawn opens every profile of `make demo`: the pixels show the busy time, in both
// orders and at several zoom levels.
func TestBrowserViewerDrawn(t *testing.T) {
	testsize.NeedFull(t)
	b, demo := findBrowser(t), demo.use(t)
	t.Parallel()
	traffic := b.run(t, "viewer-drawn.mjs", demo().page)
	assert.Empty(t, traffic.Errors)
	var result struct {
		Pictures, Busy, Shown int
		Worst                 float64
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	t.Logf("%d pictures: %d of %d busy columns show their innermost function; the worst picture %.2f %%",
		result.Pictures, result.Shown, result.Busy, 100*result.Worst)
	assert.Greater(t, result.Pictures, 100)
	assert.GreaterOrEqual(t, float64(result.Shown), 0.999*float64(result.Busy))
}
