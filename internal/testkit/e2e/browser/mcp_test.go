// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBrowserViewerMCP: an MCP client of others, the inspector's command line, answers "hottest
// function under span X" with the same result as the page shows for the span.
func TestBrowserViewerMCP(t *testing.T) {
	testsize.NeedFull(t)
	b, demo := findBrowser(t), demo.use(t)
	inspector := harness.File(t, "MCP inspector", filepath.Join(b.folder, "node_modules", ".bin", "mcp-inspector"), harness.Packages)
	t.Parallel()
	page := demo().page
	traffic := b.run(t, "viewer-mcp.mjs", page)
	assert.Empty(t, traffic.Errors)
	var spans []struct {
		Trace, Span, Name string
		Top               []topRow
	}
	require.NoError(t, json.Unmarshal(traffic.Result, &spans))
	require.GreaterOrEqual(t, len(spans), 3)

	call := func(out any, arguments ...string) {
		t.Helper()
		client := exec.CommandContext(t.Context(), inspector, append([]string{"--cli", page + "mcp", "--transport", "http", "--method"}, arguments...)...)
		text, err := client.Output()
		require.NoError(t, err, "%v", client.Args)
		require.NoError(t, json.Unmarshal(text, out), "%s", text)
	}
	var listed struct{ Tools []struct{ Name string } }
	call(&listed, "tools/list")
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	assert.Contains(t, names, "hottest_functions")

	for _, s := range spans {
		var result struct {
			StructuredContent struct {
				Total int64
				Top   []struct {
					Name        string
					Self, Total int64
				}
			}
		}
		call(&result, "tools/call", "--tool-name", "hottest_functions", "--tool-arg", "trace="+s.Trace, "span="+s.Span)
		answer := result.StructuredContent
		require.NotEmpty(t, answer.Top, s.Name)
		require.GreaterOrEqual(t, len(s.Top), min(len(answer.Top), 5))
		for i, row := range s.Top[:min(len(s.Top), 5)] {
			function := answer.Top[i]
			assert.Equal(t, row.Name, function.Name, s.Name)
			assert.InDelta(t, percent(t, row.Self), 100*float64(function.Self)/float64(answer.Total), 0.06, row.Name)
			assert.InDelta(t, percent(t, row.Total), 100*float64(function.Total)/float64(answer.Total), 0.06, row.Name)
		}
		t.Logf("%s: %s, %s", s.Name, s.Top[0].Name, strings.TrimSpace(s.Top[0].Self))
	}
}
