package main

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

var exportOptions = translate.ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-sentry", Version: "0"}}

// export compares the way back, from a message to the JSON of a chunk, with structs that encoding/json marshals. The target is
// for chunks that consist of samples; where nearly every sample has a stack of its own, both sides spend their time on looking
// up frames.
func (b *bench) export() {
	var absolute strings.Builder
	for _, source := range append(payload.Generated(), b.recorded...) {
		p, err := source.Load()
		must(err)
		if p.V1 {
			continue
		}
		profiles := decodeAndMap(p)
		size := len(exportChunk(profiles))
		results := measure.Race(b.roundsFor(p),
			measure.Contestant{Name: "own", Work: func() { exportChunk(profiles) }},
			measure.Contestant{Name: "structs", Work: func() {
				_, err := rival.MarshalChunk(profiles)
				must(err)
			}})
		t := atLeast(3.5, 5)
		if size/p.Samples > 1000 {
			t = noTarget
		}
		printRow("export: structs, encoding/json ÷ own", p.Name, t, results[1].Over(results[0]), "")
		fmt.Fprintf(&absolute, "  %-18s %5.1f MB", p.Name, float64(size)/1e6)
		for _, r := range results {
			fmt.Fprintf(&absolute, "  %s %.0f", r.Name, float64(size)/1e6/r.Median().Seconds())
		}
		absolute.WriteByte('\n')
	}
	fmt.Printf("for orientation, export in MB of JSON per CPU-second:\n%s", absolute.String())
}

// exportChunk is the way back of the product.
func exportChunk(profiles pprofile.Profiles) []byte {
	out := translate.ProfilesToChunks(profiles, exportOptions)
	return out.Items[0].Payload
}
