// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"io"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/andybalholm/brotli"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

// TestReadAndDecode: the claim equals the memory after each step, also after errors.
func TestReadAndDecode(t *testing.T) {
	const limit = 1 << 20
	budget := newRoom(MaxPerRequest(limit))
	text := bytes.Repeat([]byte("a"), limit)
	claim := budget.Claim(t.Context())
	body, err := Read(httptest.NewRequest("POST", "/", bytes.NewReader(gzipped(t, text))), limit, claim)
	require.NoError(t, err)
	require.NoError(t, body.Decode(Gzip, limit))
	assert.True(t, bytes.Equal(text, body.Data))
	claim.ShrinkTo(int64(len(body.Data)))
	assert.EqualValues(t, limit, budget.used)
	require.NoError(t, body.Decode(Identity, limit))
	assert.Error(t, body.Decode(Deflate, limit), "it is none")
	assert.True(t, bytes.Equal(text, body.Data), "as it was")
	body.Release()
	claim.Release()
	assert.Zero(t, budget.used)

	_, err = Read(httptest.NewRequest("POST", "/", strings.NewReader("abc")), 2, nil)
	assert.ErrorIs(t, err, ErrTooLarge)
	synctest.Test(t, func(t *testing.T) { // it waits for maxWait
		full := budget.Claim(t.Context())
		require.NoError(t, full.Acquire(MaxPerRequest(limit)))
		_, err = Read(httptest.NewRequest("POST", "/", strings.NewReader("abc")), limit, budget.Claim(t.Context()))
		assert.ErrorIs(t, err, ErrNoMemory)
	})
}

// TestOneAlwaysFits: a single request fits, in any coding and with the smallest limits.
func TestOneAlwaysFits(t *testing.T) {
	for _, limit := range []int64{1, minBuffer, 1 << 20, 3 << 19} {
		text := bytes.Repeat([]byte("a"), int(limit))
		var zlibbed, brotlied bytes.Buffer
		z, _ := zlib.NewWriterLevel(&zlibbed, zlib.NoCompression)
		_, _ = z.Write(text[:limit/2])
		require.NoError(t, z.Close())
		w := brotli.NewWriterLevel(&brotlied, 0)
		_, _ = w.Write(text)
		require.NoError(t, w.Close())

		budget := newRoom(MaxPerRequest(limit))
		claim := budget.Claim(t.Context())
		body := acquire(claim)
		require.NoError(t, body.fill(bytes.NewReader(brotlied.Bytes()), -1, 0, limit+1000))
		require.NoError(t, body.reserve(int(limit)+1), "an encoded body may be as large as a decoded one")
		require.NoError(t, body.Decode(Brotli, limit), limit)
		require.NoError(t, body.DecodeBase64([]byte(base64.RawStdEncoding.EncodeToString(zlibbed.Bytes()))))
		require.NoError(t, body.Decode(Deflate, limit), limit)
		assert.Len(t, body.Data, int(limit/2))
		assert.EqualValues(t, body.reserved, budget.used, "what was decoded is given back")
		body.Release()
		claim.Release()
		assert.Zero(t, budget.used)
	}
}

// TestClaimedSizes: small bodies with a large stated size get no more memory than they need.
func TestClaimedSizes(t *testing.T) {
	const limit = 1 << 30
	small := gzipped(t, []byte("{}\n"))
	binary.LittleEndian.PutUint32(small[len(small)-4:], 900<<20)
	out := &Body{}
	assert.Error(t, codings["gzip"].decode(small, out, limit), "the claim is checked in the end")
	assert.LessOrEqual(t, cap(out.Data), minBuffer)

	out = &Body{}
	require.NoError(t, out.fill(strings.NewReader("{}\n"), 900<<20, 0, limit))
	assert.LessOrEqual(t, cap(out.Data), minBuffer)

	// A zstd frame may state a window of terabytes.
	window := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x01, 0x00, 0x00}
	assert.Error(t, codings["zstd"].decode(window, &Body{}, limit))
}

// readFunc implements io.Reader.
type readFunc func([]byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

// TestClaimFollowsTheBytes: a body without bytes claims nothing, and a slow one a small multiple of
// the received bytes, whatever size it states.
func TestClaimFollowsTheBytes(t *testing.T) {
	for _, size := range []int64{-1, 100 << 10, 1 << 20, 90 << 20} {
		budget := newRoom(MaxPerRequest(100 << 20))
		claim, arrived := budget.Claim(t.Context()), int64(0)
		req := httptest.NewRequest("POST", "/", readFunc(func(p []byte) (int, error) {
			if arrived == 0 {
				assert.Zero(t, budget.Used())
			} else {
				assert.LessOrEqual(t, budget.Used(), firstBuffer+growth*arrived, "after %d bytes", arrived)
			}
			if arrived >= 1<<20 {
				return 0, io.EOF
			}
			n := min(len(p), 1000)
			arrived += int64(n)
			return n, nil
		}))
		req.ContentLength = size
		body, err := Read(req, 100<<20, claim)
		require.NoError(t, err)
		assert.Len(t, body.Data, int(arrived))
		body.Release()
		claim.Release()
	}
}

// TestBufferFitsTheBody reads a body with a stated size.
func TestBufferFitsTheBody(t *testing.T) {
	repeated := 50_000 // 3 MB
	if testsize.Full() {
		repeated = 250_000
	}
	body := bytes.Repeat([]byte(`{"timestamp":1777629600.010,"thread_id":"1","stack_id":0},`), repeated)
	for name, read := range map[string]func(*Body) error{
		"identity": func(b *Body) error { return b.fill(bytes.NewReader(body), int64(len(body)), 0, 1<<30) },
		"gzip": func(b *Body) error {
			return codings["gzip"].decode(gzipped(t, body), b, 1<<30)
		},
		"of unknown size": func(b *Body) error { return b.fill(bytes.NewReader(body), -1, 0, 1<<30) },
	} {
		b := &Body{}
		require.NoError(t, read(b))
		assert.True(t, bytes.Equal(body, b.Data), name)
		if name != "of unknown size" {
			assert.LessOrEqual(t, cap(b.Data), len(body)+1, name)
		}
	}
}

// TestShortBodies: an empty body needs no decoding, a body of one byte does.
func TestShortBodies(t *testing.T) {
	for _, name := range []string{Gzip, Zstd, Brotli, Deflate} {
		body := &Body{}
		require.NoError(t, body.Decode(name, 100), name)
		assert.Empty(t, body.Data)
		body.Data = []byte{0xff}
		assert.Error(t, body.Decode(name, 100), name)
	}
}
