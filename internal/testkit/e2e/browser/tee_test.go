// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBrowserThroughTee: a page with the real @sentry/browser receives Sentry's responses from
// another origin. CORS headers come from the receiver only, because browsers reject a response with
// two.
func TestBrowserThroughTee(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	var mu sync.Mutex
	var bodies []string
	sentry := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		bodies = append(bodies, string(body))
		mu.Unlock()
		w.Header().Set("Access-Control-Allow-Origin", "https://elsewhere.example")
		w.Header().Set("X-Sentry-Rate-Limits", "1:replay:key")
		_, _ = io.WriteString(w, "{}")
	}))
	t.Cleanup(sentry.Close)
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Config: `
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
exporters:
  nop:
extensions:
  sentry_tee: {upstream: '` + sentry.URL + `', answer: upstream}
service:
  extensions: [sentry_tee]
  pipelines:
    logs: {receivers: [sentry], exporters: [nop]}
`})
	site := newSite(t, b.bundle(t, "page.js"), backend)
	traffic := b.run(t, "sdk.mjs", site.URL+"/?dsn="+url.QueryEscape("http://"+harness.TestKey+"@"+c.Address+"/42"))
	require.Empty(t, traffic.Errors)
	mu.Lock()
	arrived := strings.Join(bodies, "\n")
	mu.Unlock()
	sent, unanswered := 0, 0
	for _, r := range traffic.Requests {
		require.Empty(t, r.Failed, "%s %s", r.Method, r.Body)
		if r.Method != http.MethodPost {
			continue
		}
		sent++
		assert.Contains(t, arrived, r.Body)
		if r.Answer.Status == 0 {
			unanswered++ // sent while the page was closing
			continue
		}
		assert.Equal(t, http.StatusOK, r.Answer.Status)
		assert.Equal(t, "1:replay:key", r.Answer.header("X-Sentry-Rate-Limits"), "the page may read it")
	}
	assert.Greater(t, sent, 5)
	assert.LessOrEqual(t, unanswered, 1)
	assert.Contains(t, sentItems(traffic.Requests), "event")
}
