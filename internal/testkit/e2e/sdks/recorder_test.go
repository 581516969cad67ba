// SPDX-License-Identifier: Apache-2.0

//go:build sdks

package sdks

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/oracle"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// recorder is a proxy between an SDK and a server. It forwards requests unchanged and records them:
// unlike the SDK's report, they show with certainty what was sent.
type recorder struct {
	server *httptest.Server

	mu       sync.Mutex
	requests []oracle.Wire
	statuses []int
}

func newRecorder(t testing.TB, address string) *recorder {
	r := &recorder{}
	pass := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	pass.Transport = &http.Transport{DisableCompression: true} // else it adds a header
	pass.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) }
	pass.ModifyResponse = func(response *http.Response) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		if response.Request.Method == http.MethodPost {
			r.statuses = append(r.statuses, response.StatusCode)
		}
		return nil
	}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		request.Body = io.NopCloser(bytes.NewReader(body))
		if request.Method == http.MethodPost {
			r.mu.Lock()
			r.requests = append(r.requests, oracle.Wire{Method: request.Method, Target: request.RequestURI, Header: request.Header.Clone(), Body: string(body)})
			r.mu.Unlock()
		}
		pass.ServeHTTP(w, request)
	}))
	t.Cleanup(r.server.Close)
	return r
}

// dsn returns the DSN for the SDK.
func (r *recorder) dsn() string {
	return "http://" + harness.TestKey + "@" + r.server.Listener.Addr().String() + "/42"
}

// envelopes returns the envelopes sent so far. It checks that every request was an envelope and was
// answered with 200.
func (r *recorder) envelopes(t testing.TB) (envelopes []*sentry.Envelope) {
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.requests, "the SDK sent nothing")
	require.Len(t, r.statuses, len(r.requests), "answers")
	for i, request := range r.requests {
		require.Equal(t, http.StatusOK, r.statuses[i], request.Target)
		body := golden.Request{Name: request.Target, Body: []byte(request.Body), Encoding: request.Header.Get("Content-Encoding")}
		envelope, err := sentry.ReadEnvelope(body.Decoded(t))
		require.NoError(t, err)
		envelopes = append(envelopes, envelope)
	}
	return envelopes
}
