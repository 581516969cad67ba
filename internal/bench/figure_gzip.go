package main

import (
	"bytes"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
)

// gzip compares the path with decompression in front to decompression alone. Both read into memory that is there already.
func (b *bench) gzip() {
	for _, source := range append(payload.Generated()[:3], b.recorded...) {
		p, err := source.Load()
		must(err)
		zipped := payload.Zip(p.JSON)
		buffer := make([]byte, len(p.JSON))
		unzip := new(gzip.Reader)
		gunzip := func() {
			must(unzip.Reset(bytes.NewReader(zipped)))
			_, err := io.ReadFull(unzip, buffer)
			must(err)
		}
		results := measure.Race(b.roundsFor(p),
			measure.Contestant{Name: "gunzip", Work: gunzip},
			measure.Contestant{Name: "gunzip, decode, map", Work: func() {
				gunzip()
				decodeAndMapJSON(p.V1, buffer)
			}})
		printRow("gunzip + decode + map ÷ gunzip alone", p.Name, atMost(3.0, 2.3), results[1].Over(results[0]), "")
	}
}
