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
