// SPDX-License-Identifier: Apache-2.0

package sourcemap

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// programs are a program and its minified builds, with the source in their maps. The builds are
// those of the default settings for production:
//
//	esbuild work.ts --minify --sourcemap
//	terser work.js --module -c passes=2 -m toplevel=true --source-map
//	webpack --mode production --devtool source-map --target node --entry ./work.js
var programs = map[string]string{"esbuild": "work.ts", "terser": "work.js", "webpack": "webpack://work/./work.js"}

// TestRecordedV8 compares profiles of node, of a program and its minified builds: with the source
// map, all have the same functions, with the same shares. To record the profiles again:
//
//	go test -run TestRecordedV8 -record
func TestRecordedV8(t *testing.T) {
	want := counts{}
	for _, f := range recordedProfile(t, "work.js") {
		want[f.FunctionName] += f.Samples
	}
	for build := range programs {
		t.Run(build, func(t *testing.T) {
			name := "work." + build + ".js"
			nameOf, got := originalNames(t, build), counts{}
			for _, f := range recordedProfile(t, name) {
				got[nameOf(f.callFrame)] += f.Samples
			}
			difference := want.difference(got)
			t.Logf("largest difference %.1f points; plain: %v, minified: %v", difference, want, got)
			assert.LessOrEqual(t, difference, 5.0, "points")
			assert.Empty(t, want.missing(got), "not in the minified build")
		})
	}
}

// TestV8 runs the minified builds with the installed node. Their functions are those of the
// recorded program; how often node samples them depends on what else the machine does.
func TestV8(t *testing.T) {
	testsize.NeedFull(t)
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("needs node")
	}
	want := counts{}
	for _, f := range recordedProfile(t, "work.js") {
		want[f.FunctionName] += f.Samples
	}
	for build := range programs {
		t.Run(build, func(t *testing.T) {
			t.Parallel()
			name := "work." + build + ".js"
			nameOf, got := originalNames(t, build), counts{}
			// A busy machine may leave out a function in one run.
			for range maxRuns {
				for _, f := range run(t, name) {
					function := nameOf(f.callFrame)
					require.Contains(t, want, function)
					got[function] += f.Samples
				}
				if len(want.missing(got)) == 0 {
					break
				}
			}
			assert.Empty(t, want.missing(got), "not in the minified build")
		})
	}
}

// maxRuns is the maximum number of runs of each program.
const maxRuns = 5

// originalNames returns a function that looks up functions of a build.
func originalNames(t *testing.T, build string) func(callFrame) string {
	file := fileOf(t, "work."+build+".js")
	return func(f callFrame) string {
		frames, status := file.Definition(nil, f.FunctionName, f.LineNumber+1, f.ColumnNumber+1)
		require.Equal(t, symbols.OK, status, "%+v", f)
		assert.Equal(t, programs[build], frames[0].File)
		inColumn, _ := file.DefinitionInColumn(nil, f.FunctionName, f.ColumnNumber+1)
		assert.Equal(t, frames, inColumn)
		return frames[0].Function
	}
}

func fileOf(t *testing.T, name string) *File {
	text, err := os.ReadFile("testdata/work/" + name + ".map")
	require.NoError(t, err)
	script, err := os.ReadFile("testdata/work/" + name)
	require.NoError(t, err)
	f, _, err := open(text, string(script))
	require.NoError(t, err)
	return f
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

// missing returns the functions with a part of the time that another profile does not have.
func (c counts) missing(other counts) (names []string) {
	for name := range c {
		if c.share(name) > 3 && other[name] == 0 {
			names = append(names, name)
		}
	}
	return names
}

// callFrame is a function in a profile of V8. Lines and columns count from 0.
type callFrame struct {
	FunctionName string `json:"functionName"`
	LineNumber   int64  `json:"lineNumber"`
	ColumnNumber int64  `json:"columnNumber"`
}

// sampledFunction is a function of a program, with the number of samples in it.
type sampledFunction struct {
	callFrame

	Samples int `json:"samples"`
}

// recordedProfile reads the recorded profile of a program.
func recordedProfile(t *testing.T, name string) (functions []sampledFunction) {
	path := "testdata/work/" + name + ".profile.json"
	if *record {
		text, err := json.MarshalIndent(run(t, name), "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(path, append(text, '\n'), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &functions))
	return functions
}

// run profiles a program with node.
func run(t *testing.T, name string) (functions []sampledFunction) {
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
			CallFrame struct {
				callFrame

				URL string
			}
		}
		Samples []int
	}
	require.NoError(t, json.Unmarshal(text, &profile))
	nodes, samples := map[int]callFrame{}, map[callFrame]int{}
	for _, node := range profile.Nodes {
		if f := node.CallFrame; strings.HasSuffix(f.URL, "/"+name) && f.FunctionName != "" {
			nodes[node.ID] = f.callFrame
		}
	}
	for _, sample := range profile.Samples {
		if f, ok := nodes[sample]; ok {
			samples[f]++
		}
	}
	for f, n := range samples {
		functions = append(functions, sampledFunction{f, n})
	}
	slices.SortFunc(functions, func(a, b sampledFunction) int { return b.Samples - a.Samples })
	return functions
}
