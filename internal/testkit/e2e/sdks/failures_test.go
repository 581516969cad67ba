// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
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
	only := strings.Fields(os.Getenv("SDKS"))
	for _, p := range pairs {
		if len(only) > 0 && !slices.Contains(only, p.folder) {
			continue
		}
		s := sdk{folder: p.folder, version: "otel"}
		for _, mode := range []string{"spans", "logs", "dup"} {
			t.Run(p.folder+"/"+mode, func(t *testing.T) {
				if reason := s.missing(t); reason != "" {
					t.Skip(reason)
				}
				compareFailures(t, p, mode)
			})
		}
	}
}

// pair is a program of a folder, for OpenTelemetry's SDK and Sentry's.
type pair struct {
	folder string
	allow  func(mode, message string, want []exception) []exception // differences for reasons outside the exporter; nil = none
}

var pairs = []pair{
	{"python", func(mode, message string, want []exception) []exception {
		if strings.HasSuffix(message, "nested") && mode != "logs" { // the innermost span records the frames inside it
			frames := want[0].frames
			want = []exception{{want[0].text, slices.Delete(slices.Clone(frames), 0, 1)}}
		}
		return want
	}},
	{"java", nil},
	{"node", func(_, _ string, want []exception) []exception {
		return want[len(want)-1:] // OpenTelemetry's SDK records the text of the thrown error, without its causes
	}},
}

func compareFailures(t *testing.T, p pair, mode string) {
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
	n := fail(t, p, "SENTRY_DSN="+direct.DSN(), "sentry", mode)
	require.Equal(t, n, fail(t, p, "OTLP=http://"+address, "otel", mode))
	var got map[string][]exception
	require.Eventually(t, func() bool { got = failures(t, through); return len(got) >= n }, 30*time.Second, 50*time.Millisecond)
	time.Sleep(2 * time.Second) // no further events
	want := failures(t, direct)
	require.Len(t, want, n)
	got = failures(t, through)
	require.Len(t, got, n)
	for message, exceptions := range want {
		if p.allow != nil {
			exceptions = p.allow(mode, message, exceptions)
		}
		assert.Equal(t, exceptions, got[message], message)
	}
}

// fail runs the program of a pair, and returns the number of failures.
func fail(t *testing.T, p pair, environment, sdk, mode string) int {
	command := exec.Command("sh", "run", "otel", "failures", sdk, mode)
	command.Dir, command.Env, command.Stderr = p.folder, append(os.Environ(), environment), os.Stderr
	output, err := command.Output()
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(output)))
	require.NoError(t, err)
	return n
}

// exception is an exception of an event as text.
type exception struct {
	text   string   // type and message
	frames []string // outermost first
}

// failures returns the exceptions and frames of all events, by the message of the thrown exception. There is one event for each message.
func failures(t *testing.T, server *fakesentry.Server) map[string][]exception {
	all := map[string][]exception{}
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
							Filename string
							AbsPath  string `json:"abs_path"`
							Line     int    `json:"lineno"`
							InApp    bool   `json:"in_app"` // Sentry's SDK leaves it out for Python's library
						}
					}
				}
			}
		}
		require.NoError(t, json.Unmarshal(item.Payload, &event))
		var chain []exception
		message := ""
		for _, x := range event.Exception.Values {
			message = x.Value
			thrown := exception{text: x.Type + ": " + x.Value}
			for _, f := range x.Stacktrace.Frames {
				thrown.frames = append(thrown.frames, fmt.Sprintf("%s %s:%d %t", f.Function, cmp.Or(f.AbsPath, f.Filename), f.Line, f.InApp))
			}
			chain = append(chain, thrown)
		}
		require.NotContains(t, all, message, "two events for one failure")
		all[message] = chain
	}
	return all
}
