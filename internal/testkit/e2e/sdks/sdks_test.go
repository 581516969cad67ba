// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// How a workload is profiled.
const (
	unprofiled    = "none"
	byTransaction = "v1"                // by transaction
	byHand        = "manual"            // started and stopped by the program
	byTrace       = "trace"             // while there are spans
	streamed      = "stream"            // likewise, and spans are sent by themselves rather than in transactions
	oneThread     = "stream-one-thread" // likewise, without a second thread, whose spans would be ambiguous if none states a session
)

// sdk is one version of an SDK. Its workload is in a folder beside this file, with two programs: `install` fetches every
// version from the registry, `run VERSION SCENARIO` runs the workload, which prints a report as the last line of its output.
type sdk struct {
	name, folder, version string
	scenarios             []string
}

var sdks = []sdk{
	{"Python", "python", "2.75.0", []string{byTransaction, byHand, byTrace, streamed}},
	{"Python", "python", "2.30.0", []string{byTransaction, byHand, byTrace}},
	{"Node", "node", "10.75.3", []string{byTransaction, byHand, byTrace, streamed}},
	{"Node", "node", "11.1.0", []string{byHand, byTrace, streamed}},
	{"Node", "node", "11.12.0", []string{unprofiled, oneThread}},
	{"Go", "go", "0.50.0", []string{unprofiled}},
	{"Go", "go", "0.27.0", []string{byTransaction}},
	{"Browser", "browser", "11.12.0", []string{byHand, byTrace, streamed}},
	{"Java", "java", "8.43.0", []string{byHand, byTrace}},
	{"Java", "java", "8.62.0", []string{unprofiled}},
	{"PHP", "php", "4.29.0", []string{byTransaction}},
	{"Native", "native", "0.4.9", []string{unprofiled}},
	{"Ruby", "ruby", "5.3.0", []string{unprofiled}},
	{"Rust", "rust", "0.49.5", []string{unprofiled}},
}

// TestSDKs runs real SDKs against the collector and writes docs/compatibility.md. SDKS says which, by folder; then the page
// stays as it is.
func TestSDKs(t *testing.T) {
	only := strings.Fields(os.Getenv("SDKS"))
	var rows []row
	for _, s := range sdks {
		if len(only) > 0 && !slices.Contains(only, s.folder) {
			continue
		}
		t.Run(s.folder+"-"+s.version, func(t *testing.T) {
			if reason := s.missing(t); reason != "" {
				rows = append(rows, row{sdk: s, missing: reason})
				t.Skip(reason)
			}
			for _, scenario := range s.scenarios {
				t.Run(scenario, func(t *testing.T) { rows = append(rows, checkSDK(t, s, scenario)) })
			}
		})
	}
	if len(only) == 0 && !t.Failed() {
		writeCompatibility(t, rows)
	}
}

func (s sdk) path(t testing.TB, names ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{s.folder}, names...)...))
	require.NoError(t, err)
	return path
}

// missing says why there is nothing to run; "" = there is.
func (s sdk) missing(t testing.TB) string {
	if _, err := os.Stat(s.path(t, "installed", s.version)); err == nil {
		return ""
	}
	if why, err := os.ReadFile(s.path(t, "installed", "missing")); err == nil {
		return strings.TrimSpace(string(why))
	}
	return "not installed: see internal/testkit/e2e/sdks/" + s.folder + "/install"
}

// report is what a workload says of itself, in the words of its SDK: what the SDK handed over to be sent.
type report struct {
	Version  string
	Spans    []string       // trace id/span id; null: the SDK has none
	Profiles []string       // ids of V1 profiles and of chunks; null: the SDK does not tell its program
	Errors   []string       // event ids
	Logs     []string       // bodies
	Dropped  map[string]int // by "category reason"; null: the SDK does not tell its program
	Busy     []busy
}

// busy is one of the functions that use up time, one after the other on each thread.
type busy struct {
	Function string // as the SDK names it in frames
	Span     string // name of the spans under which it runs
	Thread   string
	Seconds  float64
}

// workloadTimeout: workloads take five seconds, and SDKs up to twenty to send what is left.
const workloadTimeout = 90 * time.Second

// run runs the workload to its end.
func (s sdk) run(t testing.TB, scenario, dsn string) (said report) {
	command := exec.Command("sh", "run", s.version, scenario)
	command.Dir = s.path(t)
	command.Env = append(os.Environ(), "SENTRY_DSN="+dsn)
	var stderr harness.LogBuffer
	command.Stderr = &stderr
	command.WaitDelay = time.Second
	timer := time.AfterFunc(workloadTimeout, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	output, err := command.Output()
	require.NoError(t, err, "%s\n%s", output, stderr.Tail())
	lines := strings.Split(strings.TrimSpace(string(output)), "\n")
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &said), "%s\n%s", output, stderr.Tail())
	require.Equal(t, s.version, said.Version, "version that runs")
	return said
}
