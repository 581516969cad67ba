// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestSpeedscopeReads: speedscope shows the same times for each function, in all formats that it
// imports.
func TestSpeedscopeReads(t *testing.T) {
	page, folder, want := newSpeedscope(t), t.TempDir(), map[string]functionTimes{}
	for name, message := range judged(t) {
		for format, times := range map[string]functionTimes{
			profilefile.Speedscope: timesIn(message),
			profilefile.Collapsed:  timesIn(message),
			profilefile.Pprof:      timesOf(message, outermost), // speedscope omits inlined functions
		} {
			file := name + "." + format
			write(t, folder, file, written(t, format, "", message))
			want[file] = times
		}
	}
	read := page.read(t, folder)
	require.Len(t, read, len(want))
	for file, got := range read {
		assert.InDeltaMapValues(t, want[file].Self, got.Self, 1, file)
		assert.InDeltaMapValues(t, want[file].Total, got.Total, 1, file)
	}
}

// outermost returns the line of the function that contains the inlined ones.
func outermost(lines []timeline.Line) []timeline.Line { return lines[max(len(lines)-1, 0):] }

// TestCPUProfile: conversions of V8's own recordings, from Chromium and Node.js, have V8's number
// of samples for each function, and speedscope shows the times of the original.
func TestCPUProfile(t *testing.T) {
	page, folder := newSpeedscope(t), t.TempDir()
	recorded := map[string][]byte{"chromium": page.drive(t, "record.mjs", "about:blank", ""), "node": recordNode(t, page.node)}
	counts := map[string]map[string]int64{}
	for name, text := range recorded {
		content, err := profilefile.Readers[profilefile.CPUProfile](text, testOptions)
		require.NoError(t, err)
		assert.Empty(t, content.Losses)
		counts[name] = observations(content.Profiles[0])
		assert.Equal(t, hitsIn(t, text), counts[name], name)
		write(t, folder, name+".cpuprofile", string(text))
		write(t, folder, name+".speedscope", written(t, profilefile.Speedscope, "", content.Profiles[0]))
	}
	read := page.read(t, folder)
	for name := range recorded {
		before, after := read[name+".cpuprofile"].Self, read[name+".speedscope"].Self
		require.NotEmpty(t, counts[name], name)
		for function := range counts[name] {
			assert.InDelta(t, before[function]*1000, after[function], 1000, "%s: %s", name, function) // microseconds
		}
	}
}

// recordNode returns a .cpuprofile of Node.js.
func recordNode(t *testing.T, node string) []byte {
	folder := t.TempDir()
	record := exec.Command(node, "--cpu-prof", "--cpu-prof-dir="+folder, "--cpu-prof-name=recorded", "-e", `
		const { createHash } = require("node:crypto");
		for (const end = Date.now() + 500; Date.now() < end;) {
			JSON.parse(JSON.stringify(Array.from({ length: 1e4 }, (_, i) => createHash("md5").update(String(i)).digest("hex"))));
		}`)
	output, err := record.CombinedOutput()
	require.NoError(t, err, "%s", output)
	text, err := os.ReadFile(filepath.Join(folder, "recorded"))
	require.NoError(t, err)
	return text
}

// hasName reports whether a function has a name of its own. V8's pseudo functions such as (program)
// and anonymous ones have none.
func hasName(function string) bool { return function != "" && function[0] != '(' }

// hitsIn returns the number of samples that V8 counted for each function with a name.
func hitsIn(t *testing.T, cpuprofile []byte) map[string]int64 {
	var file struct {
		Nodes []struct {
			CallFrame struct{ FunctionName, URL string }
			HitCount  int64
		}
	}
	require.NoError(t, json.Unmarshal(cpuprofile, &file))
	hits := map[string]int64{}
	for _, n := range file.Nodes {
		if n.HitCount > 0 && hasName(n.CallFrame.FunctionName) {
			hits[n.CallFrame.FunctionName] += n.HitCount
		}
	}
	return hits
}

// observations returns the number of observations of each function with a name at the leaf of a
// stack.
func observations(message pprofile.Profiles) map[string]int64 {
	counts, reader := map[string]int64{}, timeline.NewReader(message.Dictionary())
	for _, profile := range profilesOf(message) {
		p := reader.Read(profile)
		for _, s := range p.Selected(timeline.Filter{}) {
			if s.Stack == 0 {
				continue
			}
			if name := p.Frames[p.Locations[p.Stacks[s.Stack][0]].Lines[0].Frame].Name; hasName(name) {
				counts[name] += s.Count
			}
		}
	}
	return counts
}

// speedscopePage is the page of speedscope, which Chromium opens.
type speedscopePage struct{ node, chromium, browser, url string }

func newSpeedscope(t *testing.T) speedscopePage {
	testsize.NeedFull(t)
	tests := filepath.Join(golden.Root(t), "internal/testkit/e2e")
	s := speedscopePage{browser: filepath.Join(tests, "browser")}
	var err error
	if s.node, err = exec.LookPath("node"); err != nil {
		t.Skip("no node")
	}
	if s.chromium, err = exec.LookPath("chromium"); err != nil {
		t.Skip("no chromium; on Debian: apt-get install chromium")
	}
	release := filepath.Join(tests, "importers/node_modules/speedscope/dist/release")
	for _, folder := range []string{release, filepath.Join(s.browser, "node_modules")} {
		if _, err := os.Stat(folder); err != nil {
			t.Skipf("needs npm packages, see make packages: %v", err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(release)))
	t.Cleanup(server.Close)
	s.url = server.URL + "/index.html#view=sandwich" // a table, which is displayed faster than graphs
	return s
}

// drive runs a scenario on a page, and returns its result.
func (s speedscopePage) drive(t *testing.T, scenario, url, folder string) json.RawMessage {
	request, err := json.Marshal(map[string]string{"scenario": "../importers/" + scenario, "url": url, "folder": folder})
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), s.node, "drive.mjs", s.chromium)
	command.Dir, command.Stdin, command.Stderr = s.browser, bytes.NewReader(request), os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	var report struct {
		Result  json.RawMessage
		Failure string
	}
	require.NoError(t, json.Unmarshal(output, &report))
	require.Empty(t, report.Failure)
	return report.Result
}

// read opens all files of a folder.
func (s speedscopePage) read(t *testing.T, folder string) (files map[string]functionTimes) {
	require.NoError(t, json.Unmarshal(s.drive(t, "speedscope.mjs", s.url, folder), &files))
	return files
}
