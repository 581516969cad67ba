// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

func TestRoutes(t *testing.T) {
	h := start(t, nil)
	for _, test := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"POST", "/api/42/envelope/", 200, `{}`},
		{"POST", "/api/42/envelope", 200, `{}`},
		{"POST", "//api/42//envelope/", 200, `{}`},
		{"POST", "/api/0042/envelope/", 200, `{}`},
		{"GET", "/api/42/envelope/", 405, `{"detail":"method not allowed"}`},
		{"PUT", "/api/42/envelope/", 405, `{"detail":"method not allowed"}`},
		{"POST", "/api/shop/envelope/", 400, ""},
		{"POST", "/api/-1/envelope/", 400, ""},
		{"POST", "/api/99999999999999999999/envelope/", 400, ""},
		{"POST", "/api/42%2F/envelope/", 200, `{}`},
		{"POST", "/api/envelope/", 404, `{"detail":"no such endpoint"}`},
		{"POST", "/api/42/envelope/x", 404, `{"detail":"no such endpoint"}`},
		{"POST", "/prefix/api/42/envelope/", 404, `{"detail":"no such endpoint"}`},
		{"PUT", "/api/42/store/", 405, `{"detail":"method not allowed"}`},
		{"POST", "/api/store/", 404, `{"detail":"no such endpoint"}`},
		{"GET", "/api/42/security/", 405, `{"detail":"method not allowed"}`},
		{"GET", "/api/42/csp-report/", 405, `{"detail":"method not allowed"}`},
		{"GET", "/api/42/nel/", 405, `{"detail":"method not allowed"}`},
		{"POST", "/api/42/nel/x/", 404, `{"detail":"no such endpoint"}`},
		{"PUT", "/api/42/cron/nightly/", 405, `{"detail":"method not allowed"}`},
		{"GET", "/api/42/cron/", 404, `{"detail":"no such endpoint"}`},
		{"GET", "/api/42/cron/nightly/public/x/", 404, `{"detail":"no such endpoint"}`},
		{"POST", "/api/42/minidump/", 404, `{"detail":"no such endpoint","causes":["only the sentry_tee extension accepts crash reports and uploads, and forwards them to Sentry"]}`},
		{"GET", "/", 404, `{"detail":"no such endpoint"}`},
		{"POST", "/", 404, `{"detail":"no such endpoint"}`},
		{"POST", "/tunnel", 404, `{"detail":"no such endpoint"}`},
		{"GET", "/api/relay/healthcheck/live/", 200, `{"is_healthy":true}`},
		{"GET", "/api/relay/healthcheck/ready/", 200, `{"is_healthy":true}`},
		{"GET", "/api/relay/healthcheck/ready", 200, `{"is_healthy":true}`},
		{"GET", "/api/0/relays/live/", 200, `{"is_healthy":true}`},
		{"HEAD", "/api/0/relays/live/", 200, ""},
		{"POST", "/api/0/relays/live/", 405, `{"detail":"method not allowed"}`},
	} {
		t.Run(test.method+" "+test.path, func(t *testing.T) {
			req := h.request(test.method, test.path+"?sentry_key="+testKey, strings.NewReader(envelope(chunkItem)))
			got := h.do(req)
			assert.Equal(t, test.status, got.status, got.text)
			if test.text != "" {
				assert.Equal(t, test.text, got.text)
			}
			if test.status == 405 {
				assert.NotEmpty(t, got.header.Get("Allow"))
			}
			assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
		})
	}
}

func TestPathPrefix(t *testing.T) {
	h := start(t, func(c *Config) { c.PathPrefix = "/a/sentry" })
	for path, status := range map[string]int{
		"/a/sentry/api/42/envelope/": 200,
		"/api/42/envelope/":          404,
		"/a/sentryapi/42/envelope/":  404,
	} {
		req := h.request("POST", path+"?sentry_key="+testKey, strings.NewReader(envelope(chunkItem)))
		assert.Equal(t, status, h.do(req).status, path)
	}
	assert.Equal(t, 200, h.do(h.request("GET", "/a/sentry/api/relay/healthcheck/live/", nil)).status)
}

