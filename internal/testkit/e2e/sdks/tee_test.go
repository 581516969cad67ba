// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
)

// answers are responses of Sentry. A response with own is not passed on: Sentry fails, so the SDK
// receives the receiver's response.
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

// answersScenario is a program of its own, or a part of the workload.
const answersScenario = "answers"

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

// TestTeeAnswers: if the tee passes Sentry's responses on, SDKs react as they do without it.
// Otherwise, they drop nothing.
func TestTeeAnswers(t *testing.T) {
	only := strings.Fields(os.Getenv("SDKS"))
	for _, s := range []sdk{
		{"Python", "python", "3.0.0b2", nil}, {"Python", "python", "2.75.0", nil}, {"Node", "node", "10.75.3", nil}, {"Node", "node", "11.12.0", nil},
		{"Go", "go", "0.50.0", nil}, {"Java", "java", "8.64.0", nil}, {"Ruby", "ruby", "5.3.0", nil}, {"Browser", "browser", "11.12.0", nil},
		{"Rust", "rust", "0.49.5", nil}, {"sentry-cli", "cli", "3.8.0", nil},
	} {
		if len(only) > 0 && !slices.Contains(only, s.folder) {
			continue
		}
		t.Run(s.folder+"-"+s.version, func(t *testing.T) {
			if reason := s.missing(t); reason != "" {
				t.Skip(reason)
			}
			for _, answer := range answers {
				t.Run(answer.name, func(t *testing.T) {
					sentry := httptest.NewUnstartedServer(withCORS(answer.write))
					sentry.Config.ErrorLog = nil
					sentry.Start()
					defer sentry.Close()
					direct := s.reactionTo(t, sentry.Listener.Addr().String())
					passedOn := s.reactionTo(t, newTee(t, sentry.URL, fmt.Sprintf("answer: upstream, answer_timeout: %s", answerTimeout)))
					own := s.reactionTo(t, newTee(t, sentry.URL, "answer: own"))
					t.Logf("directly %+v, with answer: upstream %+v, with answer: own %+v", direct, passedOn, own)
					undisturbed := func(r reaction) {
						assert.Equal(t, 3, r.Sent)
						assert.Empty(t, r.Dropped)
					}
					undisturbed(own)
					if answer.own {
						undisturbed(passedOn)
					} else {
						assert.Equal(t, direct, passedOn)
					}
				})
			}
		})
	}
}

// withCORS adds the headers with which Sentry allows all sites to read its responses.
func withCORS(respond http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Expose-Headers", "x-sentry-error, x-sentry-rate-limits, retry-after")
		respond(w, r)
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

// reaction is what an SDK did with three errors.
type reaction struct {
	Sent    int            // errors
	Dropped map[string]int // nil = the SDK does not report it
}

// reactionTo sends three errors to a server, one after the other.
func (s sdk) reactionTo(t *testing.T, address string) (r reaction) {
	t.Helper()
	between := newRecorder(t, address)
	r.Dropped = s.run(t, answersScenario, between.dsn()).Dropped
	for _, request := range between.all() {
		for _, event := range oracle.EventPairs(t, request, request) {
			if !strings.Contains(string(event.Direct), `"type":"transaction"`) { // the browser SDK sends one for a page that lives longer than a second
				r.Sent++
			}
		}
	}
	return r
}
