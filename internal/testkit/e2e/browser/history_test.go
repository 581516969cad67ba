// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBrowserViewerHistory: with a storage, the page shows the same lists and the same graph after
// a restart of the collector.
func TestBrowserViewerHistory(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	address := harness.FreeAddress(t)
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
	var counts struct {
		Profiles int `json:"profile_count"`
		Traces   int `json:"trace_count"`
	}
	show := func() (shown content) {
		traffic := b.run(t, "viewer-history.mjs", fmt.Sprintf("http://%s/?profiles=%d&traces=%d", address, counts.Profiles, counts.Traces))
		assert.Empty(t, traffic.Errors)
		require.NoError(t, json.Unmarshal(traffic.Result, &shown))
		return shown
	}
	c := harness.Start(t, settings)
	sendDemo(t, c)
	response, err := http.Get("http://" + address + "/api/overview")
	require.NoError(t, err)
	defer response.Body.Close()
	require.NoError(t, json.NewDecoder(response.Body).Decode(&counts))
	before := show()
	assert.Greater(t, len(before.Profiles), 30)
	assert.Greater(t, len(before.Traces), 30)
	assert.NotEmpty(t, before.Functions)
	c.Stop(t)
	harness.Start(t, settings)
	assert.Equal(t, before, show())
}
