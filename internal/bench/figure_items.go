package main

import (
	"fmt"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/measure"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate"
)

// items compares decode and map of transactions, span containers and logs with the same mapper behind other decoders. They are
// small beside profiles, and most of the time is the mapper's, which all have: the aim is to be no slower than encoding/json.
func (b *bench) items() {
	items, err := payload.Items()
	must(err)
	var absolute strings.Builder
	for _, item := range items {
		contestants := []measure.Contestant{{Name: "own", Work: func() { mapItem(item, nil) }}}
		for _, library := range append([]rival.Library{rival.Standard()}, rival.Best()...) {
			contestants = append(contestants, measure.Contestant{Name: library.Name, Work: func() { mapItem(item, &library) }})
		}
		results := measure.Race(b.rounds, contestants...)
		own, standard, best := results[0], results[1], results[1]
		for _, r := range results[1:] {
			if r.Median() < best.Median() {
				best = r
			}
		}
		objects, _ := allocated(func() { mapItem(item, nil) })
		printRow("decode + map: encoding/json ÷ own", item.Name, atLeast(1, 1.5), standard.Over(own), "")
		printRow("decode + map: best general library ÷ own", item.Name, noTarget, best.Over(own), best.Name)
		printRow("allocations per span or record", item.Name, noTarget, float64(objects)/float64(item.Elements), "")

		fmt.Fprintf(&absolute, "  %-18s %5.1f MB %6d elements", item.Name, item.MB(), item.Elements)
		for _, r := range results {
			fmt.Fprintf(&absolute, "  %s %.0f", r.Name, item.MB()/r.Median().Seconds())
		}
		absolute.WriteByte('\n')
	}
	fmt.Printf("for orientation, decode + map in MB per CPU-second:\n%s", absolute.String())
}

// mapItem decodes an item with a library, nil = as the product does, and maps it as the product does.
func mapItem(item payload.Item, library *rival.Library) any {
	transaction, spans, logs := sentry.DecodeTransaction, decodeSpans, decodeLogs
	if library != nil {
		transaction, spans, logs = library.Transaction, library.Spans, library.Logs
	}
	switch item.Type {
	case sentry.ItemTransaction:
		t, err := transaction(item.JSON)
		must(err)
		return translate.TransactionToTraces(t, source)
	case sentry.ItemSpan:
		c, err := spans(item.JSON)
		must(err)
		return translate.SpansToTraces(c, source)
	default:
		c, err := logs(item.JSON)
		must(err)
		return translate.LogsToLogs(c, source)
	}
}

func decodeSpans(payload []byte) (*sentry.SpanContainer, error) {
	return sentry.DecodeSpans(payload, sentry.Optional[int]{})
}

func decodeLogs(payload []byte) (*sentry.LogContainer, error) {
	return sentry.DecodeLogs(payload, sentry.Optional[int]{})
}
