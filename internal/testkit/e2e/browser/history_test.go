// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestBrowserViewerHistory: with a storage, the page shows the same lists and the same graph after
// a restart of the collector.
func TestBrowserViewerHistory(t *testing.T) {
	b, address := findBrowser(t), harness.FreeAddress(t)
	settings := harness.Settings{Config: strings.NewReplacer("VIEWER", address, "DIRECTORY", t.TempDir()).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT}
exporters:
  profile_viewer: {endpoint: VIEWER, storage: file_storage}
extensions:
  file_storage: {directory: DIRECTORY}
service:
  extensions: [file_storage]
  pipelines:
    profiles: {receivers: [sentry], exporters: [profile_viewer]}
    traces: {receivers: [sentry], exporters: [profile_viewer]}
    logs: {receivers: [sentry], exporters: [profile_viewer]}
    metrics: {receivers: [sentry], exporters: [profile_viewer]}
`)}
	type content struct {
		Profiles, Traces, Functions []string
		Total                       string
	}
	show := func() (shown content) {
		traffic := b.run(t, "viewer-history.mjs", "http://"+address+"/")
		assert.Empty(t, traffic.Errors)
		require.NoError(t, json.Unmarshal(traffic.Result, &shown))
		return shown
	}
	c := harness.Start(t, settings)
	sendDemo(t, c)
	before := show()
	assert.Greater(t, len(before.Profiles), 30)
	assert.Greater(t, len(before.Traces), 30)
	assert.NotEmpty(t, before.Functions)
	c.Stop(t)
	harness.Start(t, settings)
	assert.Equal(t, before, show())
}
