// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// BenchmarkItems compares decoding and translating transactions, span containers and logs with
// other decoders and the same translation. These items are small, and the translation, which all
// decoders share, takes most of the time.
func BenchmarkItems(b *testing.B) {
	items, err := payload.Items()
	must(err)
	for _, item := range items {
		b.Run(item.Name, func(b *testing.B) {
			contestants := []func(){func() { mapItem(item, nil) }}
			for _, library := range rival.OnePass() {
				contestants = append(contestants, func() { mapItem(item, &library) })
			}
			took := race(b, contestants...)
			for i, library := range rival.OnePass() {
				report(b, library.Name+"÷own", took[1+i], took[0])
			}
			objects, _ := allocated(func() { mapItem(item, nil) })
			report(b, "objects÷elements", objects, float64(item.Elements))
		})
	}
}

// mapItem decodes an item with a library, or with the product's decoder if it is nil, and
// translates it with the product's code.
func mapItem(item payload.Item, library *rival.Library) any {
	transaction, spans, logs := event.DecodeTransaction, decodeSpans, decodeLogs
	if library != nil {
		transaction, spans, logs = library.Transaction, library.Spans, library.Logs
	}
	switch item.Type {
	case sentry.ItemTransaction:
		t, err := transaction(item.JSON)
		must(err)
		return fromsentry.TransactionToTraces(t, source)
	case sentry.ItemSpan:
		c, err := spans(item.JSON)
		must(err)
		return fromsentry.SpansToTraces(c, source)
	default:
		c, err := logs(item.JSON)
		must(err)
		return fromsentry.LogsToLogs(c, source)
	}
}

func decodeSpans(payload []byte) (*event.SpanContainer, error) {
	return event.DecodeSpans(payload, jsonscan.Optional[int]{})
}

func decodeLogs(payload []byte) (*event.LogContainer, error) {
	return event.DecodeLogs(payload, jsonscan.Optional[int]{})
}

// TestSameItems checks that the comparison is fair: all decoders lead to the same spans and log
// records, except for the order of attributes, which maps do not keep.
func TestSameItems(t *testing.T) {
	items, err := payload.Items()
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		want := lines(mapItem(item, nil))
		if len(want) < 10*item.Elements {
			t.Errorf("%s: %d lines for %d elements", item.Name, len(want), item.Elements)
		}
		for _, library := range rival.OnePass() {
			if got := lines(mapItem(item, &library)); !slices.Equal(got, want) {
				t.Errorf("%s by %s: %d lines, want %d", item.Name, library.Name, len(got), len(want))
				for i := range min(len(got), len(want)) {
					if got[i] != want[i] {
						t.Fatalf("%s, want %s", got[i], want[i])
					}
				}
			}
		}
	}
}

// lines returns the text of a message, with sorted lines and sorted words in each line.
func lines(message any) []string {
	var text string
	switch m := message.(type) {
	case ptrace.Traces:
		text = golden.DumpTraces(m, golden.Receipt{})
	case plog.Logs:
		text = golden.DumpLogs(m, golden.Receipt{})
	}
	all := strings.Split(text, "\n")
	for i, line := range all {
		words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" ,[]", r) }) // a list of tag names is in one word
		slices.Sort(words)
		all[i] = strings.Join(words, " ")
	}
	slices.Sort(all)
	return all
}
