// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"math"
	"testing"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
)

// BenchmarkGrowth detects costs that grow faster than the payload: it measures CPU time per sample
// from 50 kB to 50 MB, with proportional numbers of stacks and frames. The fixed cost of a request
// is that of a payload with ten samples, which has the smallest tables.
func BenchmarkGrowth(b *testing.B) {
	onEach(b, payload.Typical(10)[:1], func(b *testing.B, smallest payload.Payload) {
		payloads := []payload.Payload{smallest}
		for samples := typical / 100; samples <= 10*typical; samples *= 10 {
			payloads = append(payloads, payload.Python(samples))
		}
		var contestants []func()
		for _, p := range payloads {
			contestants = append(contestants, func() { decodeAndMap(p) })
		}
		took := race(b, contestants...)
		lowest, highest := math.Inf(1), 0.0
		for i, p := range payloads[1:] {
			perSample := float64(took[1+i]-took[0]) / float64(p.Samples-smallest.Samples)
			lowest, highest = min(lowest, perSample), max(highest, perSample)
		}
		report(b, "dearest÷cheapest", highest, lowest)
	})
}
