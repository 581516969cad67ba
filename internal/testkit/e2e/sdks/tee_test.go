// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// answers are responses of Sentry. A response with own is not passed on: Sentry fails, so the SDK receives the receiver's response.
var answers = []struct {
	name  string
	own   bool
	write http.HandlerFunc
}{
	{"200", false, respond(200)},
	{"200 with limits", false, respond(200, "X-Sentry-Rate-Limits", "60:error:organization")},
	{"200 with limits on others", false, respond(200, "X-Sentry-Rate-Limits", "60:transaction;profile:key")},
	{"429 with limits", false, respond(429, "X-Sentry-Rate-Limits", "60:error:organization", "Retry-After", "60")},
	{"429 with Retry-After", false, respond(429, "Retry-After", "60")},
	{"429", false, respond(429)},
	{"403", false, respond(403)},
	{"413", false, respond(413)},
	{"redirect", false, respond(307, "Location", "http://127.0.0.1:1/")},
	{"500", true, respond(500)},
	{"503", true, respond(503)},
	{"slow", true, func(w http.ResponseWriter, r *http.Request) {
		time.Sleep(slowAnswer)
		respond(200)(w, r)
	}},
	{"half a body", true, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "{")
	}},
	{"reset", true, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
}

const (
	answerTimeout = 300 * time.Millisecond
	slowAnswer    = time.Second
)

func respond(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		for pair := range slices.Chunk(header, 2) {
			w.Header().Set(pair[0], pair[1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "{}")
	}
}

// TestTeeAnswers: if the tee passes Sentry's responses on, SDKs react as they do without it. Otherwise, they drop nothing.
func TestTeeAnswers(t *testing.T) {
	only := strings.Fields(os.Getenv("SDKS"))
	for _, s := range []sdk{{"Python", "python", "2.75.0", nil}, {"Node", "node", "10.75.3", nil}, {"Node", "node", "11.12.0", nil}} {
		if len(only) > 0 && !slices.Contains(only, s.folder) {
			continue
		}
		t.Run(s.folder+"-"+s.version, func(t *testing.T) {
			if reason := s.missing(t); reason != "" {
				t.Skip(reason)
			}
			for _, answer := range answers {
				t.Run(answer.name, func(t *testing.T) {
					sentry := httptest.NewUnstartedServer(answer.write)
					sentry.Config.ErrorLog = nil
					sentry.Start()
					defer sentry.Close()
					direct := s.droppedWith(t, sentry.Listener.Addr().String())
					passedOn := s.droppedWith(t, newTee(t, sentry.URL, fmt.Sprintf("answer: upstream, answer_timeout: %s", answerTimeout)))
					own := s.droppedWith(t, newTee(t, sentry.URL, "answer: own"))
					t.Logf("dropped by the SDK: directly %v, with answer: upstream %v, with answer: own %v", direct, passedOn, own)
					assert.Empty(t, own)
					if answer.own {
						assert.Empty(t, passedOn)
					} else {
						assert.Equal(t, direct, passedOn)
					}
				})
			}
		})
	}
}

// newTee starts a collector, and returns its address.
func newTee(t *testing.T, upstream, settings string) string {
	return harness.Start(t, harness.Settings{Config: fmt.Sprintf(`
receivers:
  sentry: {endpoint: ENDPOINT, middlewares: [{id: sentry_tee}]}
exporters:
  nop:
extensions:
  sentry_tee: {upstream: '%s', %s}
service:
  extensions: [sentry_tee]
  pipelines:
    logs: {receivers: [sentry], exporters: [nop]}
`, upstream, settings)}).Address
}

// droppedWith returns the data that the SDK reports as dropped.
func (s sdk) droppedWith(t *testing.T, address string) map[string]int {
	t.Helper()
	command := exec.Command("installed/"+s.version+"/bin/python", "answers.py")
	if s.folder == "node" {
		command = exec.Command("node", "answers.mjs", s.version)
	}
	command.Dir = s.path(t)
	command.Env = append(os.Environ(), "SENTRY_DSN=http://"+harness.TestKey+"@"+address+"/42")
	var stderr harness.LogBuffer
	command.Stderr = &stderr
	timer := time.AfterFunc(workloadTimeout, func() { _ = command.Process.Kill() })
	defer timer.Stop()
	output, err := command.Output()
	require.NoError(t, err, "%s\n%s", output, stderr.Tail())
	var said report
	require.NoError(t, json.Unmarshal(output, &said), "%s", output)
	require.Equal(t, s.version, said.Version)
	return said.Dropped
}
