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

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// TestV8 profiles a program and its minified builds with node: with the source map, all have the
// same functions, with the same shares. The builds are those of the default settings for
// production:
//
//	esbuild work.ts --minify --sourcemap
//	terser work.js --module -c passes=2 -m toplevel=true --source-map
//	webpack --mode production --devtool source-map --target node --entry ./work.js
func TestV8(t *testing.T) {
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	want := counts{}
	for build, source := range map[string]string{"esbuild": "work.ts", "terser": "work.js", "webpack": "webpack://work/./work.js"} {
		t.Run(build, func(t *testing.T) {
			if !testsize.Full() && build != "esbuild" {
				t.Skip("runs node for seconds")
			}
			name := "work." + build + ".js"
			file := fileOf(t, name)
			got := counts{}
			var difference float64
			// Other processes delay samples: more runs even this out.
			for run := range maxRuns {
				if run > 0 || len(want) == 0 {
					want.run(t, "work.js", func(f callFrame) string { return f.FunctionName })
				}
				got.run(t, name, func(f callFrame) string {
					frames, status := file.Definition(nil, f.FunctionName, f.LineNumber+1, f.ColumnNumber+1)
					require.Equal(t, symbols.OK, status, "%+v", f)
					assert.Equal(t, source, frames[0].File)
					inColumn, _ := file.DefinitionInColumn(nil, f.FunctionName, f.ColumnNumber+1)
					assert.Equal(t, frames, inColumn)
					return frames[0].Function
				})
				if difference = want.difference(got); difference <= 5 {
					break
				}
			}
			t.Logf("largest difference %.1f points; plain: %v, minified: %v", difference, want, got)
			assert.LessOrEqual(t, difference, 5.0, "points")
			for name := range want {
				if want.share(name) > 3 {
					assert.Positive(t, got[name], "%s is not in the minified build", name)
				}
			}
		})
	}
}

// maxRuns is the maximum number of runs of each program.
const maxRuns = 5

func fileOf(t *testing.T, name string) *File {
	text, err := os.ReadFile("testdata/work/" + name + ".map")
	require.NoError(t, err)
	m, err := Read(text)
	require.NoError(t, err)
	script, err := os.ReadFile("testdata/work/" + name)
	require.NoError(t, err)
	return NewFile(m, string(script))
}

// counts has the number of samples by name of the running function.
type counts map[string]int

// share returns the percentage of the samples in a function.
func (c counts) share(name string) float64 {
	total := 0
	for _, n := range c {
		total += n
	}
	return 100 * float64(c[name]) / float64(max(total, 1))
}

// difference returns the largest difference of shares, in percentage points.
func (c counts) difference(other counts) (largest float64) {
	for _, names := range []counts{c, other} {
		for name := range names {
			largest = max(largest, math.Abs(c.share(name)-other.share(name)))
		}
	}
	return largest
}

// callFrame is a function in a profile of V8. Lines and columns count from 0.
type callFrame struct {
	FunctionName, URL        string
	LineNumber, ColumnNumber int64
}

// run adds the samples of a run of a program.
func (c counts) run(t *testing.T, name string, nameOf func(callFrame) string) {
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
	nodes, total := map[int]string{}, 0
	for _, node := range profile.Nodes {
		if f := node.CallFrame; strings.HasSuffix(f.URL, "/"+name) && f.FunctionName != "" {
			nodes[node.ID] = nameOf(f)
		}
	}
	for _, sample := range profile.Samples {
		if function := nodes[sample]; function != "" {
			c[function]++
			total++
		}
	}
	require.Greater(t, total, 50)
}
