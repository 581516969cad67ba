// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// TestUpstreamSwitchesProtocols: a response that nobody has asked for is one that fails, in every
// mode.
func TestUpstreamSwitchesProtocols(t *testing.T) {
	for _, mode := range []string{answerOwn, answerUpstream} {
		upstream := rawServer(t, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n")
		h := start(t, upstream, options{tee: []func(*Config){func(cfg *Config) { cfg.Answer = mode }}})
		resp, _ := h.do("POST", envelopePath, errorEnvelope)
		assert.Equal(t, http.StatusOK, resp.StatusCode, "the receiver's")
		resp, _ = h.do("POST", "/api/4507/minidump/?sentry_key="+testKey, "MDMP")
		assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
		require.Eventually(t, func() bool { return h.tee.forwarder.observe().requests == 1 }, 30*time.Second, time.Millisecond, "is tried again")
	}
}

// rawServer gives every request the same response, whatever it is.
func rawServer(t *testing.T, response string) (url string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, listener.Close()) })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				req, err := http.ReadRequest(bufio.NewReader(conn))
				if err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
					_, _ = io.WriteString(conn, response)
				}
			}()
		}
	}()
	return "http://" + listener.Addr().String()
}

// TestMethodsOfConnections: CONNECT and TRACE are about the connection to Sentry, which is the
// tee's.
func TestMethodsOfConnections(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{tee: []func(*Config){func(cfg *Config) { cfg.ManagementAPI = true }}})
	for _, method := range []string{"CONNECT", "TRACE"} {
		for _, path := range []string{"/api/4507/never/seen/?sentry_key=" + testKey, "/api/0/projects/", envelopePath} {
			answer := h.raw(method + " " + path + " HTTP/1.1\r\nHost: evil.example:443\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
			assert.Regexp(t, "^HTTP/1.1 40[45] ", answer, "%s %s", method, path)
		}
	}
	assert.Zero(t, upstream.count())
}

// TestSmuggling: no part of a request becomes a header or a request of its own at Sentry, and its
// Host stays that of the configuration.
func TestSmuggling(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{})
	for name, text := range map[string]string{
		"line breaks in the path":  "POST /api/4507/never/%0d%0aX-Evil:%201/?sentry_key=" + testKey + "&a=%0d%0aX-Evil:%201 HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
		"another host in the path": "POST //evil.example/api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
		"absolute":                 "POST http://evil.example/api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n",
		"folded":                   "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nX-A: b\r\n X-Evil: 1\r\nContent-Length: 0\r\n\r\n",
		"a bare line feed":         "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nX-A: b\nX-B: c\r\nContent-Length: 0\r\n\r\n",
		"a carriage return":        "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nX-A: b\rX-Evil: 1\r\nContent-Length: 0\r\n\r\n",
		"two lengths":              "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\nPOST /api/1/never/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"length and chunked":       "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\nPOST /api/1/never/ HTTP/1.1\r\nHost: a\r\n\r\n",
		"two codings":              "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n",
		"connection names headers": "POST /api/4507/never/?sentry_key=" + testKey + " HTTP/1.1\r\nHost: a\r\nConnection: Via, X-Forwarded-For, X-Sentry-Auth, Content-Length, Host\r\nContent-Length: 0\r\n\r\n",
	} {
		marked := "?case=" + url.QueryEscape(name) + "&"
		h.raw(strings.Replace(text, "?", marked, 1))
		upstream.mu.Lock()
		forwarded := 0 // the last request may still arrive
		for _, got := range upstream.requests {
			if strings.Contains(got.URI, marked) {
				forwarded++
			}
			assert.Empty(t, got.Header["X-Evil"], name)
			assert.True(t, strings.HasPrefix(got.URI, "/api/4507/never/"), "%s: %s", name, got.URI)
			assert.Equal(t, "127.0.0.1", got.Header.Get("X-Forwarded-For"), name)
			assert.Contains(t, got.Header.Get("Via"), product, name)
		}
		assert.LessOrEqual(t, forwarded, 1, name)
		upstream.mu.Unlock()
	}
}