func TestAuthentication(t *testing.T) {
	const (
		dsn        = "http://" + testKey + "@localhost/42"
		otherKey   = "http://00000000000000000000000000000000@localhost/42"
		otherPlace = "http://" + testKey + "@localhost/43"
	)
	for _, test := range []struct {
		name   string
		header map[string]string
		query  string
		dsn    string
		status int
		reason string
	}{
		{"X-Sentry-Auth", map[string]string{"X-Sentry-Auth": "Sentry sentry_key=" + testKey + ", sentry_version=7"}, "", "", 200, ""},
		{"in lower case, without blanks", map[string]string{"X-Sentry-Auth": "sentry sentry_version=7,sentry_key=" + testKey}, "", "", 200, ""},
		{"Authorization", map[string]string{"Authorization": "Sentry sentry_key=" + testKey}, "", "", 200, ""},
		{"basic", map[string]string{"Authorization": "Basic OGYzZDFjMGE5YjdlNGQ1MmExYzZmMGUzYjJkNDk4NzE6"}, "", "", 200, ""},
		{"query", nil, "?sentry_key=" + testKey + "&sentry_version=7&sentry_client=sentry.javascript.browser%2F10.0.0", "", 200, ""},
		{"envelope", nil, "", dsn, 200, ""},
		{"header and envelope", map[string]string{"X-Sentry-Auth": "Sentry sentry_key=" + testKey}, "", dsn, 200, ""},
		{"made-up key", nil, "?sentry_key=public", "", 200, ""},

		{"nothing", nil, "", "", 401, "auth_missing"},
		{"two keys", map[string]string{"X-Sentry-Auth": "Sentry sentry_key=" + testKey}, "?sentry_key=other", "", 401, "auth_multiple"},
		{"no DSN", nil, "", "nonsense", 401, "auth_bad_envelope_dsn"},
		{"key that is none", nil, "?sentry_key=a%20b", "", 400, "auth_bad_key"},
		{"version of the future", nil, "?sentry_key=" + testKey + "&sentry_version=8", "", 400, "auth_bad_version"},
		{"DSN with another key", nil, "?sentry_key=" + testKey, otherKey, 400, "auth_mismatch"},
		{"DSN of another project", nil, "?sentry_key=" + testKey, otherPlace, 400, "auth_mismatch"},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := start(t, nil)
			body := envelope(chunkItem)
			if test.dsn != "" {
				body = fmt.Sprintf("{\"dsn\":%q}\n%s", test.dsn, chunkItem)
			}
			req := h.request("POST", "/api/42/envelope/"+test.query, strings.NewReader(body))
			for name, value := range test.header {
				req.Header.Set(name, value)
			}
			got := h.do(req)
			assert.Equal(t, test.status, got.status, got.text)
			if test.status == 200 {
				assert.Equal(t, 1, h.sink.count())
				assert.Empty(t, h.rejected())
				return
			}
			assert.Zero(t, h.sink.count())
			assert.NotEmpty(t, got.Detail)
			assert.NotEmpty(t, got.Causes)
			assert.Equal(t, map[string]int64{"reason=" + test.reason: 1}, h.rejected())
			if test.reason == "auth_mismatch" { // for all others, the envelope is not read
				assert.Equal(t, map[string]int64{"outcome=discarded reason=" + test.reason + " type=profile_chunk": 1}, h.items())
			} else {
				assert.Empty(t, h.items())
			}
			for _, line := range h.logs.All() {
				assert.NotContains(t, fmt.Sprint(line.Message, line.ContextMap()), testKey, "a key in the log")
			}
		})
	}
}

func TestBadEnvelopes(t *testing.T) {
	for name, test := range map[string]struct {
		body, reason string
	}{
		"empty":              {"", "envelope_empty"},
		"only blanks":        {"\n\n", "envelope_empty"},
		"no JSON":            {"hello", "envelope_invalid_header"},
		"a list":             {"[]\n", "envelope_invalid_header"},
		"cut in the payload": {"{}\n{\"type\":\"profile\",\"length\":100}\n{\"version\"", "envelope_truncated"},
		"length too small":   {"{}\n{\"type\":\"profile\",\"length\":1}\n{}\n", "envelope_missing_newline"},
		"cut in a header":    {envelope(chunkItem) + `{"type":"profi`, "envelope_invalid_item_header"},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, nil)
			got := h.post(test.body)
			assert.Equal(t, 400, got.status)
			assert.Equal(t, "invalid envelope", got.Detail)
			assert.Len(t, got.Causes, 1)
			assert.Nil(t, got.ID)
			assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
			assert.Equal(t, map[string]int64{"reason=" + test.reason: 1}, h.rejected())
			assert.Zero(t, h.sink.count(), "nothing is taken of what is answered 400")
		})
	}
}

