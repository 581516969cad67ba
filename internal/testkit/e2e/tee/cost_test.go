// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestCost logs the CPU time and the latency of recorded requests, with and without the tee. The
// sender keeps its connections open, as most SDKs do.
func TestCost(t *testing.T) {
	testsize.NeedFull(t)
	requests := golden.Corpus(t)
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) { _, _ = io.Copy(io.Discard, req.Body) }))
	t.Cleanup(upstream.Close)
	with := settings(harness.NewSink(t), "upstream: '"+upstream.URL+"'")
	without := with
	without.Config = strings.Replace(with.Config, ", middlewares: [{id: sentry_tee}]", "", 1)
	var cpu [2]time.Duration
	var latencies [2][]time.Duration
	collectors := [2]*harness.Collector{harness.Start(t, without), harness.Start(t, with)}
	const rounds = 5
	for round := range rounds + 1 { // the first round is a warm-up
		for i, c := range collectors {
			before := c.CPUTime(t)
			for _, r := range requests {
				if !strings.Contains(r.Path, "/api/") || len(r.Body) > 1<<20 {
					continue
				}
				began := time.Now()
				sendOnKept(t, c, r)
				if round > 0 {
					latencies[i] = append(latencies[i], time.Since(began))
				}
			}
			time.Sleep(200 * time.Millisecond) // until forwarded
			if round > 0 {
				cpu[i] += c.CPUTime(t) - before
			}
		}
	}
	p99 := func(all []time.Duration) time.Duration {
		slices.Sort(all)
		return all[len(all)*99/100]
	}
	n := time.Duration(len(latencies[0]))
	t.Logf("CPU per request: %s without, %s with a tee, ratio %.2f; p99: %s, %s; %d requests", cpu[0]/n, cpu[1]/n,
		float64(cpu[1])/float64(cpu[0]), p99(latencies[0]), p99(latencies[1]), n)
	require.Less(t, float64(cpu[1])/float64(cpu[0]), 1.5, "1.1 on an idle machine")
}

// sendOnKept sends a recorded request on an open connection.
func sendOnKept(t *testing.T, c *harness.Collector, r golden.Request) {
	target := r.Path
	if r.Query != "" {
		target += "?" + strings.TrimPrefix(r.Query, "?")
	}
	req, err := http.NewRequest(r.Method, "http://"+c.Address+target, strings.NewReader(string(r.Body)))
	require.NoError(t, err)
	for _, h := range r.Headers {
		if name := http.CanonicalHeaderKey(h[0]); !slices.Contains([]string{"Host", "Content-Length", "Connection", "Transfer-Encoding"}, name) {
			req.Header.Add(name, h[1])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	_, _ = io.Copy(io.Discard, resp.Body)
	require.NoError(t, resp.Body.Close())
}
