// SPDX-License-Identifier: Apache-2.0

package tee

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// uploads stands in for Sentry's upload endpoint. It keeps a hash of each upload, and returns the
// address for the next.
type uploads struct {
	sum  hash.Hash
	size int64
}

func (u *uploads) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	u.sum = sha256.New()
	u.size, _ = io.Copy(u.sum, req.Body)
	if req.Method == http.MethodPost && req.Header.Get("Upload-Length") != "" {
		w.Header().Set("Location", req.URL.Path+"key/?length="+req.Header.Get("Upload-Length")+"&signature=s")
		w.WriteHeader(http.StatusCreated)
		return
	}
	w.Header().Set("Upload-Offset", fmt.Sprint(u.size))
	_, _ = io.WriteString(w, "6d8d3d5c-6bd3-4e5d-9c7c-2cd9f0d0ba02")
}

// TestLargeStreams: a minidump of 100 MB and an upload of 300 MB arrive unchanged, with no more
// memory than small requests need.
func TestLargeStreams(t *testing.T) {
	server := &uploads{}
	upstream := httptest.NewServer(server)
	t.Cleanup(upstream.Close)
	c := harness.Start(t, settings(harness.NewSink(t), "upstream: '"+upstream.URL+"'"))
	send := func(method, target string, size int64, header ...string) (*http.Response, []byte) {
		sum := sha256.New()
		body := io.TeeReader(io.LimitReader(rand.NewChaCha8([32]byte{1}), size), sum)
		req, err := http.NewRequest(method, "http://"+c.Address+target, body)
		require.NoError(t, err)
		req.ContentLength = size
		req.Header.Set("X-Sentry-Auth", harness.TestAuth)
		for i := 0; i < len(header); i += 2 {
			req.Header.Set(header[i], header[i+1])
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		return resp, sum.Sum(nil)
	}
	send("POST", "/api/42/minidump/", 1000)
	before := c.RequirePeakMemory(t)
	c.ResetPeakMemory()

	const minidump, upload = 100_000_000, 300_000_000
	resp, sum := send("POST", "/api/42/minidump/", minidump, "Content-Type", "multipart/form-data; boundary=x")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.EqualValues(t, minidump, server.size)
	assert.True(t, bytes.Equal(sum, server.sum.Sum(nil)), "the bytes")

	resp, _ = send("POST", "/api/42/upload/", 0, "Tus-Resumable", "1.0.0", "Upload-Length", fmt.Sprint(upload))
	require.Equal(t, http.StatusCreated, resp.StatusCode)
	resp, sum = send("PATCH", resp.Header.Get("Location"), upload, "Tus-Resumable", "1.0.0", "Upload-Offset", "0", "Content-Type", "application/offset+octet-stream")
	assert.Equal(t, http.StatusOK, resp.StatusCode)
	assert.EqualValues(t, upload, server.size)
	assert.True(t, bytes.Equal(sum, server.sum.Sum(nil)), "the bytes")

	peak := c.RequirePeakMemory(t)
	t.Logf("peak memory: %d MiB before, %d MiB with %d MB in two requests", before, peak, (minidump+upload)/1_000_000)
	assert.Less(t, peak, before+32, "MiB")
	metrics := c.Scrape(t)
	assert.Equal(t, 2, metrics.Sum("otelcol_extension_sentry_tee_requests", "endpoint=minidump", "outcome=forwarded"))
	assert.Equal(t, 2, metrics.Sum("otelcol_extension_sentry_tee_requests", "endpoint=upload", "outcome=forwarded"))
}

// TestRejectedClients: clients without permission receive 403 on all routes, and Sentry receives
// none of their data.
func TestRejectedClients(t *testing.T) {
	upstream := newRecorder(t, nil)
	s := settings(harness.NewSink(t), "upstream: '"+upstream.URL+"', management_api: false")
	s.Config = strings.Replace(s.Config, "tunnel_path: /tunnel,", "tunnel_path: /tunnel, projects: [{id: 42, public_keys: ["+harness.TestKey+"]}],", 1)
	c := harness.Start(t, s)
	for _, target := range []string{"/api/42/envelope/", "/api/42/store/", "/api/42/minidump/", "/api/42/upload/", "/api/42/never/seen/", "/api/43/minidump/"} {
		response := c.Send(t, harness.Request{Target: target + "?sentry_key=abc", Body: []byte("{}")})
		assert.Equal(t, http.StatusForbidden, response.Status, target)
	}
	response := c.Send(t, harness.Request{Target: "/api/0/organizations/", Headers: [][2]string{{"Authorization", "Bearer t"}}})
	assert.Equal(t, http.StatusNotFound, response.Status)
	time.Sleep(100 * time.Millisecond)
	assert.Zero(t, upstream.count())
}
