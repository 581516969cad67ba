// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
)

// recorded is a request that Sentry received.
type recorded = oracle.Wire

// recorder stands in for Sentry. By default, it accepts all requests.
type recorder struct {
	*httptest.Server
	answer func(w http.ResponseWriter, r *recorded)

	mu       sync.Mutex
	requests []recorded
}

func newRecorder(t *testing.T, answer func(http.ResponseWriter, *recorded)) *recorder {
	r := &recorder{answer: answer}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

func (r *recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the request was truncated
	}
	got := recorded{Method: req.Method, Target: req.RequestURI, Header: req.Header.Clone(), Body: string(body)}
	r.mu.Lock()
	r.requests = append(r.requests, got)
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(w, &got)
		return
	}
	_, _ = io.WriteString(w, "{}")
}

// take waits for n requests, and removes them from the recorder.
func (r *recorder) take(t *testing.T, n int) (taken []recorded) {
	t.Helper()
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.requests) < n {
			return false
		}
		taken, r.requests = r.requests, nil
		return true
	}, 30*time.Second, time.Millisecond, "%d requests", n)
	require.Len(t, taken, n)
	return taken
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// settings returns a configuration with a tee in front of the receiver. The exporter has no queue,
// so a response shows the result of the pipeline.
func settings(backend *harness.Sink, tee string) harness.Settings {
	return harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT, tunnel_path: /tunnel, middlewares: [{id: sentry_tee}]}
exporters:
  otlp_http: {endpoint: '%s', compression: none, retry_on_failure: {enabled: false}, sending_queue: {enabled: false}}
extensions:
  sentry_tee: {%s}
service:
  extensions: [sentry_tee]
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http]}
    traces: {receivers: [sentry], exporters: [otlp_http]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
    metrics: {receivers: [sentry], exporters: [otlp_http]}
`, backend.URL(), tee)}
}
