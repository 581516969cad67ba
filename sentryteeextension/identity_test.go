// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestByteIdentity: each recorded request of a real SDK arrives with the same bytes as without the
// tee, except for X-Forwarded-For and Via. In small size, these are some requests of each SDK.
func TestByteIdentity(t *testing.T) {
	requests := golden.Corpus(t)
	direct, behind := newRecorder(t, nil), newRecorder(t, nil)
	h := start(t, behind.URL, options{})
	sent := map[string]int{} // by SDK
	for _, recorded := range requests {
		isTunnel := !strings.Contains(recorded.Path, "/api/")
		if isTunnel {
			continue // see TestTunnel
		}
		sdk, _, _ := strings.Cut(recorded.Name, "/")
		if !testsize.Full() && (sent[sdk] == 8 || len(recorded.Body) > golden.SmallPayload) {
			continue
		}
		sent[sdk]++
		sendRecorded(t, h.client, direct.URL, recorded)
		sendRecorded(t, h.client, h.url, recorded)
		want, got := direct.take(t, 1)[0], behind.take(t, 1)[0]
		assert.Equal(t, "127.0.0.1", got.Header.Get("X-Forwarded-For"))
		assert.Regexp(t, "^1.1 otelcol-sentry-tee-.{8}$", got.Header.Get("Via"))
		got.Header.Del("X-Forwarded-For")
		got.Header.Del("Via")
		if want.Length < 0 { // the bytes are equal, but not their framing
			want.Length = int64(len(want.Body))
			got.Header.Del("Content-Length")
		}
		require.Equal(t, want, got, recorded.Name)
	}
	assert.NotZero(t, h.counts("requests")["envelope forwarded"])
}

func sendRecorded(t *testing.T, client *http.Client, url string, r golden.Request) {
	t.Helper()
	if r.Query != "" {
		r.Path += "?" + r.Query
	}
	req, err := http.NewRequest(r.Method, url+r.Path, bytes.NewReader(r.Body))
	require.NoError(t, err)
	for _, h := range r.Headers {
		switch name := http.CanonicalHeaderKey(h[0]); name {
		case "Host", "Content-Length", "Connection", "Keep-Alive", "Te", "Upgrade", "Http2-Settings": // headers of one connection
		case "Transfer-Encoding":
			req.ContentLength = -1
		default:
			req.Header[name] = append(req.Header[name], h[1])
		}
	}
	resp, err := client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, resp.StatusCode, r.Name)
}
