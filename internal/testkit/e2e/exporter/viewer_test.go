// SPDX-License-Identifier: Apache-2.0

package exporter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// viewerLists are the lists of the viewer. The content of a run is equal to that of the next one.
type viewerLists struct {
	Services     json.RawMessage
	Profiles     []map[string]any
	Traces       []map[string]any
	ProfileCount int `json:"profile_count"`
}

func lists(t *testing.T, viewer string) (out viewerLists) {
	t.Helper()
	response, err := http.Get("http://" + viewer + "/api/overview")
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.NoError(t, json.NewDecoder(response.Body).Decode(&out))
	return out
}

// TestViewerHistory: the viewer shows the data of the previous run, after a stop and after kill -9.
// A cleared store stays empty.
func TestViewerHistory(t *testing.T) {
	t.Parallel()
	viewer := harness.FreeAddress(t)
	settings := harness.Settings{Config: strings.NewReplacer("VIEWER", viewer, "DIRECTORY", t.TempDir()).Replace(`
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
`)}
	c := harness.Start(t, settings)
	sent := 0
	send := func() {
		for range 20 {
			payload := harness.Chunk{Samples: harness.TwoSamples}.Payload()
			require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("profile_chunk", payload)).Status)
			require.Equal(t, http.StatusOK, c.Send(t, harness.ItemRequest("transaction", fmt.Sprintf(`{"type":"transaction","transaction":"/cart",`+
				`"start_timestamp":%d,"timestamp":%[1]d.5,"contexts":{"trace":{"trace_id":%[2]q,"span_id":"1111111111111111"}}}`, time.Now().Unix()-1, harness.NewID()))).Status)
			sent++
		}
		require.Equal(t, sent, lists(t, viewer).ProfileCount)
	}
	restart := func(stop func()) {
		before := lists(t, viewer)
		stop()
		c = harness.Start(t, settings)
		require.Eventually(t, func() bool {
			return len(lists(t, viewer).Traces) == len(before.Traces) && lists(t, viewer).ProfileCount == before.ProfileCount
		},
			30*time.Second, 50*time.Millisecond)
		assert.Equal(t, before, lists(t, viewer))
	}
	send()
	restart(func() { c.Stop(t) })
	send()
	time.Sleep(time.Second) // what was written in the last moments before a kill is lost
	restart(func() { c.Kill() })
	send()

	response, err := http.Post("http://"+viewer+"/api/clear", "", nil)
	require.NoError(t, err)
	response.Body.Close()
	restart(func() { c.Stop(t) })
	assert.Empty(t, lists(t, viewer).Profiles)
}
