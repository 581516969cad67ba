// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"runtime"
	"slices"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkAllocations counts the allocations of decoding and translating with filled pools. It
// reports objects per sample only for chunks that consist mostly of samples: in Node's large
// recordings, nearly every sample has its own stack, and the figure would not be meaningful.
func BenchmarkAllocations(b *testing.B) {
	onEach(b, slices.Concat(payload.Typical(typical), recorded), func(b *testing.B, p payload.Payload) {
		var objects, bytes float64
		for b.Loop() {
			objects, bytes = allocated(func() { decodeAndMap(p) })
		}
		if bytesPerSample := len(p.JSON) / p.Samples; bytesPerSample < 1000 {
			report(b, "objects÷samples", objects, float64(p.Samples))
		}
		report(b, "bytes÷payload", bytes, float64(len(p.JSON)))
	})
}

// allocated returns the average number of objects and bytes that f allocates.
func allocated(f func()) (objects, bytes float64) {
	const times = 5
	var before, after runtime.MemStats
	f()
	runtime.ReadMemStats(&before)
	for range times {
		f()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / times, float64(after.TotalAlloc-before.TotalAlloc) / times
}
