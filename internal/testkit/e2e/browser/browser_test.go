// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
)

// TestBrowser: a page with the real @sentry/browser sends to the collector from another origin, and
// obeys a rate limit.
func TestBrowser(t *testing.T) {
	b := findBrowser(t)
	t.Parallel()
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Signals: harness.OtherSignals})
	site := newSite(t, b.bundle(t, "page.js"), backend)

	traffic := b.run(t, "sdk.mjs", site.URL+"/?dsn="+url.QueryEscape("http://"+harness.TestKey+"@"+c.Address+"/42"))
	require.Empty(t, traffic.Errors)
	for _, r := range traffic.Requests {
		require.Empty(t, r.Failed, "%s %s", r.Method, r.Body)
		t.Logf("%s%s → %d %s", r.Method, strings.Join(append([]string{""}, r.items()...), " "), r.Answer.Status, r.Answer.header("X-Sentry-Rate-Limits"))
	}

	first, rest := traffic.untilLimit()
	assert.True(t, slices.ContainsFunc(first, func(r browserRequest) bool {
		return r.Method == http.MethodOptions && r.Answer.Status == http.StatusNoContent
	}),
		"the browser asks first")
	for _, item := range []string{"session", "event", "log", "trace_metric", "span", "profile_chunk"} {
		assert.Contains(t, sentItems(first), item)
	}
	require.NotEmpty(t, rest, "no request was answered with a rate limit")
	assert.Equal(t, http.StatusTooManyRequests, rest[0].Answer.Status)
	assert.Equal(t, []string{"span"}, rest[0].items())
	assert.NotContains(t, sentItems(rest[1:]), "span", "the SDK holds back what it was asked to")
	assert.Contains(t, sentItems(rest[1:]), "log", "and nothing else")

	checkArrived(t, backend.DrainAll())
	harness.CheckLog(t, c, harness.TestKey)
}

// checkArrived checks that the backend received the data of the page's activities.
func checkArrived(t *testing.T, messages map[string][][]byte) {
	texts, _, err := oracle.Received(messages)
	require.NoError(t, err)
	all := strings.Join(texts, "\n")
	dropped := "point sentry.client_report.discarded ratelimit_backoff span client_discard "
	for _, want := range []string{"record event ", "stock low", "still sent", "point orders 1", "point sentry.session.started 1", dropped} {
		assert.Contains(t, all, want)
	}
	spans, err := oracle.Spans(messages[harness.TracesPath])
	require.NoError(t, err)
	var names []string
	for _, span := range spans {
		names = append(names, span.Name())
	}
	assert.Contains(t, names, "checkout")
	assert.NotContains(t, names, "refused")
	assert.NotContains(t, names, "held back")
	assert.Positive(t, harness.CountObservations(t, messages[harness.ProfilesPath]), "samples")
}

// newSite serves a page with the script, and lets the page make the backend refuse spans.
func newSite(t *testing.T, script []byte, backend *harness.Sink) *httptest.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Document-Policy", "js-profiling") // browsers do not sample without it
		_, _ = w.Write([]byte(`<!doctype html><title>Storefront</title><link rel="icon" href="data:,"><script src="/page.js"></script>`))
	})
	mux.HandleFunc("/page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = w.Write(script)
	})
	mux.HandleFunc("/busy", func(http.ResponseWriter, *http.Request) {
		backend.RespondTo(harness.TracesPath, http.StatusServiceUnavailable)
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return site
}

// items returns the types of the items in an envelope as the browser SDK writes it: each item has
// one line of header and one of payload.
func (r browserRequest) items() (types []string) {
	lines := strings.Split(r.Body, "\n")
	for i := 1; i < len(lines); i += 2 {
		var header struct{ Type string }
		if json.Unmarshal([]byte(lines[i]), &header) == nil {
			types = append(types, header.Type)
		}
	}
	return types
}

func sentItems(requests []browserRequest) (types []string) {
	for _, r := range requests {
		types = append(types, r.items()...)
	}
	return types
}

// untilLimit splits the traffic at the first response with a rate limit.
func (traffic browserTraffic) untilLimit() (before, rest []browserRequest) {
	i := slices.IndexFunc(traffic.Requests, func(r browserRequest) bool { return r.Answer.header("X-Sentry-Rate-Limits") != "" })
	if i < 0 {
		return traffic.Requests, nil
	}
	return traffic.Requests[:i], traffic.Requests[i:]
}
