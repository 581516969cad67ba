// SPDX-License-Identifier: Apache-2.0

package exporter

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// sentryOut is a configuration with Sentry as input and output. If storage is not empty, the queue
// is stored in that directory.
func sentryOut(server *fakesentry.Server, storage string) harness.Settings {
	config := `
receivers:
  sentry: {endpoint: ENDPOINT, keep_original_payload: true}
exporters:
  sentry_envelope:
    dsn: DSN
    retry_on_failure: {initial_interval: 10ms, max_interval: 50ms}
    sending_queue: {STORAGE}
EXTENSIONS
service:
  SERVICE
  pipelines:
    profiles: {receivers: [sentry], exporters: [sentry_envelope]}
    traces: {receivers: [sentry], exporters: [sentry_envelope]}
`
	persist := []string{"STORAGE", "", "EXTENSIONS", "", "SERVICE", ""}
	if storage != "" {
		persist = []string{
			"STORAGE", "storage: file_storage",
			"EXTENSIONS", "extensions:\n  file_storage: {directory: " + storage + "}",
			"SERVICE", "extensions: [file_storage]",
		}
	}
	return harness.Settings{Config: strings.NewReplacer(append(persist, "DSN", server.DSN())...).Replace(config)}
}

// TestSentryOut: data received with one DSN is sent with another, and chunks keep their bytes.
func TestSentryOut(t *testing.T) {
	server := fakesentry.Start(t)
	c := harness.Start(t, sentryOut(server, ""))
	payload := harness.Chunk{Samples: harness.TwoSamples}.Payload()
	require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("profile_chunk", payload)).Status)
	require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("transaction", `{"type":"transaction","transaction":"/cart",`+
		fmt.Sprintf(`"start_timestamp":%d,"timestamp":%[1]d.5,`, time.Now().Unix()-1)+ // an old one is sent as spans
		`"contexts":{"trace":{"trace_id":"`+harness.NewID()+`","span_id":"1111111111111111"}}}`)).Status)
	require.Eventually(t, func() bool { return len(server.Taken()) == 2 }, 30*time.Second, 10*time.Millisecond)

	for _, e := range server.Taken() {
		require.Len(t, e.Items, 1)
		switch item := e.Items[0]; item.Header.Type {
		case sentry.ItemProfileChunk:
			assert.Equal(t, payload, string(item.Payload))
			assert.Equal(t, "python", item.Header.Platform)
		case sentry.ItemTransaction:
			assert.Contains(t, string(item.Payload), `"/cart"`)
		default:
			t.Errorf("a %s", item.Header.Type)
		}
	}
	require.EventuallyWithT(t, func(t *assert.CollectT) { // the server accepts the item before it responds, and the exporter counts it afterwards
		metrics, err := c.TryScrape()
		assert.NoError(t, err)
		assert.Equal(t, 2, metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=sent"))
	}, 10*time.Second, 50*time.Millisecond)
	harness.CheckLog(t, c, harness.TestKey, fakesentry.PublicKey)
}

// items returns the number of items that a server has accepted.
func items(server *fakesentry.Server) (n int) {
	for _, e := range server.Taken() {
		n += len(e.Items)
	}
	return n
}

