package main

import (
	"fmt"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// decode compares decode and map with the same mapper behind other decoders.
func (b *bench) decode() {
	var absolute strings.Builder
	for _, source := range append(payload.Generated(), b.recorded...) {
		if source.Name == "browser" {
			continue // a recorded one is among them, and the figure of the worst case has this one
		}
		p, err := source.Load()
		must(err)
		results := b.raceDecoders(p)
		own, twoPass, standard, best := results[0], results[1], results[2], results[3]
		for _, r := range results[3:] {
			if r.Median() < best.Median() {
				best = r
			}
		}
		printRow("decode + map: two-pass encoding/json ÷ own", p.Name, atLeast(12, 16), twoPass.Over(own), "")
		printRow("decode + map: encoding/json ÷ own", p.Name, atLeast(7, 9), standard.Over(own), "")
		printRow("decode + map: best general library ÷ own", p.Name, atLeast(1.7, 2), best.Over(own), best.Name)

		fmt.Fprintf(&absolute, "  %-18s %5.1f MB %6d samples ", p.Name, p.MB(), p.Samples)
		for _, r := range results {
			fmt.Fprintf(&absolute, "  %s %.0f", r.Name, p.MB()/r.Median().Seconds())
		}
		absolute.WriteByte('\n')
	}
	fmt.Printf("for orientation, decode + map in MB per CPU-second:\n%s", absolute.String())
}

// raceDecoders gives the product's result first, then those of rival.All in its order.
func (b *bench) raceDecoders(p payload.Payload) []measure.Result {
	contestants := []measure.Contestant{{Name: "own", Work: func() { decodeAndMap(p) }}}
	converter, err := rival.NewConverter(p.JSON)
	must(err)
	for _, library := range rival.All() {
		contestants = append(contestants, measure.Contestant{Name: library.Name, Work: func() {
			if p.V1 {
				profile, err := library.Profile(p.JSON)
				must(err)
				translate.ProfileToProfiles(converter.Profile(profile), source)
				return
			}
			chunk, err := library.Chunk(p.JSON)
			must(err)
			translate.ChunkToProfiles(converter.Chunk(chunk), source)
		}})
	}
	return measure.Race(b.roundsFor(p), contestants...)
}
