// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestBrowserViewerFirst: a new user finds the DSN for the SDK, and the reason if data was rejected.
func TestBrowserViewerFirst(t *testing.T) {
	b := findBrowser(t)
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

// TestBrowserViewerAxe: axe has no findings in any view, in two themes and three sizes.
func TestBrowserViewerAxe(t *testing.T) {
	b := findBrowser(t)
	c, page := startQuickstart(t)
	sendDemo(t, c)
	traffic := b.run(t, "viewer-axe.mjs", page)
	assert.Empty(t, traffic.Errors)
	var result struct {
		Findings []string
		Views    int
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	t.Logf("%d views without findings", result.Views)
}

// TestBrowserViewerLive: data appears in the open view when it arrives; live updates can be paused, and the store cleared.
func TestBrowserViewerLive(t *testing.T) {
	b := findBrowser(t)
	c, page := startQuickstart(t)
	traffic := b.run(t, "viewer-live.mjs", page+"?sdk="+c.Address)
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	t.Logf("%s", traffic.Result)
}

// TestBrowserViewerLists clicks through errors, log records and metrics.
func TestBrowserViewerLists(t *testing.T) {
	b := findBrowser(t)
	c, page := startQuickstart(t)
	post := func(body string) {
		response, err := http.Post("http://"+c.Address+"/api/1/envelope/?sentry_key=0123456789abcdef0123456789abcdef", "application/x-sentry-envelope",
			strings.NewReader(body))
		require.NoError(t, err)
		response.Body.Close()
		require.Equal(t, http.StatusOK, response.StatusCode)
	}
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
	time.Sleep(4 * time.Second) // profiles wait for running spans

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