// TestSentryOutTakenByIngest: Sentry's ingest accepts all profiles, transactions and containers of
// the exporter, even for hostile input. Original payloads are disabled, because ingest may reject
// them, just as if the SDK had sent them.
func TestSentryOutTakenByIngest(t *testing.T) {
	for _, spansAs := range []string{"transactions", "spans"} {
		t.Run(spansAs, func(t *testing.T) {
			server := fakesentry.Start(t)
			set := sentryOut(server, "")
			set.Config = strings.NewReplacer(", keep_original_payload: true", "", "dsn:", "spans_as: "+spansAs+"\n    dsn:").Replace(set.Config) +
				"    logs: {receivers: [sentry], exporters: [sentry_envelope]}\n    metrics: {receivers: [sentry], exporters: [sentry_envelope]}\n"
			c := harness.Start(t, set)
			for _, written := range golden.Cases(t) {
				c.Send(t, harness.EnvelopeRequest([]byte(written.Read(t, "in.envelope"))))
			}
			idle := func() bool {
				metrics := c.Scrape(t)
				return metrics.Sum("otelcol_exporter_queue_size") == 0 &&
					metrics.Sum("otelcol_exporter_sentry_envelope_items", "outcome=sent") == items(server)
			}
			require.Eventually(t, func() bool { return len(server.Taken()) > 50 && idle() }, 30*time.Second, 100*time.Millisecond)
			kinds := map[sentry.ItemType]int{}
			for _, e := range server.Taken() {
				kind := e.Items[0].Header.Type
				kinds[kind]++
				switch kind {
				case sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemUserReport, sentry.ItemCheckIn, sentry.ItemSessions, sentry.ItemClientReport:
					continue // with the flaws that they had when they were received
				}
				assert.Empty(t, fakesentry.Verdict(e), "%s", e.Items[0].Payload)
			}
			assert.NotZero(t, kinds[sentry.ItemLog])
			assert.NotZero(t, kinds[sentry.ItemTraceMetric])
			t.Logf("taken: %v", kinds)
		})
	}
}

// TestSentryOutSurvivesKills: with a stored queue, every chunk that was answered with 200 reaches
// Sentry at least once, although the collector is killed repeatedly and Sentry often fails.
// Repeated chunks are identical.
func TestSentryOutSurvivesKills(t *testing.T) {
	t.Parallel()
	const (
		rounds       = 5
		chunksARound = 40
	)
	server := fakesentry.Start(t)
	random := rand.New(rand.NewPCG(1, 2))
	moods := []fakesentry.Answer{
		{}, {}, {}, {Status: 503}, {Status: 500}, {Reset: true}, {Reset: true, Taken: true}, {Delay: 20 * time.Millisecond},
		{Status: 429, Header: map[string]string{"X-Sentry-Rate-Limits": "1:profile_chunk:key:quota"}},
	}
	server.Answer(func(r *fakesentry.Request) fakesentry.Answer { return moods[r.Number%len(moods)] })
	set := sentryOut(server, t.TempDir())

	acknowledged := map[string]bool{}
	for range rounds {
		c := harness.Start(t, set)
		for range chunksARound {
			id := harness.NewID()
			if c.Send(t, harness.Chunk{ID: id, Samples: harness.TwoSamples}.Request()).Status == http.StatusOK {
				acknowledged[id] = true
			}
		}
		time.Sleep(time.Duration(random.IntN(100)) * time.Millisecond)
		c.Kill()
	}
	server.Answer(nil)
	harness.Start(t, set)

	var seen map[string][]string
	arrived := func() bool {
		seen = chunksByID(t, server.Taken())
		for id := range acknowledged {
			if len(seen[id]) == 0 {
				return false
			}
		}
		return true
	}
	require.Eventually(t, arrived, 30*time.Second, 50*time.Millisecond)
	duplicates := 0
	for id, payloads := range seen {
		require.True(t, acknowledged[id])
		duplicates += len(payloads) - 1
		for _, payload := range payloads {
			require.Equal(t, payloads[0], payload)
		}
	}
	require.Len(t, acknowledged, rounds*chunksARound)
	t.Logf("%d chunks acknowledged over %d kills, %d arrived, %d of them again with the same id and bytes; %d requests",
		len(acknowledged), rounds, len(seen), duplicates, len(server.Requests()))
}

