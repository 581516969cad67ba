// SPDX-License-Identifier: Apache-2.0

package exporter

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestRefusalOfOneExporter: an exporter that cannot use an event counts its loss. The client
// receives no error, because the other exporter accepts the event.
func TestRefusalOfOneExporter(t *testing.T) {
	server, backend := fakesentry.Start(t), harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Config: strings.NewReplacer("DSN", server.DSN(), "BACKEND", backend.URL()).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT}
exporters:
  sentry_envelope:
    dsn: DSN
  otlp_http: {endpoint: "BACKEND", sending_queue: {enabled: false}}
service:
  pipelines:
    logs: {receivers: [sentry], exporters: [sentry_envelope, otlp_http]}
`)})
	sizes := []struct {
		bytes int
		sent  bool // to Sentry, which accepts 1 MiB
	}{{900_000, true}, {1_000_001, true}, {1 << 20, true}, {1<<20 + 1, false}, {1_500_000, false}}
	sent := 0
	for i, size := range sizes {
		response := c.Send(t, harness.ItemRequest("event", eventOfSize(size.bytes)))
		assert.Equal(t, http.StatusOK, response.Status, "%d bytes: %s", size.bytes, response.Body)
		if size.sent {
			sent++
		}
		require.Eventually(t, func() bool { return len(server.Taken()) == sent }, 30*time.Second, 10*time.Millisecond, "%d bytes", size.bytes)
		assert.Equal(t, i+1, backend.Count("/v1/logs"), "%d bytes", size.bytes)
	}
	for _, envelope := range server.Taken() {
		assert.Empty(t, fakesentry.Verdict(envelope))
	}
	assert.Equal(t, len(sizes)-sent, c.Scrape(t).Sum("otelcol_exporter_sentry_envelope_log_records_discarded", "reason=item_too_large"))
	assert.Contains(t, c.Log.String(), "1048576 bytes", "the limit")
}

// eventOfSize returns an event that the exporter writes with the same number of bytes.
func eventOfSize(size int) string {
	const format = `{"event_id":%q,"timestamp":1795755600.25,"level":"info","platform":"python","logentry":{"formatted":"large"},"extra":{"text":"%s"},"sdk":{"name":"sentry.python","version":"2.68.0","settings":{"infer_ip":"never"}}}`
	id := harness.NewID()
	return fmt.Sprintf(format, id, strings.Repeat("x", size-len(fmt.Sprintf(format, id, ""))))
}
