// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fastgzip"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// compression compresses bodies like confighttp, with its default level.
type compression interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// BenchmarkCompress compares the export of a chunk to Sentry, translation and compression, with the
// same and the gzip of the standard library, which confighttp uses. alone is the compression of the
// known JSON.
func BenchmarkCompress(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), recorded), func(b *testing.B, p payload.Payload) {
		if p.V1 {
			b.Skip("chunks only")
		}
		profiles := decodeAndMap(p)
		own, err := gzip.NewWriterLevel(nil, fastgzip.Level)
		must(err)
		compressions := []compression{stdgzip.NewWriter(nil), own, zstandard()}
		sizes := make([]float64, len(compressions))
		compress := func(i int, text []byte) {
			var out bytes.Buffer
			compressions[i].Reset(&out)
			_, err := compressions[i].Write(text)
			must(err)
			must(compressions[i].Close())
			sizes[i] = float64(out.Len())
		}
		var contestants []func()
		for i := range compressions {
			contestants = append(contestants, func() { compress(i, exportChunk(profiles)) })
		}
		known := exportChunk(profiles)
		contestants = append(contestants, func() { compress(1, known) }, func() { compress(2, known) })
		took := race(b, contestants...)
		report(b, "std÷gzip", took[0], took[1])
		report(b, "std÷zstd", took[0], took[2])
		report(b, "alone÷gzip", took[3], took[1])
		report(b, "alone÷zstd", took[4], took[2])
		report(b, "gzip-bytes÷std", sizes[1], sizes[0])
		report(b, "zstd-bytes÷std", sizes[2], sizes[0])
	})
}