// TestHeldEventSurvivesKill: the event of a Go log record waits for the event of its span. If the
// collector is killed in the meantime, it is sent once, after the restart.
func TestHeldEventSurvivesKill(t *testing.T) {
	t.Parallel()
	server, otlp := fakesentry.Start(t), harness.FreeAddress(t)
	set := sentryOut(server, t.TempDir())
	set.Config = strings.Replace(set.Config, "receivers:\n", "receivers:\n  otlp: {protocols: {http: {endpoint: '"+otlp+"'}}}\n", 1) +
		"    logs: {receivers: [otlp], exporters: [sentry_envelope]}\n"
	count := func(kind sentry.ItemType) (n int) {
		for _, e := range server.Taken() {
			for i := range e.Items {
				if e.Items[i].Header.Type == kind {
					n++
				}
			}
		}
		return n
	}
	c := harness.Start(t, set)
	response, err := harness.SendTo(otlp, harness.Request{
		Target: harness.LogsPath, Headers: [][2]string{{"Content-Type", "application/json"}},
		Body: fmt.Appendf(nil, `{"resourceLogs":[{"resource":{"attributes":[{"key":"telemetry.sdk.language","value":{"stringValue":"go"}}]},`+
			`"scopeLogs":[{"logRecords":[{"timeUnixNano":"%d","traceId":"%s","spanId":"1111111111111111","body":{"stringValue":"cannot pay"},`+
			`"attributes":[{"key":"exception.message","value":{"stringValue":"card declined"}}]}]}]}]}`, time.Now().UnixNano(), harness.NewID()),
	})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.Status)
	require.Eventually(t, func() bool { return count(sentry.ItemLog) == 1 }, 5*time.Second, 10*time.Millisecond)
	require.Zero(t, count(sentry.ItemEvent), "the event waits")
	c.Kill()

	c = harness.Start(t, set)
	require.Eventually(t, func() bool { return count(sentry.ItemEvent) > 0 }, 30*time.Second, 50*time.Millisecond)
	c.Stop(t)
	require.Equal(t, 1, count(sentry.ItemEvent))
}

// TestSentryOutRefusedForever: Sentry always refuses as many chunks as the queue has consumers;
// retries wait as with default settings. Another chunk arrives within seconds, even after a restart
// with the refused chunks in the storage.
func TestSentryOutRefusedForever(t *testing.T) {
	server := fakesentry.Start(t)
	var mu sync.Mutex
	refused := map[string]bool{}
	server.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		mu.Lock()
		defer mu.Unlock()
		for id := range chunksByID(t, []*sentry.Envelope{r.Envelope}) {
			if refused[id] {
				return fakesentry.Answer{Status: http.StatusInternalServerError}
			}
		}
		return fakesentry.Answer{}
	})
	set := sentryOut(server, t.TempDir())
	set.Config = strings.ReplaceAll(set.Config, "    retry_on_failure: {initial_interval: 10ms, max_interval: 50ms}\n", "")
	for restart := range 2 {
		c := harness.Start(t, set)
		other := harness.NewID()
		arrived := func() bool { // after the restart, the first one may arrive again
			_, taken := chunksByID(t, server.Taken())[other]
			return taken
		}
		for range 10 * (1 - restart) {
			id := harness.NewID()
			mu.Lock()
			refused[id] = true
			mu.Unlock()
			require.Equal(t, http.StatusOK, c.Send(t, harness.Chunk{ID: id, Samples: harness.TwoSamples}.Request()).Status)
		}
		begin := time.Now()
		require.Equal(t, http.StatusOK, c.Send(t, harness.Chunk{ID: other, Samples: harness.TwoSamples}.Request()).Status)
		require.Eventually(t, arrived, 30*time.Second, 10*time.Millisecond)
		t.Logf("the other chunk arrived after %s", time.Since(begin))
		c.Kill()
	}
}

func chunksByID(t *testing.T, envelopes []*sentry.Envelope) map[string][]string {
	byID := map[string][]string{}
	for _, e := range envelopes {
		if e.Items[0].Header.Type != sentry.ItemProfileChunk {
			continue // the exporter's probe, an empty client report
		}
		var c struct {
			ChunkID string `json:"chunk_id"`
		}
		require.NoError(t, json.Unmarshal(e.Items[0].Payload, &c), fmt.Sprint(e))
		byID[c.ChunkID] = append(byID[c.ChunkID], string(e.Items[0].Payload))
	}
	return byID
}
