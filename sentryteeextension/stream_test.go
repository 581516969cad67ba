// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/sentryreceiver"
)

// prefixed is a receiver with a path prefix that admits one project.
func prefixed(cfg *sentryreceiver.Config) {
	onlyProject(cfg)
	cfg.PathPrefix = "/in"
}

// TestStreamed: requests that the receiver does not support arrive unchanged if the receiver admits
// their client, and the client receives Sentry's response.
func TestStreamed(t *testing.T) {
	upstream := newRecorder(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "https://evil.example")
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "6d8d3d5c-6bd3-4e5d-9c7c-2cd9f0d0ba02")
	})
	h := start(t, upstream.URL+"/prefix", options{receiver: prefixed})
	key := "?sentry_key=" + testKey
	for _, c := range []struct {
		name, method, path string
		header             []string
		status             int
		want               string // "" = not forwarded
	}{
		{"minidump", "POST", "/in/api/4507/minidump/" + key, []string{"Content-Type", "multipart/form-data; boundary=x"}, 202, "/prefix/api/4507/minidump/" + key},
		{"unreal", "POST", "/in/api/4507/unreal/" + testKey + "/", nil, 202, "/prefix/api/4507/unreal/" + testKey + "/"},
		{"attachments", "POST", "/in/api/4507/events/9ec79c33ec9942ab8353589fcb2e04dc/attachments/" + key, nil, 202, "/prefix/api/4507/events/9ec79c33ec9942ab8353589fcb2e04dc/attachments/" + key},
		{"a future signal", "POST", "/in/api/4507/integration/otlp/v1/entities", []string{"X-Sentry-Auth", "sentry sentry_key=" + testKey}, 202, "/prefix/api/4507/integration/otlp/v1/entities"},
		{"a future endpoint", "PUT", "/in/api/4507/never/seen" + key + "&a=%2F", []string{"Content-Encoding", "zstd"}, 202, "/prefix/api/4507/never/seen" + key + "&a=%2F"},
		{"another key", "POST", "/in/api/4507/minidump/?sentry_key=abc", nil, 403, ""},
		{"another key in the path", "POST", "/in/api/4507/unreal/abc/", nil, 403, ""},
		{"no key", "POST", "/in/api/4507/minidump/", nil, 401, ""},
		{"another project", "POST", "/in/api/1/minidump/" + key, nil, 403, ""},
		{"another prefix", "POST", "/api/4507/minidump/" + key, nil, 404, ""},
		{"dot segments", "POST", "/in/api/4507/minidump/../../0/" + key, nil, 404, ""},
		{"management", "GET", "/in/api/0/organizations/", []string{"Authorization", "Bearer t"}, 404, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			resp, text := h.do(c.method, c.path, "\x00body", c.header...)
			assert.Equal(t, c.status, resp.StatusCode, text)
			assert.Equal(t, []string{"*"}, resp.Header["Access-Control-Allow-Origin"])
			if c.want == "" {
				assert.Zero(t, upstream.count())
				return
			}
			assert.Equal(t, "6d8d3d5c-6bd3-4e5d-9c7c-2cd9f0d0ba02", text)
			got := upstream.take(t, 1)[0]
			assert.Equal(t, c.want, got.URI)
			assert.Equal(t, c.method, got.Method)
			assert.Equal(t, "\x00body", got.Body)
			assert.EqualValues(t, 5, got.Length)
			for i := 0; i < len(c.header); i += 2 {
				assert.Equal(t, c.header[i+1], got.Header.Get(c.header[i]))
			}
		})
	}
	assert.EqualValues(t, 1, h.counts("requests")["minidump forwarded"])
	assert.EqualValues(t, 1, h.counts("requests")["other forwarded"])
}

// TestCrashRecords: the pipelines receive a record of each crash report, and nothing of other
// streams.
func TestCrashRecords(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{receiver: onlyProject})
	for path, want := range map[string]string{
		"/api/4507/minidump/?sentry_key=" + testKey:                       "Crash report: minidump, 5 bytes",
		"/api/4507/unreal/" + testKey + "/":                               "Crash report: Unreal Engine crash report, 5 bytes",
		"/api/4507/playstation/?sentry_key=" + testKey:                    "Crash report: PlayStation crash dump, 5 bytes",
		"/api/4507/upload/?sentry_key=" + testKey:                         "",
		"/api/4507/integration/otlp/v1/entities/?sentry_key=" + testKey:   "",
		"/api/4507/minidump/?sentry_key=ffffffffffffffffffffffffffffffff": "",
	} {
		h.events.Reset()
		h.do("POST", path, "\x00body")
		if want == "" {
			assert.Zero(t, h.events.LogRecordCount(), path)
			continue
		}
		require.Equal(t, 1, h.events.LogRecordCount(), path)
		record := h.events.AllLogs()[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		assert.Equal(t, want, record.Body().AsString())
		assert.Equal(t, plog.SeverityNumberFatal, record.SeverityNumber())
	}
}

