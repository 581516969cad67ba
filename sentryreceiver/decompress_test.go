// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// encoders write each coding, by its name in the tests.
var encoders = map[string]func(io.Writer) io.WriteCloser{
	"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
	"zlib": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
	"deflate": func(w io.Writer) io.WriteCloser {
		e, err := flate.NewWriter(w, flate.DefaultCompression)
		if err != nil {
			panic(err)
		}
		return e
	},
	"br": func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
	"zstd": func(w io.Writer) io.WriteCloser {
		e, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic(err)
		}
		return e
	},
}

// encode writes the parts one after the other, without telling the encoder how much there will be.
func encode(t testing.TB, name string, parts ...[]byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := encoders[name](&out)
	for _, part := range parts {
		_, err := w.Write(part)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestEncodings(t *testing.T) {
	h := start(t, nil)
	plain := []byte(envelope(chunkItem))
	zstdWithSize, err := zstd.NewWriter(nil)
	require.NoError(t, err)

	type test struct {
		name   string
		header []string
		body   []byte
	}
	tests := []test{
		{"absent", nil, plain},
		{"empty, as ruby sent", []string{""}, plain},
		{"identity", []string{"identity"}, plain},
		{"UTF-8, as java-android sent", []string{"UTF-8"}, plain},
		{"utf-8", []string{"utf-8"}, plain},
		{"gzip", []string{"gzip"}, encode(t, "gzip", plain)},
		{"in capitals", []string{"GZIP"}, encode(t, "gzip", plain)},
		{"x-gzip", []string{"x-gzip"}, encode(t, "gzip", plain)},
		{"a list of one and nothing", []string{"identity, gzip"}, encode(t, "gzip", plain)},
		{"two headers of one and nothing", []string{"gzip", ""}, encode(t, "gzip", plain)},
		{"gzip in two members", []string{"gzip"}, append(encode(t, "gzip", plain[:50]), encode(t, "gzip", plain[50:])...)},
		{"deflate", []string{"deflate"}, encode(t, "zlib", plain)},
		{"deflate without zlib", []string{"deflate"}, encode(t, "deflate", plain)},
		{"zlib", []string{"zlib"}, encode(t, "zlib", plain)},
		{"br", []string{"br"}, encode(t, "br", plain)},
		{"zstd", []string{"zstd"}, encode(t, "zstd", plain)},
		{"zstd that says its size", []string{"zstd"}, zstdWithSize.EncodeAll(plain, nil)},
	}
	for round := range 2 { // the second with decoders from the pool
		for i, test := range tests {
			t.Run(test.name, func(t *testing.T) {
				req := h.envelopeRequest(test.body)
				req.Header["Content-Encoding"] = test.header
				got := h.do(req)
				assert.Equal(t, 200, got.status, got.text)
				assert.Equal(t, round*len(tests)+i+1, h.sink.count())

				req = h.request("POST", "/api/42/envelope/?sentry_key=public", io.MultiReader(bytes.NewReader(test.body)))
				req.Header["Content-Encoding"] = test.header
				h.sink.profiles = h.sink.profiles[:round*len(tests)+i]
				got = h.do(req)
				assert.Equal(t, 200, got.status, "chunked: %s", got.text)
				assert.Equal(t, round*len(tests)+i+1, h.sink.count())
			})
		}
	}
}

func TestUnknownEncodings(t *testing.T) {
	h := start(t, nil)
	for _, name := range []string{"compress", "gzip, br", "gzip,gzip", "snappy", "lz4", "🙂"} {
		req := h.envelopeRequest([]byte(envelope(chunkItem)))
		req.Header.Set("Content-Encoding", name)
		got := h.do(req)
		assert.Equal(t, 415, got.status, name)
		assert.Equal(t, "unsupported encoding", got.Detail)
		assert.Equal(t, "gzip, deflate, br, zstd", got.header.Get("Accept-Encoding"))
		assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
	}
	assert.Equal(t, map[string]int64{"reason=unsupported_encoding": 6}, h.rejected())
	assert.Zero(t, h.sink.count())
}

func TestEncodingsOfTheUser(t *testing.T) {
	h := start(t, func(c *Config) { c.HTTP.CompressionAlgorithms = []string{"", "gzip", "snappy"} })
	plain := []byte(envelope(chunkItem))
	for name, status := range map[string]int{"": 200, "gzip": 200, "br": 415, "zstd": 415, "deflate": 415} {
		body := plain
		if name != "" {
			body = encode(t, name, plain)
		}
		req := h.envelopeRequest(body)
		req.Header.Set("Content-Encoding", name)
		assert.Equal(t, status, h.do(req).status, name)
	}
	// confighttp's own decoders still work, and fail in our words.
	req := h.envelopeRequest([]byte{0xff, 0xff, 0xff, 0xff, 0xff})
	req.Header.Set("Content-Encoding", "snappy")
	got := h.do(req)
	assert.Equal(t, 400, got.status, got.text)
	assert.Equal(t, "cannot decode the body", got.Detail)
}

func TestBrokenEncodings(t *testing.T) {
	h := start(t, nil)
	plain := []byte(envelope(chunkItem))
	broken := int64(0)
	for name := range encoders {
		whole := encode(t, name, plain)
		if name == "zlib" || name == "deflate" {
			continue // under one name, below
		}
		flipped := bytes.Clone(whole)
		flipped[len(flipped)/2] ^= 0xff
		for what, body := range map[string][]byte{
			"cut":     whole[:len(whole)-6],
			"start":   whole[:3],
			"plain":   plain,
			"flipped": flipped,
		} {
			req := h.envelopeRequest(body)
			req.Header.Set("Content-Encoding", name)
			got := h.do(req)
			assert.Equal(t, 400, got.status, "%s %s", name, what)
			if got.Detail != "invalid envelope" { // brotli has no checksum: flipped bits may decode
				assert.Equal(t, "cannot decode the body as "+name, got.Detail)
				broken++
			}
		}
	}
	for _, body := range [][]byte{encode(t, "zlib", plain)[:100], encode(t, "deflate", plain)[:100], {0x78}, {0x78, 0x9c}} {
		req := h.envelopeRequest(body)
		req.Header.Set("Content-Encoding", "deflate")
		assert.Equal(t, 400, h.do(req).status)
		broken++
	}
	assert.Equal(t, broken, h.rejected()["reason=body_undecodable"])
	assert.Zero(t, h.sink.count())

	for name := range encoders {
		if name != "zlib" {
			req := h.envelopeRequest(nil)
			req.Header.Set("Content-Encoding", name)
			assert.Equal(t, "invalid envelope", h.do(req).Detail, "an empty body is empty in every encoding")
		}
	}
}

func TestBodyTooLarge(t *testing.T) {
	const limit = 1 << 20
	h := start(t, func(c *Config) { c.HTTP.MaxRequestBodySize = limit })
	fits := []byte(envelope(item("attachment", "", strings.Repeat("a", limit-60))))
	require.LessOrEqual(t, len(fits), limit)
	exact := append(fits, bytes.Repeat([]byte("\n"), limit-len(fits))...)
	tooLarge := append(exact, '\n')

	assert.Equal(t, 200, h.post(string(exact)).status, "exactly the limit")
	got := h.post(string(tooLarge))
	assert.Equal(t, 413, got.status)
	assert.Contains(t, got.text, "1048576 bytes", "the limit")
	assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))

	req := h.request("POST", "/api/42/envelope/?sentry_key=public", io.MultiReader(bytes.NewReader(tooLarge)))
	assert.Equal(t, 413, h.do(req).status, "chunked")
	for _, name := range []string{"gzip", "deflate", "br", "zstd"} {
		for status, body := range map[int][]byte{200: exact, 413: tooLarge} {
			req := h.envelopeRequest(encode(t, name, body))
			req.Header.Set("Content-Encoding", name)
			assert.Equal(t, status, h.do(req).status, name)
		}
	}
	assert.Equal(t, map[string]int64{"reason=body_too_large": 6}, h.rejected())
}

