// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/metadatatest"
)

var metricName = regexp.MustCompile(`\botelcol_\w+`)

// TestOperationsPage: every metric on docs/operations.md is in the metadata.yaml of the receiver,
// the processor or the tee, or in a scrape of a collector after some activity. The labels in alerts
// exist, and examples are valid YAML.
func TestOperationsPage(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "docs", "operations.md"))
	require.NoError(t, err)
	names := metricName.FindAllString(string(text), -1)
	require.Greater(t, len(names), 15)

	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Queue: true, Signals: harness.OtherSignals})
	c.Send(t, harness.Chunk{}.Request())
	c.Send(t, harness.EnvelopeRequest(nil))
	c.Send(t, harness.ItemRequest("transaction", `{"start_timestamp":1,"timestamp":2,"contexts":{"trace":`+
		`{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071"}}}`))
	scraped := c.Scrape(t)
	known := scrapedNames(scraped)
	require.True(t, known["otelcol_receiver_sentry_items"], "names are prefixed as the page has them")
	for _, component := range []string{"sentryreceiver", "profiletransformprocessor", "sentryteeextension"} {
		for _, name := range metadatatest.MetricNames(t, filepath.Join(golden.Root(t), component)) {
			known[name] = true
		}
	}
	for _, name := range names {
		assert.True(t, known[name], "%s is in docs/operations.md and nowhere else", name)
	}
	for _, p := range scraped {
		if p.Name == "otelcol_receiver_sentry_items" {
			for _, label := range []string{"outcome", "project", "sdk", "sdk_version", "type"} {
				assert.NotEmpty(t, p.Labels[label], label)
			}
		}
	}

	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllSubmatch(text, -1) {
		var parsed map[string]any
		require.NoError(t, yaml.Unmarshal(block[1], &parsed), "%s", block[1])
		if strings.Contains(string(block[1]), "dedup:") {
			again := harness.Start(t, harness.Settings{Sink: backend, Receiver: []string{"dedup: {max_ids: 100000, max_age: 24h}"}})
			r := harness.Chunk{}.Request()
			for range 2 {
				assert.Equal(t, http.StatusOK, again.Send(t, r).Status)
			}
			assert.Equal(t, 1, again.Scrape(t).Sum("otelcol_receiver_sentry_items", "reason=resent"), "what the page promises")
		}
	}
}

func scrapedNames(all harness.Metrics) map[string]bool {
	names := map[string]bool{}
	for _, p := range all {
		names[p.Name] = true
	}
	return names
}
