// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestStartAndStopInLog: at the start, each component says once where it listens and where its data
// goes. At a stop, requests in a storage are not logged as lost, and they are still there.
func TestStartAndStopInLog(t *testing.T) {
	settings := harness.Settings{Config: strings.NewReplacer("STORAGE", t.TempDir(), "SYMBOLS", t.TempDir()).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
  measure: {endpoint: "localhost:0", apps: [{api_key: k, config: {trace_sampling_rate: 0.2}}]}
processors:
  profile_transform: {}
  symbolicate: {store: {directory: "SYMBOLS"}}
exporters:
  sentry_envelope: {dsn: "https://hunter2@127.0.0.1:1/42", sending_queue: {storage: file_storage}}
  profile_viewer: {endpoint: "localhost:0"}
extensions:
  file_storage: {directory: "STORAGE"}
  sentry_tee: {upstream: "http://127.0.0.1:1", storage: file_storage}
service:
  extensions: [file_storage, sentry_tee]
  pipelines:
    profiles: {receivers: [sentry, measure], processors: [symbolicate, profile_transform], exporters: [sentry_envelope, profile_viewer]}
    traces: {receivers: [sentry, measure], processors: [profile_transform], exporters: [sentry_envelope, profile_viewer]}
    logs: {receivers: [sentry, measure], processors: [symbolicate], exporters: [sentry_envelope, profile_viewer]}
    metrics: {receivers: [sentry, measure], exporters: [sentry_envelope, profile_viewer]}
`)}
	c := harness.Start(t, settings)
	for line, facts := range map[string][]string{
		"Listening for Sentry SDKs":     {c.Address, `["profiles", "traces", "logs", "metrics"]`},
		"Listening for Measure SDKs":    {"127.0.0.1:"},
		"Processing profiles":           {"30s", "in memory"},
		"Reading symbol files":          {"hold"},
		"Sending to Sentry":             {"127.0.0.1:1/42", "in file_storage"},
		"Serving the viewer":            {"http://localhost:"},
		"Forwarding requests to Sentry": {"127.0.0.1:1", "in file_storage"},
		"A sampling rate is below one":  {"apps[0]::config::trace_sampling_rate", "0.2"},
	} {
		lines := linesWith(c, line)
		if assert.Len(t, lines, 1, line) {
			for _, fact := range facts {
				assert.Contains(t, lines[0], fact)
			}
		}
	}

	envelope, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata/cases/event-python/in.envelope"))
	require.NoError(t, err)
	require.Equal(t, 200, c.Send(t, harness.EnvelopeRequest(envelope)).Status)
	failed := func() bool { return len(linesWith(c, "Exporting failed. Will retry")) > 0 }
	require.Eventually(t, failed, time.Minute, 10*time.Millisecond)
	c.Stop(t)
	assert.Empty(t, linesWith(c, "Dropping data"))
	assert.NotEmpty(t, linesWith(c, "Requests remain in the storage"))
	harness.CheckLog(t, c, "hunter2")

	again := harness.Start(t, settings)
	retried := func() bool { return len(linesWith(again, "Exporting failed. Will retry")) > 0 }
	require.Eventually(t, retried, time.Minute, 10*time.Millisecond, "the stored request")
}

func linesWith(c *harness.Collector, text string) (lines []string) {
	for line := range strings.SplitSeq(c.Log.String(), "\n") {
		if strings.Contains(line, text) {
			lines = append(lines, line)
		}
	}
	return lines
}
