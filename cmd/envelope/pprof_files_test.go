// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// pprofFiles has files of other tools; beside each is the output of go tool pprof.
const pprofFiles = "internal/profiles/pprof/testdata/foreign"

// negativePprof matches the files with negative values.
var negativePprof = regexp.MustCompile(`diff`)

// pprofPeriods has the files with numbers of samples only. If the period is a time, so are our
// weights.
var pprofPeriods = map[string]float64{"parca-node-libc-file-offset.pb.gz": 52631578}

// TestPprofFiles: every output has the total and the functions that go tool pprof shows of a file,
// or is rejected.
func TestPprofFiles(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(golden.Root(t), pprofFiles, "*.pb*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 15)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			top, err := os.ReadFile(strings.TrimSuffix(strings.TrimSuffix(file, ".gz"), ".pb") + ".top")
			require.NoError(t, err)
			if testsize.Full() {
				require.Equal(t, string(top), pprofTop(t, file, pprofUnit(string(top))))
			}
			want := topOf(t, string(top), cmp.Or(pprofPeriods[filepath.Base(file)], 1))
			for _, format := range []string{profilefile.Pprof, profilefile.OTLPJSON, profilefile.OTLPProto, profilefile.Collapsed, profilefile.Speedscope, profilefile.Firefox} {
				if format == profilefile.Pprof && !testsize.Full() {
					continue // read by the tool, a process
				}
				out, lost, exit := call(t, "", "convert", "--to", format, "--out", "-", file)
				if negativePprof.MatchString(file) && (format == profilefile.Collapsed || format == profilefile.Speedscope) {
					assert.Equal(t, 1, exit, format)
					assert.Contains(t, lost, "negative", format)
					assert.Empty(t, out, format)
					continue
				}
				require.Equal(t, 0, exit, "%s: %s", format, lost)
				got := contentOf(t, format, out, pprofUnit(string(top)))
				assert.InDeltaMapValues(t, want.Self, got.Self, 0.5, "self, %s", format)
				assert.InDeltaMapValues(t, want.Total, got.Total, 0.5, "total, %s", format)
			}
		})
	}
}

// pprofValues are the values of functions by name.
type pprofValues struct{ Self, Total map[string]float64 }

// pprofUnit returns the unit of the output of go tool pprof.
func pprofUnit(top string) string {
	if regexp.MustCompile(`\dB `).MatchString(top) {
		return "B"
	}
	return "ns"
}

// pprofTop returns all functions of a file, without the time zone and the name of the file.
func pprofTop(t *testing.T, file, unit string) string {
	output, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-trim=false",
		"-symbolize=none", "-functions", "-unit="+unit, file).Output()
	require.NoError(t, err)
	var kept []string
	for line := range strings.Lines(string(output)) {
		if !strings.HasPrefix(line, "Time: ") && !strings.HasPrefix(line, "File: ") && !strings.HasPrefix(line, "Build ID: ") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

var topColumns = regexp.MustCompile(`(?m)^ *(-?[\d.]+)(?:ns|B)? +-?[\d.e-]+% +-?[\d.e-]+% +(-?[\d.]+)(?:ns|B)? +-?[\d.e-]+% +(.+?)(?: \((?:partial-)?inline\))?$`)

// topOf returns the values in the output of go tool pprof.
func topOf(t *testing.T, top string, scale float64) pprofValues {
	out := pprofValues{map[string]float64{}, map[string]float64{}}
	for _, line := range topColumns.FindAllStringSubmatch(top, -1) {
		self, err := strconv.ParseFloat(line[1], 64)
		require.NoError(t, err)
		total, err := strconv.ParseFloat(line[2], 64)
		require.NoError(t, err)
		out.add(line[3], scale*self, scale*total)
	}
	require.NotEmpty(t, out.Total)
	return out
}

// add adds values of a function. Zeros do not count: a tool may omit them.
func (f pprofValues) add(name string, self, total float64) {
	for values, value := range map[*map[string]float64]float64{&f.Self: self, &f.Total: total} {
		if (*values)[name] += value; (*values)[name] == 0 {
			delete(*values, name)
		}
	}
}

// stack adds the value of a stack, root first.
func (f pprofValues) stack(names []string, value float64) {
	seen := map[string]bool{}
	for i, name := range names {
		name = binaryOf(name)
		if i == len(names)-1 {
			f.add(name, value, 0)
		}
		if !seen[name] {
			seen[name] = true
			f.add(name, 0, value)
		}
	}
}

var offsetName = regexp.MustCompile(`^(.+)\+0x[0-9a-f]+$`)

// binaryOf returns the name that pprof shows for code without a function: that of its binary.
func binaryOf(name string) string {
	if parts := offsetName.FindStringSubmatch(name); parts != nil {
		return "[" + parts[1] + "]"
	}
	if name == unknownName || strings.HasPrefix(name, "0x") {
		return "<unknown>"
	}
	return name
}

// unknownName is our name of code without a function, a binary and an address.
const unknownName = "(unknown)"

// contentOf returns the values in an output. Those of Go's tool and of simple formats are read
// without our readers.
func contentOf(t *testing.T, format, content, unit string) pprofValues {
	out := pprofValues{map[string]float64{}, map[string]float64{}}
	switch format {
	case profilefile.Pprof:
		return topOf(t, pprofTop(t, write(t, t.TempDir(), "out.pb.gz", content), unit), 1)
	case profilefile.Collapsed:
		for line := range strings.Lines(content) {
			at := strings.LastIndex(line, " ")
			value, err := strconv.ParseFloat(strings.TrimSpace(line[at:]), 64)
			require.NoError(t, err)
			out.stack(strings.Split(line[:at], ";"), value)
		}
	case profilefile.Speedscope:
		var file struct {
			Profiles []struct {
				Samples [][]int
				Weights []float64
			}
			Shared struct{ Frames []struct{ Name string } }
		}
		require.NoError(t, json.Unmarshal([]byte(content), &file))
		for _, p := range file.Profiles {
			for i, stack := range p.Samples {
				var names []string
				for _, frame := range stack {
					names = append(names, file.Shared.Frames[frame].Name)
				}
				out.stack(names, p.Weights[i])
			}
		}
	default:
		read, err := profilefile.Readers[format]([]byte(content), testOptions)
		require.NoError(t, err)
		message := read.Profiles[0]
		reader := timeline.NewReader(message.Dictionary())
		p := reader.Read(profilesOf(message)[0])
		for _, s := range p.Selected(timeline.Filter{}) {
			var names []string
			for _, location := range p.Stacks[s.Stack] {
				for _, line := range p.Locations[location].Lines {
					names = append([]string{p.Frames[line.Frame].Name}, names...)
				}
			}
			out.stack(names, float64(s.Weight))
		}
	}
	return out
}
