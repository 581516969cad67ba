// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestFailures runs the same program under OpenTelemetry's SDK, through the exporter, and under Sentry's SDK. Both yield one event for
// each failure, with equal exceptions and frames. Exceptions are on spans, in log records, or on both.
func TestFailures(t *testing.T) {
	interpreter, err := filepath.Abs("python/installed/otel/bin/python")
	require.NoError(t, err)
	if _, err := os.Stat(interpreter); err != nil {
		t.Skip("not installed: see internal/testkit/e2e/sdks/python/install")
	}
	run := func(environment, sdk, mode string) int {
		command := exec.Command(interpreter, "failures.py", sdk, mode)
		command.Dir, command.Env, command.Stderr = "python", append(os.Environ(), environment), os.Stderr
		output, err := command.Output()
		require.NoError(t, err)
		n, err := strconv.Atoi(strings.TrimSpace(string(output)))
		require.NoError(t, err)
		return n
	}
	for _, mode := range []string{"spans", "logs", "dup"} {
		t.Run(mode, func(t *testing.T) {
			direct, through, address := fakesentry.Start(t), fakesentry.Start(t), harness.FreeAddress(t)
			harness.Start(t, harness.Settings{Config: strings.NewReplacer("ADDRESS", address, "DSN", through.DSN()).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT}
  otlp: {protocols: {http: {endpoint: 'ADDRESS'}}}
exporters:
  sentry_envelope: {dsn: DSN, errors: {from_spans: all}}
service:
  pipelines:
    profiles: {receivers: [sentry], exporters: [sentry_envelope]}
    traces: {receivers: [otlp], exporters: [sentry_envelope]}
    logs: {receivers: [otlp], exporters: [sentry_envelope]}
`)})
			n := run("SENTRY_DSN="+direct.DSN(), "sentry", mode)
			require.Equal(t, n, run("OTLP=http://"+address, "otel", mode))
			var got map[string][]string
			require.Eventually(t, func() bool { got = failures(t, through); return len(got) >= n }, 30*time.Second, 50*time.Millisecond)
			time.Sleep(2 * time.Second) // no further events
			want := failures(t, direct)
			require.Len(t, want, n)
			got = failures(t, through)
			require.Len(t, got, n)
			for message, frames := range want {
				if strings.HasSuffix(message, "nested") && mode != "logs" { // the innermost span records the frames inside it
					require.Contains(t, frames[1], "observe ")
					frames = slices.Delete(frames, 1, 2)
				}
				assert.Equal(t, frames, got[message], message)
			}
		})
	}
}

// failures returns the exceptions and frames of all events, by the message of the thrown exception. There is one event for each message.
func failures(t *testing.T, server *fakesentry.Server) map[string][]string {
	all := map[string][]string{}
	for _, envelope := range server.Taken() {
		item := envelope.Items[0]
		if item.Header.Type != sentry.ItemEvent {
			continue
		}
		var event struct {
			Exception struct {
				Values []struct {
					Type, Value string
					Stacktrace  struct {
						Frames []struct {
							Function string
							AbsPath  string `json:"abs_path"`
							Line     int    `json:"lineno"`
							InApp    bool   `json:"in_app"` // Sentry's SDK leaves it out for Python's library
						}
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(item.Payload, &event))
		var lines []string
		message := ""
		for _, x := range event.Exception.Values {
			message = x.Value
			lines = append(lines, x.Type+": "+x.Value)
			for _, f := range x.Stacktrace.Frames {
				lines = append(lines, fmt.Sprintf("%s %s:%d %t", f.Function, f.AbsPath, f.Line, f.InApp))
			}
		}
		require.NotContains(t, all, message, "two events for one failure")
		all[message] = lines
	}
	return all
}
