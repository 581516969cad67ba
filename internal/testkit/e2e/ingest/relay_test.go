// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// Projects that Relay knows. One gets requests as SDKs send them, with the DSN of the recordings;
// the other ones get requests of the collector.
var projects = map[string]int{
	straightKey:                        straight,
	harness.TestKey:                    exported,
	"fedcba9876543210fedcba9876543210": spansOnly,
}

const (
	straight    = 4507
	straightKey = "8f3d1c0a9b7e4d52a1c6f0e3b2d49871"
	exported    = 42
	spansOnly   = 43 // spans_as: spans
)

// relay is a running Relay in processing mode. It has the health endpoint of the collector, which
// has Relay's.
type relay struct {
	*harness.Collector
	broker *broker
}

// startRelay starts the program that RELAY names, with its defaults except the addresses. Its
// metrics are flushed after a second instead of ten.
func startRelay(t *testing.T, broker *broker) *relay {
	program := os.Getenv("RELAY")
	if program == "" {
		harness.Missing(t, "relay", "make relay-ingest RELAY=/path/to/relay, with the feature `processing`")
	}
	program = harness.File(t, "relay", program, "RELAY does not name it")
	address, redis, upstream, folder := harness.FreeAddress(t), startRedis(t), startUpstream(t), t.TempDir()
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "config.yml"), fmt.Appendf(nil, `
relay: {mode: managed, upstream: %q, host: %s, port: %s}
logging: {level: warn, format: simplified}
sentry: {enabled: false}
normalization: {level: full}
outcomes: {emit_outcomes: true}
aggregator: {bucket_interval: 1, initial_delay: 0}
limits: {shutdown_timeout: 1}
processing:
  enabled: true
  redis: redis://%s
  kafka_config:
    - {name: bootstrap.servers, value: %q}
    - {name: message.max.bytes, value: "200000000"}
`, upstream, host, port, redis, broker.address()), 0o600))
	output, err := exec.Command(program, "-c", folder, "credentials", "generate").CombinedOutput()
	require.NoError(t, err, "%s", output)
	r := &relay{harness.StartCommand(t, exec.Command(program, "-c", folder, "run"), address), broker}
	require.NoError(t, r.WaitReady())
	return r
}

// dsn returns the DSN of a project.
func (r *relay) dsn(project int) string {
	for key, id := range projects {
		if id == project {
			return fmt.Sprintf("http://%s@%s/%d", key, r.Address, project)
		}
	}
	panic("no such project")
}

// stored returns all that Relay has sent to the topics since the last call. Relay responds before
// it processes a request.
func (r *relay) stored(t *testing.T) []stored {
	const settled = 10 * time.Second
	for deadline := time.Now().Add(10 * time.Minute); r.broker.quiet() < settled; time.Sleep(100 * time.Millisecond) {
		require.True(t, time.Now().Before(deadline), "Relay goes on sending")
	}
	var all []stored
	for _, record := range r.broker.take() {
		item, err := readStored(record)
		if assert.NoError(t, err, "a record of %s", record.topic) && item.kind != "" {
			all = append(all, item)
		}
	}
	return all
}

// startRedis starts a server without persistence and returns its address.
func startRedis(t *testing.T) string {
	program := harness.Tool(t, "redis-server", harness.Debian+"redis-server")
	address := harness.FreeAddress(t)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.Command(program, "--bind", host, "--port", port, "--save", "", "--appendonly", "no", "--dir", t.TempDir())
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	require.Eventually(t, func() bool {
		connection, err := net.Dial("tcp", address)
		if err == nil {
			connection.Close()
		}
		return err == nil
	}, time.Minute, 20*time.Millisecond, "Redis is ready")
	return address
}

// startUpstream starts the parts of Sentry's API that Relay needs, and returns its URL
// (relay-server/src/services/upstream.rs, services/projects/source/upstream.rs).
func startUpstream(t *testing.T) string {
	mux := http.NewServeMux()
	answer := func(w http.ResponseWriter, value any) {
		w.Header().Set("Content-Type", "application/json")
		assert.NoError(t, json.NewEncoder(w).Encode(value))
	}
	register := func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			ID string `json:"relay_id"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		answer(w, map[string]any{"relay_id": body.ID, "token": "token"})
	}
	mux.HandleFunc("POST /api/0/relays/register/challenge/", register)
	mux.HandleFunc("POST /api/0/relays/register/response/", register)
	mux.HandleFunc("GET /api/0/relays/live/", func(w http.ResponseWriter, _ *http.Request) { answer(w, map[string]any{"is_healthy": true}) })
	mux.HandleFunc("POST /api/0/relays/projectconfigs/", func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Keys   []string `json:"publicKeys"`
			Global bool     `json:"global"`
		}
		assert.NoError(t, json.NewDecoder(r.Body).Decode(&body))
		configs := map[string]any{}
		for _, key := range body.Keys {
			configs[key] = projectConfig(key)
		}
		result := map[string]any{"configs": configs, "pending": []string{}, "unchanged": []string{}}
		if body.Global {
			result["global"], result["global_status"] = globalConfig(), "ready"
		}
		answer(w, result)
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		assert.Fail(t, "request of Relay", "%s %s", r.Method, r.URL)
		http.NotFound(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// projectConfig returns a project with all features for the types of items that SDKs send, without
// scrubbing, which would hide other remarks.
func projectConfig(key string) any {
	id, known := projects[key]
	if !known {
		return nil
	}
	now := time.Now().UTC().Format(time.RFC3339)
	return map[string]any{
		"projectId": id, "organizationId": 1, "slug": "shop", "disabled": false, "rev": "1", "lastFetch": now, "lastChange": now,
		"publicKeys": []any{map[string]any{"publicKey": key, "numericId": id, "isEnabled": true}},
		"config": map[string]any{
			"allowedDomains": []string{"*"},
			"features": []string{
				"organizations:continuous-profiling", "organizations:ourlogs-ingestion", "organizations:session-replay",
				"organizations:tracemetrics-ingestion",
			},
		},
	}
}

// builtin are the measurements that do not count as custom ones
// (https://docs.sentry.io/platform-redirect/?next=/tracing/instrumentation/performance-metrics/).
const builtin = "app_start_cold millisecond, app_start_warm millisecond, cls none, fcp millisecond, fid millisecond, fp millisecond, " +
	"frames_frozen none, frames_frozen_rate ratio, frames_slow none, frames_slow_rate ratio, frames_total none, inp millisecond, " +
	"lcp millisecond, stall_count none, stall_longest_time millisecond, stall_percentage ratio, stall_total_time millisecond, " +
	"time_to_full_display millisecond, time_to_initial_display millisecond, ttfb millisecond, ttfb.requesttime millisecond"

func globalConfig() any {
	var measurements []any
	for measurement := range strings.SplitSeq(builtin, ", ") {
		name, unit, _ := strings.Cut(measurement, " ")
		measurements = append(measurements, map[string]any{"name": name, "unit": unit})
	}
	return map[string]any{"measurements": map[string]any{"builtinMeasurements": measurements, "maxCustomMeasurements": 10}, "options": map[string]any{}}
}
