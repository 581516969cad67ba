package main

import (
	"fmt"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// worst compares CPU per MB of payloads that no program makes, or hardly, with that of the typical one.
func (b *bench) worst() {
	typical := payload.Python(payload.FiveMB)
	for _, p := range []payload.Payload{payload.Patho(payload.FiveMBPatho), payload.Browser()} {
		results := measure.Race(b.rounds,
			measure.Contestant{Name: typical.Name, Work: func() { decodeAndMap(typical) }},
			measure.Contestant{Name: p.Name, Work: func() { decodeAndMap(p) }})
		ratio := results[1].Over(results[0]) * typical.MB() / p.MB()
		note := fmt.Sprintf("%.0f against %.0f MB per CPU-second",
			p.MB()/results[1].Median().Seconds(), typical.MB()/results[0].Median().Seconds())
		printRow("worst case ÷ py, CPU per MB", p.Name, atMost(2.5, 2), ratio, note)
	}
}
