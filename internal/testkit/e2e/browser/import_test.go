// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// v8 is a profile of Node.js.
const v8 = `{"nodes":[{"id":1,"callFrame":{"functionName":"(root)","scriptId":"0","url":"","lineNumber":-1,"columnNumber":-1},"children":[2]},` +
	`{"id":2,"callFrame":{"functionName":"query","scriptId":"1","url":"file:///app/db.js","lineNumber":6,"columnNumber":9}}],` +
	`"startTime":1000,"endTime":31000,"samples":[2,2,2],"timeDeltas":[0,10000,10000]}`

// TestBrowserViewerImport drops a file of each format on the page.
func TestBrowserViewerImport(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	folder := t.TempDir()
	envelope := filepath.Join(golden.Root(t), "testdata/cases/cocoa-v1-native/in.envelope")
	content, err := os.ReadFile(envelope)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "sentry"), content, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "cpuprofile"), []byte(v8), 0o600))
	formats := []string{"collapsed", "firefox", "otlp-json", "otlp-proto", "pprof", "speedscope"}
	for _, format := range formats {
		convert := exec.Command("go", "run", "./cmd/envelope", "convert", "--to", format, "--out", filepath.Join(folder, format), envelope)
		convert.Dir = golden.Root(t)
		output, err := convert.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	_, page := startQuickstart(t)
	traffic := b.run(t, "viewer-import.mjs", page+"?files="+url.QueryEscape(folder))
	assert.Empty(t, traffic.Errors)
	assert.Empty(t, traffic.Requests, "nothing goes to other origins")
	var result struct {
		Imported           map[string]string
		Findings, Services []string
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &result))
	assert.Empty(t, result.Findings)
	for _, format := range append(formats, "sentry", "cpuprofile") {
		assert.Regexp(t, "(?s)"+format+": [1-9]\\d* profile", result.Imported[format], format)
	}
	assert.Regexp(t, "1 span,", result.Imported["sentry"])
	assert.Contains(t, result.Services, "cpuprofile", "the name of the file")
	t.Logf("%v", result.Imported)
}