// A bomb is a small body that decodes to a large one. What it costs is bounded by
// max_request_body_size, whatever it holds.
func TestBombs(t *testing.T) {
	limit := int64(1 << 20)
	if testsize.Full() {
		limit = 4 << 20
	}
	h := start(t, func(c *Config) { c.HTTP.MaxRequestBodySize = limit })
	zeros := make([]byte, 16*limit)

	bombs := map[string][]byte{}
	for name := range encoders {
		bombs[name] = encode(t, name, zeros)
	}
	bombs["gzip that lies about its size"] = bytes.Clone(bombs["gzip"])
	binary.LittleEndian.PutUint32(bombs["gzip that lies about its size"][len(bombs["gzip"])-4:], 12)

	for name, bomb := range bombs {
		require.Less(t, len(bomb), 128<<10)
		encoding, _, _ := strings.Cut(name, " ")
		if encoding == "zlib" {
			encoding = "deflate"
		}
		for _, path := range []string{"envelope/", "integration/otlp/v1/traces/"} {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			req := h.envelopeRequest(bomb)
			req.URL.Path = "/api/42/" + path
			req.Header.Set("Content-Encoding", encoding)
			assert.Equal(t, 413, h.do(req).status, "%s %s", path, name)
			runtime.ReadMemStats(&after)
			t.Logf("%s %s: %d bytes allocated", path, name, after.TotalAlloc-before.TotalAlloc)
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(6*limit+16<<20), name) // everything, client and windows included
		}
	}
}

// TestBuffersAreReused makes sure that what goes into the pipelines does not live in the memory of
// requests.
func TestBuffersAreReused(t *testing.T) {
	h := start(t, func(c *Config) { c.KeepOriginalPayload = true })
	require.Equal(t, 200, h.post(envelope(profileItem, chunkItem)).status)
	require.Len(t, h.sink.profiles, 2)
	var before []string
	for _, p := range h.sink.profiles {
		before = append(before, textOf(t, p))
	}
	for range 20 { // other bodies in the same memory
		h.post(strings.Repeat("x", 10000))
	}
	for i, p := range h.sink.profiles {
		assert.Equal(t, before[i], textOf(t, p))
	}
}
