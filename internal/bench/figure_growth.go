package main

import (
	"fmt"
	"math"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// growth looks for cost that grows faster than the payload: CPU per sample from 50 kB to 50 MB, in which stacks and frames
// grow in proportion. The fixed cost of a request is that of a payload of ten samples, which has the smallest tables.
func (b *bench) growth() {
	payloads := []payload.Payload{payload.Python(10)}
	for size := payload.FiveMB / 100; size <= 10*payload.FiveMB; size *= 10 {
		payloads = append(payloads, payload.Python(size))
	}
	var contestants []measure.Contestant
	for _, p := range payloads {
		contestants = append(contestants, measure.Contestant{Name: p.Name, Work: func() { decodeAndMap(p) }})
	}
	results := measure.Race(b.rounds, contestants...)
	fixed := results[0].Median()
	lowest, highest := math.Inf(1), 0.0
	note := fmt.Sprintf("fixed %v; ns per sample:", fixed.Round(time.Microsecond))
	for i, r := range results[1:] {
		p := payloads[i+1]
		perSample := float64(r.Median()-fixed) / float64(p.Samples-payloads[0].Samples)
		lowest, highest = min(lowest, perSample), max(highest, perSample)
		note += fmt.Sprintf(" %.0f (%.2g MB)", perSample, p.MB())
	}
	printRow("CPU per sample, 50 kB … 50 MB: max ÷ min", "py", atMost(1.5, 0), highest/lowest, note)
}
