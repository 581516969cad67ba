// SPDX-License-Identifier: Apache-2.0

package processor

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestSymbolicate: a chunk of the browser SDK gets the names of a source map that the directory has
// by its debug ID, also the first one after the start, which waits until the file is open.
func TestSymbolicate(t *testing.T) {
	const (
		debugID = "3f2b7c1e-8d4a-4e65-9b0c-73656e747279"
		app     = "../../../../symbolicateprocessor/internal/symbols/sourcemap/testdata/app/esbuild.js"
	)
	directory := t.TempDir()
	script, err := os.ReadFile(app)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "app.js"), append(script, "//# debugId="+debugID+"\n"...), 0o644))
	sourceMap, err := os.ReadFile(app + ".map")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(directory, "app.js.map"), sourceMap, 0o644))

	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers: {sentry: {endpoint: "ENDPOINT"}}
processors: {symbolicate: {store: {directory: "%s"}}}
exporters: {otlp_http: {endpoint: "%s", sending_queue: {enabled: false}}}
service: {pipelines: {profiles: {receivers: [sentry], processors: [symbolicate], exporters: [otlp_http]}}}
`, directory, backend.URL())})
	chunk := harness.Chunk{
		Platform: "javascript",
		Frames:   `{"function":"l","abs_path":"https://shop.example/app.js","lineno":1,"colno":39}`,
		More:     `"debug_meta":{"images":[{"type":"sourcemap","code_file":"https://shop.example/app.js","debug_id":"` + debugID + `"}]},`,
	}
	for range 2 {
		got := c.Send(t, chunk.Request())
		require.Equal(t, http.StatusOK, got.Status, got.Body)
		profiles, err := harness.DecodeProfiles(backend.OneProfile(t))
		require.NoError(t, err)
		require.Contains(t, dictionarytest.Dump(profiles), "discountOf basket.ts:8:17 system=l")
	}
}