// TestManagement: /api/0/ is forwarded, with its token, only if management_api is set.
func TestManagement(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{tee: []func(*Config){func(cfg *Config) { cfg.ManagementAPI = true }}})
	resp, _ := h.do("PUT", "/api/0/projects/a/b/?c=d", "{}", "Authorization", "Bearer token")
	assert.Equal(t, 200, resp.StatusCode)
	got := upstream.take(t, 1)[0]
	assert.Equal(t, "/api/0/projects/a/b/?c=d", got.URI)
	assert.Equal(t, "Bearer token", got.Header.Get("Authorization"))
	live, _ := h.do("GET", "/api/0/relays/live/", "")
	assert.Equal(t, 200, live.StatusCode)
	assert.Zero(t, upstream.count(), "the receiver's own")
}

// tusServer stands in for Sentry's upload endpoint; the addresses that it returns are paths or
// absolute URLs.
type tusServer struct {
	absolute string
	sum      string
	received int64
}

func (s *tusServer) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	w.Header().Set("Tus-Resumable", req.Header.Get("Tus-Resumable"))
	switch {
	case req.Method == http.MethodPost && strings.HasSuffix(req.URL.Path, "/upload/"):
		w.Header().Set("Location", s.absolute+req.URL.Path+"k1/?length="+req.Header.Get("Upload-Length")+"&signature=e30%2F")
		w.Header().Set("Upload-Offset", "0")
		w.WriteHeader(http.StatusCreated)
	case req.Method == http.MethodPatch && req.URL.RawQuery == "length=20971520&signature=e30%2F" && req.URL.Path == "/x/api/99/upload/k1/":
		hash := sha256.New()
		s.received, _ = io.Copy(hash, req.Body)
		s.sum = fmt.Sprintf("%x", hash.Sum(nil))
		w.Header().Set("Upload-Offset", fmt.Sprint(s.received))
		w.WriteHeader(http.StatusNoContent)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

// TestUploads: the address of an upload is mapped back to the tee, with its own prefix and project.
func TestUploads(t *testing.T) {
	for _, absolute := range []bool{false, true} {
		server := &tusServer{}
		upstream := newRecorder(t, nil)
		upstream.Config.Handler = server
		if absolute {
			server.absolute = upstream.URL
		}
		dsn := "http://" + theirKey + "@" + upstream.Listener.Addr().String() + "/x/99"
		h := start(t, "", options{receiver: prefixed, tee: []func(*Config){func(cfg *Config) { cfg.Projects = []ProjectConfig{{ID: 4507, UpstreamDSN: configopaque.String(dsn)}} }}})
		const size = 20 << 20
		auth := []string{"X-Sentry-Auth", "Sentry sentry_key=" + testKey, "Tus-Resumable", "1.0.0"}
		resp, _ := h.do("POST", "/in/api/4507/upload/", "", append(auth, "Upload-Length", fmt.Sprint(size))...)
		require.Equal(t, http.StatusCreated, resp.StatusCode)
		location := resp.Header.Get("Location")
		assert.Equal(t, "/in/api/4507/upload/k1/?length=20971520&signature=e30%2F", location)
		assert.Equal(t, "1.0.0", resp.Header.Get("Tus-Resumable"))
		assert.Equal(t, "0", resp.Header.Get("Upload-Offset"))
		body := strings.Repeat("0123456789abcdef", size/16)
		resp, _ = h.do("PATCH", location, body, append(auth, "Content-Type", "application/offset+octet-stream", "Upload-Offset", "0")...)
		assert.Equal(t, http.StatusNoContent, resp.StatusCode)
		assert.Equal(t, fmt.Sprint(size), resp.Header.Get("Upload-Offset"))
		assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256([]byte(body))), server.sum)
		assert.Zero(t, h.tee.forwarder.room.Used())
	}
}

// TestStreamsWithoutSentry: without Sentry, the client receives an error at once, and requests to
// the receiver are not affected.
func TestStreamsWithoutSentry(t *testing.T) {
	upstream := newRecorder(t, nil)
	upstream.Close()
	h := start(t, upstream.URL, options{})
	resp, _ := h.do("POST", "/api/4507/minidump/?sentry_key="+testKey, "MDMP")
	assert.Equal(t, http.StatusBadGateway, resp.StatusCode)
	assert.EqualValues(t, 1, h.counts("requests")["minidump dropped network_error"])
	resp, _ = h.do("POST", envelopePath, errorEnvelope)
	assert.Equal(t, 200, resp.StatusCode)
	require.Eventually(t, func() bool { return h.tee.forwarder.observe().requests == 1 }, 30*time.Second, time.Millisecond)
}

// TestLargerThanTheReceiver: the receiver's limit on bodies does not apply to streams.
func TestLargerThanTheReceiver(t *testing.T) {
	upstream := newRecorder(t, nil)
	h := start(t, upstream.URL, options{receiver: func(cfg *sentryreceiver.Config) { cfg.HTTP.MaxRequestBodySize = 1000 }})
	body := strings.Repeat("x", 100_000)
	resp, _ := h.do("POST", "/api/4507/minidump/?sentry_key="+testKey, body)
	assert.Equal(t, 200, resp.StatusCode)
	assert.Equal(t, body, upstream.take(t, 1)[0].Body)
	resp, _ = h.do("POST", envelopePath, errorEnvelope+strings.Repeat(" ", 100_000))
	assert.Equal(t, http.StatusRequestEntityTooLarge, resp.StatusCode)
	assert.Len(t, upstream.take(t, 1)[0].Body, len(errorEnvelope)+100_000, "Sentry may accept what the receiver does not")
}
