// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/symbols"
)

// TestV8 profiles a program and its minified build with node: with the source map, both have the same functions, with about the same shares.
func TestV8(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	text, err := os.ReadFile("testdata/work/work.min.js.map")
	require.NoError(t, err)
	m, err := Read(text)
	require.NoError(t, err)
	script, err := os.ReadFile("testdata/work/work.min.js")
	require.NoError(t, err)
	file := NewFile(m, string(script))

	want := shares(t, "work.js", func(f callFrame) string { return f.FunctionName })
	got := shares(t, "work.min.js", func(f callFrame) string {
		frames, status := file.Definition(nil, f.FunctionName, f.LineNumber+1, f.ColumnNumber+1)
		require.Equal(t, symbols.OK, status, "%+v", f)
		assert.Equal(t, "work.ts", frames[0].File)
		inColumn, _ := file.DefinitionInColumn(nil, f.FunctionName, f.ColumnNumber+1)
		assert.Equal(t, frames, inColumn)
		return frames[0].Function
	})
	t.Log("shares in percent:", want, "minified:", got)
	for name, share := range want {
		if share > 3 {
			assert.InDelta(t, share, got[name], max(10, share/2), "%s: the share in the minified build", name)
			assert.Positive(t, got[name], "%s is not in the minified build", name)
		}
	}
	for name, share := range got {
		if share > 3 {
			assert.Positive(t, want[name], "%s is only in the minified build", name)
		}
	}
}

// callFrame is a function in a profile of V8. Lines and columns count from 0.
type callFrame struct {
	FunctionName, URL        string
	LineNumber, ColumnNumber int64
}

// shares returns the percentage of samples by name of the running function.
func shares(t *testing.T, name string, nameOf func(callFrame) string) map[string]float64 {
	directory := t.TempDir()
	command := exec.Command("node", "--cpu-prof", "--cpu-prof-dir="+directory, filepath.Join("testdata/work", name))
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	paths, err := filepath.Glob(filepath.Join(directory, "*"))
	require.NoError(t, err)
	require.Len(t, paths, 1)
	text, err := os.ReadFile(paths[0])
	require.NoError(t, err)
	var profile struct {
		Nodes []struct {
			ID        int
			CallFrame callFrame
		}
		Samples []int
	}
	require.NoError(t, json.Unmarshal(text, &profile))
	nodes, counts, total := map[int]string{}, map[string]float64{}, 0.0
	for _, node := range profile.Nodes {
		if f := node.CallFrame; strings.HasSuffix(f.URL, "/"+name) && f.FunctionName != "" {
			nodes[node.ID] = nameOf(f)
		}
	}
	for _, sample := range profile.Samples {
		if function := nodes[sample]; function != "" {
			counts[function]++
			total++
		}
	}
	require.Greater(t, total, 50.0)
	for function := range counts {
		counts[function] = math.Round(1000*counts[function]/total) / 10
	}
	return counts
}
