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

// Kinds of profiling.
const (
	unprofiled    = "none"
	byTransaction = "v1"                // one profile for each transaction
	byHand        = "manual"            // started and stopped by the program
	byTrace       = "trace"             // while a span is active
	streamed      = "stream"            // like byTrace, but spans are streamed instead of sent in transactions
	oneThread     = "stream-one-thread" // like streamed, but without a second thread: if no span states a session, its spans would be ambiguous
)

// sdk is a version of an SDK. Its workload is in a folder next to this file, with two programs:
// `install` downloads all versions from the registry; `run VERSION SCENARIO` runs the workload, and
// prints a report as the last line of its output.
type sdk struct {
	name, folder, version string
	scenarios             []string
}

var sdks = []sdk{
	{"Python", "python", "3.0.0b2", []string{byHand, streamed}},
	{"Python", "python", "2.75.0", []string{byTransaction, byHand, byTrace, streamed}},
	{"Python", "python", "2.30.0", []string{byTransaction, byHand, byTrace}},
	{"Node", "node", "10.78.0", []string{unprofiled, oneThread}},
	{"Node", "node", "10.75.3", []string{byTransaction, byHand, byTrace, streamed}},
	{"Node", "node", "11.1.0", []string{byHand, byTrace, streamed}},
	{"Node", "node", "11.12.0", []string{unprofiled, oneThread}},
	{"Go", "go", "0.50.0", []string{unprofiled}},
	{"Go", "go", "0.27.0", []string{byTransaction}},
	{"Browser", "browser", "11.12.0", []string{byHand, byTrace, streamed}},
	{"Java", "java", "8.43.0", []string{byHand, byTrace}},
	{"Java", "java", "8.64.0", []string{unprofiled}},
	{"PHP", "php", "4.29.0", []string{byTransaction}},
	{"Native", "native", "0.4.9", []string{unprofiled}},
	{"Ruby", "ruby", "5.3.0", []string{unprofiled}},
	{"Rust", "rust", "0.49.5", []string{unprofiled}},
}

// TestSDKs runs real SDKs against the collector and writes docs/compatibility.md. The environment
// variable SDKS selects SDKs by folder; the page is then not written.
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

// missing returns the reason why the SDK cannot be run, or "".
func (s sdk) missing(t testing.TB) string {
	if _, err := os.Stat(s.path(t, "installed", s.version)); err == nil {
		return ""
	}
	if why, err := os.ReadFile(s.path(t, "installed", "missing")); err == nil {
		return strings.TrimSpace(string(why))
	}
	return "not installed: see internal/testkit/e2e/sdks/" + s.folder + "/install"
}

// report is the report of a workload: the data that it passed to its SDK to be sent.
type report struct {
	Version  string
	Spans    []string       // trace ID/span ID; null = the SDK has no spans
	Profiles []string       // IDs of V1 profiles and of chunks; null = the SDK does not report them
	Errors   []string       // event IDs
	Logs     []string       // bodies
	Dropped  map[string]int // by "category reason"; null = the SDK does not report it
	Busy     []busy
}

// busy is a function that uses CPU time. Those of one thread run one after the other.
type busy struct {
	Function string // name in the SDK's frames
	Span     string // name of the spans in which it runs
	Thread   string
	Seconds  float64
}

// workloadTimeout: workloads take five seconds, and SDKs need up to twenty to send the remaining
// data.
const workloadTimeout = 90 * time.Second

// run runs the workload and returns its report.
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