func TestShutdownFinishesWhatHasBegun(t *testing.T) {
	h := start(t, nil)
	arrived, goOn := make(chan struct{}), make(chan struct{})
	h.sink.respond = func(pprofile.Profiles) error {
		close(arrived)
		<-goOn
		return nil
	}
	begun, stopped := make(chan reply), make(chan error)
	go func() { begun <- h.post(envelope(chunkItem)) }()
	<-arrived
	go func() { stopped <- h.receiver.Shutdown(context.Background()) }()
	require.Eventually(t, h.receiver.Shared.server.Stopping.Load, 30*time.Second, time.Millisecond)

	close(goOn)
	assert.Equal(t, 200, (<-begun).status)
	require.NoError(t, <-stopped)
	assert.Equal(t, 1, h.sink.count())
	_, err := net.Dial("tcp", h.receiver.Shared.server.Listener.Addr().String())
	assert.Error(t, err, "nobody listens")
}

// Requests that are on their way when Shutdown begins may get this far. Without a Retry-After: SDKs
// would pause every category for a restart of a second.
func TestRequestsDuringShutdown(t *testing.T) {
	h := start(t, nil)
	h.receiver.Shared.server.Stopping.Store(true)
	got := h.post(envelope(chunkItem))
	assert.Equal(t, 503, got.status)
	assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
	assert.Empty(t, got.header.Get("Retry-After"))
	assert.Equal(t, map[string]int64{"reason=shutting_down": 1}, h.rejected())

	ready := h.do(h.request("GET", "/api/relay/healthcheck/ready/", nil))
	assert.Equal(t, 503, ready.status)
	assert.Equal(t, `{"is_healthy":false}`, ready.text)
	assert.Equal(t, 200, h.do(h.request("GET", "/api/relay/healthcheck/live/", nil)).status)
	assert.Zero(t, h.sink.count())
}

// A slow client must get its answer: SDKs send again what was taken without one.
func TestWriteTimeoutCountsFromTheAnswer(t *testing.T) {
	synctest.Test(t, testWriteTimeoutCountsFromTheAnswer)
}

func testWriteTimeoutCountsFromTheAnswer(t *testing.T) {
	h := start(t, func(c *Config) { c.HTTP.WriteTimeout = 200 * time.Millisecond })
	h.overPipes()
	body := envelope(chunkItem)
	slow := io.MultiReader(strings.NewReader(body[:100]), delay(400*time.Millisecond), strings.NewReader(body[100:]))
	req := h.request("POST", "/api/42/envelope/?sentry_key=public", slow)
	assert.Equal(t, 200, h.do(req).status)
}

type delay time.Duration

func (d delay) Read([]byte) (int, error) {
	time.Sleep(time.Duration(d))
	return 0, io.EOF
}

func TestContentLengthThatIsNotMet(t *testing.T) {
	h := start(t, nil)
	conn, err := net.Dial("tcp", h.receiver.Shared.server.Listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /api/42/envelope/?sentry_key=public HTTP/1.1\r\nHost: x\r\nContent-Length: 90000000\r\n\r\n"+envelope(chunkItem))
	require.NoError(t, err)
	require.NoError(t, conn.(*net.TCPConn).CloseWrite())
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	assert.Equal(t, 400, resp.StatusCode)
	assert.Equal(t, map[string]int64{"reason=body_unreadable": 1}, h.rejected())
	assert.Zero(t, h.sink.count())
}

// TestSlowBody: read_timeout ends it as a rate below min_body_rate does.
func TestSlowBody(t *testing.T) { synctest.Test(t, testSlowBody) }

func testSlowBody(t *testing.T) {
	h := start(t, func(c *Config) { c.HTTP.ReadTimeout = 100 * time.Millisecond })
	h.overPipes()
	conn, err := h.pipes.DialContext(t.Context(), "", "")
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "POST /api/42/envelope/?sentry_key=public HTTP/1.1\r\nHost: x\r\nContent-Length: 90000000\r\n\r\n"+envelope(chunkItem))
	require.NoError(t, err)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	assert.Equal(t, 408, resp.StatusCode)
	assert.Equal(t, map[string]int64{"reason=body_too_slow": 1}, h.rejected())
}

func TestChunkedBody(t *testing.T) {
	h := start(t, nil)
	req := h.request("POST", "/api/42/envelope/?sentry_key=public", io.MultiReader(bytes.NewReader([]byte(envelope(chunkItem)))))
	require.Zero(t, req.ContentLength, "of unknown length")
	assert.Equal(t, 200, h.do(req).status)
	assert.Equal(t, 1, h.sink.count())
}
