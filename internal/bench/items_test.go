package main

import (
	"slices"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

// TestSameItems holds the comparison of items to be fair: spans and log records are the same behind every decoder, but for the
// order of attributes, which maps do not keep.
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
		for _, library := range append(rival.Best(), rival.Standard()) {
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

// lines is a message in words, without its order.
func lines(message any) []string {
	var text string
	switch m := message.(type) {
	case ptrace.Traces:
		text = golden.DumpTraces(m, golden.Receipt{})
	case plog.Logs:
		text = golden.DumpLogs(m, golden.Receipt{})
	}
	all := strings.Split(text, "\n")
	slices.Sort(all)
	return all
}
