// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/replay"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// clientAddress is the address of SDKs. The collector has another one.
const clientAddress = "127.0.0.9"

// traceOf returns the trace of an item.
func traceOf(item *stored) any {
	if contexts, ok := item.body["contexts"].(map[string]any); ok {
		trace, _ := contexts["trace"].(map[string]any)
		return trace["trace_id"]
	}
	return item.body["trace_id"]
}

// setup is a collector between SDKs and Relay.
type setup struct {
	relay     *relay
	collector *harness.Collector
	otlp      string // address
}

func start(t *testing.T) *setup {
	s := &setup{relay: startRelay(t, startBroker(t, true)), otlp: harness.FreeAddress(t)}
	config := strings.NewReplacer("OTLP", s.otlp, "DSN", s.relay.dsn(exported), "SPANS", s.relay.dsn(spansOnly)).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT, tunnel_path: /tunnel, include_pii: true, scrubbing: off}
  otlp: {protocols: {http: {endpoint: 'OTLP'}}}
exporters:
  sentry_envelope:
    dsn: DSN
  sentry_envelope/spans:
    dsn: SPANS
    spans_as: spans
service:
  pipelines:
    profiles: {receivers: [sentry, otlp], exporters: [sentry_envelope]}
    traces: {receivers: [sentry, otlp], exporters: [sentry_envelope]}
    traces/spans: {receivers: [otlp], exporters: [sentry_envelope/spans]}
    logs: {receivers: [sentry, otlp], exporters: [sentry_envelope]}
    metrics: {receivers: [sentry, otlp], exporters: [sentry_envelope]}
`)
	s.collector = harness.Start(t, harness.Settings{Config: config})
	return s
}

// stored waits until the collector has sent everything, and returns what Relay stores of it.
func (s *setup) stored(t *testing.T) []stored {
	t.Helper()
	idle := 0
	require.Eventually(t, func() bool {
		if s.collector.Scrape(t).Sum("otelcol_exporter_queue_size") == 0 {
			idle++
		} else {
			idle = 0
		}
		return idle > 3
	}, 5*time.Minute, 500*time.Millisecond, "the queues are empty")
	metrics := s.collector.Scrape(t)
	items := metrics.Sum("otelcol_exporter_sentry_envelope_items")
	require.Equal(t, items, metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=sent"), "Relay accepts all requests")
	all := s.relay.stored(t)
	kinds := map[string]int{}
	for i := range all {
		kinds[all[i].kind]++
	}
	t.Logf("stored: %v", kinds)
	return all
}

// TestRecordings sends each recorded request to Relay and, through the collector, to another
// project.
func TestRecordings(t *testing.T) {
	s := start(t)
	client := net.ParseIP(clientAddress)
	corpus := golden.Corpus(t)
	var bodies [][]byte
	for _, recording := range corpus {
		bodies = append(bodies, recording.Decoded(t))
	}
	// Ingest has no use for times that are days old, and for sessions of that time.
	bodies = replay.Freshen(bodies, time.Now())
	for i, recording := range corpus {
		request := harness.RecordedRequest(recording)
		request.Body = bodies[i]
		request.Headers = slices.DeleteFunc(request.Headers, func(h [2]string) bool { return strings.EqualFold(h[0], "Content-Encoding") })
		if got, err := harness.SendFrom(client, s.collector.Address, request); assert.NoError(t, err) {
			assert.Equal(t, http.StatusOK, got.Status, "%s: %s", recording.Name, got.Body)
		}
		if strings.HasPrefix(request.Target, "/tunnel") { // Relay has no tunnel
			request.Target = "/api/4507/envelope/?sentry_key=" + straightKey + "&sentry_client=sentry.javascript.node%2F10.75.3"
		}
		if got, err := harness.SendFrom(client, s.relay.Address, request); assert.NoError(t, err) {
			assert.Equal(t, http.StatusOK, got.Status, "%s: %s", recording.Name, got.Body)
		}
	}
	all := s.stored(t)

	t.Run("nothing is refused", func(t *testing.T) {
		t.Logf("refused if sent straight: %v", slices.Sorted(maps.Keys(refused(all, straight))))
		for row, outcomes := range refused(all, exported) {
			assert.Fail(t, "ingest refuses data", "%s\n%d outcomes, such as %s", row, len(outcomes), outcomes[0])
		}
	})
	t.Run("client reports", func(t *testing.T) {
		assert.Equal(t, clientOutcomes(all, straight), clientOutcomes(all, exported))
	})
	t.Run("remarks", func(t *testing.T) {
		found, ofStraight := remarksOf(all, exported), remarksOf(all, straight)
		for row, items := range found {
			t.Logf("%s: %d items, sent straight %d", row, len(items), len(ofStraight[row]))
		}
		found.compare(t, "recordings_remarks.txt")
	})
	t.Run("sessions", func(t *testing.T) {
		want, total, users := sessions(all, straight), map[string]float64{}, 0
		for key, n := range want {
			t.Log(key, n)
			status := key[strings.LastIndexByte(key, ' ')+1:]
			if total[status] += n; status == "users" { // not kept: docs/mapping.md, "Sessions"
				delete(want, key)
				users++
			}
		}
		assert.Equal(t, want, sessions(all, exported))
		assert.EqualValues(t, 467, total["init"], "all sessions of the recordings are stored")
		assert.EqualValues(t, 29, total["crashed"])
		assert.NotZero(t, users)
	})
	t.Run("the collector is not the user", func(t *testing.T) {
		inferred := 0
		for i := range all {
			if item := &all[i]; item.project == exported && item.kind != "outcome" {
				assert.NotContains(t, item.raw, "otelcol", item.kind)
				if strings.Contains(item.raw, clientAddress) {
					inferred++
				}
			}
		}
		own := map[any]bool{} // traces in which a recorded program itself mentions this address
		for i := range all {
			if all[i].project == straight && strings.Contains(all[i].raw, "127.0.0.1") {
				own[traceOf(&all[i])] = true
			}
		}
		for i := range all {
			item := &all[i]
			if item.project != exported || own[traceOf(item)] {
				continue
			}
			for path, values := range fields(item.body) {
				if isAddress(path) {
					assert.NotContains(t, values, "127.0.0.1", "%s of %s %.200s", path, item.kind, item.raw)
				}
			}
		}
		t.Logf("the receiver inferred the address of %d items", inferred)
		assert.NotZero(t, inferred)
	})
	different := differences(all)
	t.Run("items", func(t *testing.T) {
		items := maps.Clone(different)
		maps.DeleteFunc(items, func(row string, _ []string) bool { return strings.Contains(row, "/") })
		items.compare(t, "recordings_items.txt")
	})
	for row, items := range different { // of fields, to review by hand
		t.Logf("stored otherwise: %s, %d items, such as %.300s", row, len(items), items[0])
	}
}
