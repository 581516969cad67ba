// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

var (
	measure = flag.Bool("cost", false, "measure the cost of requests instead")
	rate    = flag.Float64("rate", 100, "requests per second")
)

const (
	turns    = 3
	maxBytes = 1 << 20 // a recorded request with more would be most of the cost of all
)

// TestCost sends the same recorded requests, with new IDs and current times, to Relay and to the
// collector, one after the other in turns. Relay normalizes and sends to a broker. The collector
// scrubs, translates to OTLP and sends it, compressed with zstd. Both write to memory of the test.
func TestCost(t *testing.T) {
	if !*measure {
		t.Skip("only for make bench-relay")
	}
	requests, size := freshRequests(t)
	t.Logf("%d requests, %.1f MB decoded, load average %s", len(requests), float64(size)/1e6, harness.LoadAverage())
	for turn := range turns {
		broker := startBroker(t, false)
		relay := startRelay(t, broker)
		t.Logf("turn %d, Relay:     %s", turn+1, costOf(t, relay.Collector, requests, size, broker.quiet))
		relay.Stop(t)
		sink := startDiscard(t)
		collector := harness.Start(t, harness.Settings{Config: strings.ReplaceAll(costConfig, "SINK", sink.url)})
		t.Logf("turn %d, collector: %s", turn+1, costOf(t, collector, requests, size, sink.quiet))
		collector.Stop(t)
	}
}

const costConfig = `
receivers:
  sentry: {endpoint: ENDPOINT}
exporters:
  otlp_http: {endpoint: SINK, compression: zstd, max_idle_conns_per_host: 20}
service:
  pipelines:
    profiles: {receivers: [sentry], exporters: [otlp_http]}
    traces: {receivers: [sentry], exporters: [otlp_http]}
    logs: {receivers: [sentry], exporters: [otlp_http]}
    metrics: {receivers: [sentry], exporters: [otlp_http]}
`

// costOf sends the requests once to warm up and once to measure, each at its scheduled time, and
// waits until nothing more is delivered.
func costOf(t *testing.T, server *harness.Collector, requests [][]byte, size int, quiet func() time.Duration) string {
	var cpu time.Duration
	var waits []time.Duration
	for range 2 {
		before := server.CPUTime(t)
		waits = sendAll(t, server, requests)
		for quiet() < 3*time.Second {
			time.Sleep(100 * time.Millisecond)
		}
		cpu = server.CPUTime(t) - before
	}
	wait := func(quantile float64) time.Duration {
		return waits[int(quantile*float64(len(waits)-1))].Round(10 * time.Microsecond)
	}
	return fmt.Sprintf("CPU %.3f ms per request and %.1f ms per MB, peak %d MiB, p50 %s, p99 %s",
		cpu.Seconds()*1e3/float64(len(requests)), cpu.Seconds()*1e9/float64(size), server.PeakMemory(), wait(0.5), wait(0.99))
}

func sendAll(t *testing.T, server *harness.Collector, requests [][]byte) (waits []time.Duration) {
	client := http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}, Timeout: time.Minute}
	defer client.CloseIdleConnections()
	url := fmt.Sprintf("http://%s/api/%d/envelope/?sentry_key=%s", server.Address, exported, harness.TestKey)
	var mu sync.Mutex
	var sending sync.WaitGroup
	begin := time.Now()
	for i, body := range requests {
		due := begin.Add(time.Duration(float64(i) / *rate * float64(time.Second)))
		time.Sleep(time.Until(due))
		sending.Go(func() {
			response, err := client.Post(url, "application/x-sentry-envelope", bytes.NewReader(body))
			wait := time.Since(due)
			mu.Lock()
			defer mu.Unlock()
			waits = append(waits, wait)
			if err != nil {
				t.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				t.Error(response.Status)
			}
		})
	}
	sending.Wait()
	slices.Sort(waits)
	return waits
}

// freshRequests returns the bodies that `envelope send` makes of the recordings, and their size.
func freshRequests(t *testing.T) (bodies [][]byte, size int) {
	var mu sync.Mutex
	recorder := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && strings.HasSuffix(r.URL.Path, "/envelope/") && r.Header.Get("Content-Encoding") == "" && len(body) <= maxBytes {
			bodies, size = append(bodies, body), size+len(body)
		}
	}))
	defer recorder.Close()
	root := golden.Root(t)
	archives, err := filepath.Glob(filepath.Join(root, "testdata", "corpus", "sentry", "*", "*.tar.zst"))
	require.NoError(t, err)
	dsn := fmt.Sprintf("%s/%d", strings.Replace(recorder.URL, "://", "://"+harness.TestKey+"@", 1), exported)
	output, err := exec.Command(filepath.Join(root, "dist", "envelope"), append([]string{"send", "--dsn", dsn}, archives...)...).CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NotEmpty(t, bodies)
	return bodies, size
}

// discard is a backend that accepts everything.
type discard struct {
	url  string
	last atomic.Int64 // time of the last message
}

func startDiscard(t *testing.T) *discard {
	d := &discard{}
	d.last.Store(time.Now().UnixNano())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		d.last.Store(time.Now().UnixNano())
		w.Header().Set("Content-Type", "application/x-protobuf")
	}))
	t.Cleanup(server.Close)
	d.url = server.URL
	return d
}

func (d *discard) quiet() time.Duration { return time.Since(time.Unix(0, d.last.Load())) }
