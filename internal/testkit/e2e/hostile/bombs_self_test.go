// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"io"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBombs: the bombs have the stated size, and an unprotected decoder expands them.
func TestBombs(t *testing.T) {
	testsize.NeedFull(t)
	unzip, err := gzip.NewReader(bytes.NewReader(gzipBomb()))
	require.NoError(t, err)
	inflate, err := zlib.NewReader(bytes.NewReader(deflateBomb()))
	require.NoError(t, err)
	unzstd, err := zstd.NewReader(bytes.NewReader(zstdBomb()), zstd.WithDecoderConcurrency(1))
	require.NoError(t, err)
	defer unzstd.Close()

	const enough = 300 << 20 // three times the limit, beyond every block boundary
	for name, decoder := range map[string]io.Reader{
		"gzip": unzip, "deflate": inflate, "br": brotli.NewReader(bytes.NewReader(brotliBomb())), "zstd": unzstd,
	} {
		n, err := io.CopyN(io.Discard, decoder, enough)
		require.NoError(t, err, name)
		require.EqualValues(t, enough, n, name)
	}
	require.Less(t, len(brotliBomb()), 100_000)
	require.Less(t, len(zstdBomb()), 100_000)
	t.Logf("bytes: gzip %d, deflate %d, br %d, zstd %d", len(gzipBomb()), len(deflateBomb()), len(brotliBomb()), len(zstdBomb()))
}
