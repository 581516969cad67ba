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

// TestFailures runs the same program under OpenTelemetry's SDK, through the exporter, and under
// Sentry's SDK. Both yield one event for each failure, with equal exceptions and frames. Exceptions
// are on spans, in log records, or on both.
func TestFailures(t *testing.T) {
	only := strings.Fields(os.Getenv("SDKS"))
	for _, p := range pairs {
		if len(only) > 0 && !slices.Contains(only, p.folder) {
			continue
		}
		s := sdk{folder: p.folder, version: "otel"}
		for _, mode := range p.modes {
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
	modes  []string
	allow  func(mode, message string, want []exception) []exception // differences for reasons outside the exporter; nil = none
}

var everywhere = []string{"spans", "logs", "dup"}

var pairs = []pair{
	{"python", everywhere, func(mode, message string, want []exception) []exception {
		if strings.HasSuffix(message, "nested") && mode != "logs" { // the innermost span records the frames inside it
			want = []exception{{want[0].class, want[0].message, want[0].frames[1:]}}
		}
		return want
	}},
	{"java", everywhere, nil},
	// OpenTelemetry's SDKs for Node and Go record the text of the thrown error, without its causes.
	// Go's log records have no stack.
	{"node", everywhere, thrown},
	{"go", everywhere, func(mode, message string, want []exception) []exception {
		want = thrown(mode, message, want)
		if mode == "logs" && !strings.HasSuffix(message, "panicked") { // the SDK records a panic on its span
			want = []exception{{want[0].class, want[0].message, nil}}
			if strings.HasSuffix(message, "chained") { // for a wrapped error, the SDK records the type inside
				want[0].class = "main.paymentError"
			}
		}
		return want
	}},
	{"ruby", everywhere, nil},
}

func thrown(_, _ string, want []exception) []exception { return want[len(want)-1:] }

func (p pair) allowed(mode, message string, want []exception) []exception {
	if p.allow == nil {
		return want
	}
	return p.allow(mode, message, want)
}

func compareFailures(t *testing.T, p pair, mode string) {
	direct, through, address := fakesentry.Start(t), fakesentry.Start(t), harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{Config: strings.NewReplacer("ADDRESS", address, "DSN", through.DSN()).Replace(`
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
	c.Stop(t) // sends all events that wait
	want := failures(t, direct)
	require.Len(t, want, n)
	got = failures(t, through)
	require.Len(t, got, n)
	for message, exceptions := range want {
		assert.Equal(t, p.allowed(mode, message, exceptions), got[message], message)
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
	class, message string
	frames         []string // outermost first
}

// failures returns the exceptions and frames of all events, by the message of the thrown exception.
// There is one event for each message.
func failures(t *testing.T, server *fakesentry.Server) map[string][]exception {
	all := map[string][]exception{}
	for _, envelope := range server.Taken() {
		if item := envelope.Items[0]; item.Header.Type == sentry.ItemEvent {
			chain := exceptionsOf(t, item.Payload)
			message := chain[len(chain)-1].message
			require.NotContains(t, all, message, "two events for one failure")
			all[message] = chain
		}
	}
	return all
}

// exceptionsOf returns the exceptions of an event, the thrown one last.
func exceptionsOf(t *testing.T, payload []byte) (chain []exception) {
	var event struct{ Exception json.RawMessage }
	require.NoError(t, json.Unmarshal(payload, &event))
	type value struct {
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
	var list []value // Sentry's SDK for Go sends a list
	if json.Unmarshal(event.Exception, &list) != nil {
		var object struct{ Values []value }
		require.NoError(t, json.Unmarshal(event.Exception, &object))
		list = object.Values
	}
	require.NotEmpty(t, list)
	for _, x := range list {
		thrown := exception{class: x.Type, message: x.Value}
		for _, f := range x.Stacktrace.Frames {
			thrown.frames = append(thrown.frames, fmt.Sprintf("%s %s:%d %t", f.Function, cmp.Or(f.AbsPath, f.Filename), f.Line, f.InApp))
		}
		chain = append(chain, thrown)
	}
	return chain
}
