// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"io"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func encoded(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	var w io.WriteCloser
	switch name {
	case Gzip:
		w = gzip.NewWriter(&out)
	case Deflate:
		w = zlib.NewWriter(&out)
	case Zstd:
		e, err := zstd.NewWriter(&out)
		require.NoError(t, err)
		w = e
	case Brotli:
		w = brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: 5, LGWin: 24})
	default:
		return text
	}
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestPeek: the beginning is decoded as soon as it has arrived, in each coding, and the body stays
// complete.
func TestPeek(t *testing.T) {
	const limit = 4 << 10
	line := []byte("{\"dsn\":\"x\"}\n")
	enough := func(decoded []byte) bool { return bytes.HasPrefix(decoded, line) }
	repeated := 1 << 16
	if testsize.Full() {
		repeated = 1 << 20 // 22 MB, more than any window
	}
	large := append(bytes.Clone(line), bytes.Repeat([]byte("Many different words: "), repeated)...)
	for _, name := range []string{Identity, Gzip, Deflate, Zstd, Brotli} {
		for what, text := range map[string][]byte{"small": line, "large": large} {
			budget := newRoom(MaxPerRequest(100 << 20))
			claim := budget.Claim(t.Context())
			sent := encoded(t, name, text)
			found := false
			req := httptest.NewRequest("POST", "/", iotest.HalfReader(bytes.NewReader(sent)))
			require.NoError(t, Peek(req, name, limit, claim, func(decoded []byte) bool {
				assert.LessOrEqual(t, len(decoded), limit)
				found = enough(decoded)
				return found
			}), "%s %s", name, what)
			assert.True(t, found, "%s %s", name, what)
			assert.LessOrEqual(t, budget.Used(), int64(2*maxPeek), "the window and the decoded bytes are released")
			body, err := Read(req, 100<<20, claim)
			require.NoError(t, err)
			assert.True(t, bytes.Equal(sent, body.Data), "%s %s", name, what)
			claim.Release()
		}
	}
}

// TestPeekIsBounded: Peek reads and decodes a limited part of a body with an unexpected beginning.
func TestPeekIsBounded(t *testing.T) {
	const limit = 4 << 10
	never := func([]byte) bool { return false }
	blanks := strings.Repeat(" ", 8<<20)
	for _, name := range []string{Identity, Gzip, Deflate, Zstd, Brotli} {
		src := bytes.NewReader(encoded(t, name, []byte(blanks)))
		size := src.Len()
		require.NoError(t, Peek(httptest.NewRequest("POST", "/", src), name, limit, nil, never), name)
		assert.LessOrEqual(t, size-src.Len(), maxPeek, name)
	}
	assert.Error(t, Peek(httptest.NewRequest("POST", "/", strings.NewReader("no gzip")), Gzip, limit, nil, never))
	assert.NoError(t, Peek(httptest.NewRequest("POST", "/", nil), Gzip, limit, nil, never), "no body")
	gone := errors.New("gone")
	assert.ErrorIs(t, Peek(httptest.NewRequest("POST", "/", iotest.ErrReader(gone)), Identity, limit, nil, never), gone)

	tries := 0
	slow := iotest.OneByteReader(strings.NewReader(strings.Repeat(" ", maxPeek)))
	require.NoError(t, Peek(httptest.NewRequest("POST", "/", slow), Identity, limit, nil, func([]byte) bool { tries++; return false }))
	assert.Less(t, tries, 10, "a decoder begins anew each time")
}

// TestPeekOfABrotliBomb: the work before the first decoded byte is bounded too: a new decoder does
// not even make the window of 16 MiB that the stream states, so it cannot fill it.
func TestPeekOfABrotliBomb(t *testing.T) {
	bomb := encoded(t, Brotli, bytes.Repeat([]byte(" "), 17<<20))
	pooled := codings[Brotli]
	defer func() { codings[Brotli] = pooled }()
	codings[Brotli] = newCoding(noSize, brotliWindow, func() decoder { return new(brotliDecoder) })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	found := 0
	require.NoError(t, Peek(httptest.NewRequest("POST", "/", bytes.NewReader(bomb)), Brotli, 64<<10, nil, func(decoded []byte) bool {
		found = len(decoded)
		return false
	}))
	runtime.ReadMemStats(&after)
	assert.Equal(t, 64<<10, found)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(2<<20), "allocated bytes")
}
