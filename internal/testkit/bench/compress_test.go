// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	stdgzip "compress/gzip"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// compression compresses bodies like confighttp, with its default level.
type compression interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// BenchmarkCompress compares the export of a chunk to Sentry, translation and compression, with the same and the compression of the standard
// library, which confighttp uses.
func BenchmarkCompress(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), recorded), func(b *testing.B, p payload.Payload) {
		if p.V1 {
			b.Skip("chunks only")
		}
		profiles := decodeAndMap(p)
		var size [2]float64
		contestants := make([]func(), 2)
		for i, c := range []compression{gzip.NewWriter(nil), stdgzip.NewWriter(nil)} {
			contestants[i] = func() {
				var out bytes.Buffer
				c.Reset(&out)
				_, err := c.Write(exportChunk(profiles))
				must(err)
				must(c.Close())
				size[i] = float64(out.Len())
			}
		}
		took := race(b, contestants...)
		report(b, "std÷own", took[1], took[0])
		report(b, "own-bytes÷std", size[0], size[1])
	})
}
