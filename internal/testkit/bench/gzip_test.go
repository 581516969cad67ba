// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkGzip compares decompressing, decoding and translating with decompressing alone. Both decompress into existing memory.
func BenchmarkGzip(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), recorded), func(b *testing.B, p payload.Payload) {
		zipped := payload.Zip(p.JSON)
		buffer := make([]byte, len(p.JSON))
		unzip := new(gzip.Reader)
		gunzip := func() {
			must(unzip.Reset(bytes.NewReader(zipped)))
			_, err := io.ReadFull(unzip, buffer)
			must(err)
		}
		took := race(b, gunzip, func() {
			gunzip()
			decodeAndMapJSON(p.V1, buffer)
		})
		report(b, "whole÷gunzip", took[1], took[0])
	})
}
