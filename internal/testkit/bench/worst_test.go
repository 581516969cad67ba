// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkWorst compares the CPU time per byte for extreme payloads with that for the typical one.
func BenchmarkWorst(b *testing.B) {
	python := payload.Python(typical)
	onEach(b, payload.Extreme(typical), func(b *testing.B, p payload.Payload) {
		took := race(b, func() { decodeAndMap(python) }, func() { decodeAndMap(p) })
		report(b, "extreme÷py", took[1].Seconds()/p.MB(), took[0].Seconds()/python.MB())
	})
}

// BenchmarkImages compares a small chunk of a native app, which describes 420 images, with one of a
// Python program with as many samples.
func BenchmarkImages(b *testing.B) {
	const samples = 570
	python := payload.Python(samples)
	onEach(b, payload.Typical(samples)[2:], func(b *testing.B, p payload.Payload) {
		took := race(b, func() { decodeAndMap(python) }, func() { decodeAndMap(p) })
		report(b, "native÷py", took[1], took[0])
	})
}
