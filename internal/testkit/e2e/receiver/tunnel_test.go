// SPDX-License-Identifier: Apache-2.0

package receiver

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestTunnel: a page sends envelopes of two projects from another origin, as browser SDKs do with
// the option "tunnel", in every encoding. Replays are compressed, even in a tunnel.
func TestTunnel(t *testing.T) {
	const otherKey = "ffffffffffffffffffffffffffffffff"
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Signals: []string{"logs"}, Receiver: []string{
		"tunnel_path: /t",
		"projects:",
		`- {id: 42, public_keys: ["` + harness.TestKey + `"], resource_attributes: {service.name: shop}}`,
		`- {id: 43, public_keys: ["` + otherKey + `"], resource_attributes: {service.name: payments}}`,
	}})
	body := func(key string, project int) []byte {
		return fmt.Appendf(nil, "{\"dsn\":\"https://%s@o1.ingest.sentry.io/%d\"}\n{\"type\":\"event\"}\n{\"message\":\"hello\"}\n", key, project)
	}
	send := func(encoding string, body []byte) harness.Response {
		got := c.Send(t, harness.Request{Target: "/t", Body: body, Headers: [][2]string{
			{"Origin", "https://shop.example"}, {"Content-Type", "text/plain;charset=UTF-8"}, {"Content-Encoding", encoding},
		}})
		assert.Equal(t, "*", got.Header.Get("Access-Control-Allow-Origin"), "the page may read the answer")
		return got
	}
	for encoding, compress := range map[string]func(io.Writer) io.WriteCloser{
		"gzip":    func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"deflate": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"br":      func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser {
			encoder, err := zstd.NewWriter(w)
			require.NoError(t, err)
			return encoder
		},
		"identity": func(w io.Writer) io.WriteCloser { return nopCloser{w} },
	} {
		for project, from := range map[int]struct{ key, service string }{42: {harness.TestKey, "shop"}, 43: {otherKey, "payments"}} {
			var b bytes.Buffer
			w := compress(&b)
			_, err := w.Write(body(from.key, project))
			require.NoError(t, err)
			require.NoError(t, w.Close())
			got := send(encoding, b.Bytes())
			require.Equal(t, http.StatusOK, got.Status, "%s: %s", encoding, got.Body)
			resource, record := harness.OnlyLogRecord(t, backend)
			assert.Equal(t, "hello", record.Body().Str())
			assert.Equal(t, from.service, resource["service.name"])
		}
	}
	for name, foreign := range map[string][]byte{"key of another project": body(harness.TestKey, 43), "unknown project": body(harness.TestKey, 44)} {
		got := send("", foreign)
		assert.Equal(t, http.StatusForbidden, got.Status, name)
	}
	assert.Equal(t, http.StatusUnauthorized, send("", []byte("{}\n")).Status, "no dsn")
	assert.Empty(t, backend.Drain(harness.LogsPath))
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