// TestManyStreams: streams that wait for Sentry have a limit, and leave room for others.
func TestManyStreams(t *testing.T) {
	release := make(chan struct{})
	upstream := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		if strings.Contains(req.URL.Path, "upload") {
			<-release
		}
	}))
	defer upstream.Close()
	defer close(release)
	h := start(t, upstream.URL, options{configure: func(te *tee) {
		te.forwarder.room = httpbody.NewBudget(20*streamBytes, func(context.Context, int64) {})
	}})
	statuses := make(chan int, 100)
	for range cap(statuses) {
		go func() {
			resp, err := h.client.Post(h.url+"/api/4507/upload/?sentry_key="+testKey, "", strings.NewReader("x"))
			if err != nil {
				statuses <- 0
				return
			}
			_ = resp.Body.Close()
			statuses <- resp.StatusCode
		}()
	}
	refused := 0
	for refused < cap(statuses)-20 {
		require.Equal(t, http.StatusServiceUnavailable, <-statuses)
		refused++
	}
	resp, _ := h.do("POST", "/api/4508/minidump/?sentry_key="+testKey, "MDMP")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "another project")
	assert.LessOrEqual(t, h.tee.forwarder.room.Used(), int64(20*streamBytes))
}

// TestPanickingReceiver: the memory of a request is released whatever the receiver does.
func TestPanickingReceiver(t *testing.T) {
	h := start(t, "http://127.0.0.1:1", options{})
	wrapped, err := h.tee.wrap(t.Context(), http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		_, _ = io.ReadAll(req.Body)
		panic(http.ErrAbortHandler)
	}))
	require.NoError(t, err)
	assert.Panics(t, func() {
		wrapped.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("POST", envelopePath, strings.NewReader(errorEnvelope)))
	})
	assert.Zero(t, h.tee.forwarder.room.Used())
}

// TestManyKeys: a receiver without projects lets any key in. What is remembered of keys has a
// limit, and what does not fit is counted.
func TestManyKeys(t *testing.T) {
	h := start(t, "http://127.0.0.1:1", options{})
	f := h.tee.forwarder
	for n := range maxKeys + 10 {
		k := key{"1", fmt.Sprint(n)}
		f.reports.add(k, omit.Losses{{Outcome: "rate_limited", Reason: "generic", Category: "error"}: 1}, 1)
		f.limits.learn(k, 429, nil, time.Now())
	}
	assert.Len(t, f.reports.all(), maxKeys)
	assert.LessOrEqual(t, len(f.limits.byKey), maxKeys)
	assert.EqualValues(t, 10, h.counts("requests")["client_report dropped too_many_keys"])
	f.reports.add(key{"1", "5"}, omit.Losses{{Outcome: "rate_limited", Reason: "generic", Category: "error"}: 1}, 1)
	assert.Len(t, f.reports.all(), maxKeys, "a key that is known")
	assert.EqualValues(t, 2, f.reports.all()[key{"1", "5"}].Events()[0].Quantity)
}

// TestBombs: the tee decodes no body that it forwards as it is.
func TestBombs(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{})
	size := 8 << 20
	if testsize.Full() {
		size = 80 << 20 // more than the receiver accepts
	}
	bomb := compress([]byte(errorEnvelope + strings.Repeat(" ", size)))
	resp, _ := h.do("POST", envelopePath, string(bomb), "Content-Encoding", "gzip")
	require.Contains(t, []int{200, 413}, resp.StatusCode)
	assert.Equal(t, string(bomb), upstream.take(t, 1)[0].Body)
	assert.Zero(t, h.tee.forwarder.outgoing.room.Used())
	assert.Less(t, len(bomb), 1<<20)
}

// TestEndlessAnswers: a response without an end does not occupy a consumer longer than the timeout.
func TestEndlessAnswers(t *testing.T) {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for {
			if _, err := io.WriteString(w, " "); err != nil || http.NewResponseController(w).Flush() != nil {
				return
			}
			select {
			case <-req.Context().Done():
				return
			case <-time.After(time.Millisecond):
			}
		}
	}))
	defer upstream.Close()
	h := start(t, upstream.URL, options{tee: []func(*Config){func(cfg *Config) { cfg.HTTP.Timeout, cfg.NumConsumers = 100*time.Millisecond, 1 }}})
	for range 3 {
		resp, _ := h.do("POST", envelopePath, errorEnvelope)
		require.Equal(t, http.StatusOK, resp.StatusCode)
	}
	require.Eventually(t, func() bool { return h.counts("requests")["envelope forwarded"] == 3 }, 30*time.Second, 10*time.Millisecond,
		"Sentry has accepted them: the status says so")
}
