// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"encoding/json"
	"math"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/payload"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/bench/rival"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/toitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// BenchmarkExportItems compares the translation from OTLP messages to logs, metrics and error
// events with structs that encoding/json marshals.
func BenchmarkExportItems(b *testing.B) {
	for _, e := range itemExports() {
		b.Run(e.name, func(b *testing.B) {
			took := race(b, func() { e.own() }, func() { e.structs() })
			report(b, "structs÷own", took[1], took[0])
		})
	}
}

// itemExport is a message with two translations to the payloads of items.
type itemExport struct {
	name         string
	own, structs func() [][]byte
}

var itemOptions = tosentry.ExportOptions{SDK: exportOptions.SDK, ReceivedNano: 1_795_225_000_000_000_000}

func itemExports() (all []itemExport) {
	items, err := payload.Items()
	must(err)
	for _, item := range items {
		if item.Type == sentry.ItemLog {
			logs := mapItem(item, nil).(plog.Logs)
			all = append(all, itemExport{"logs", ownLogs(logs), structs(rival.MarshalLogs, logs)})
		}
	}
	metrics := payload.Metrics()
	all = append(all, itemExport{"metrics", func() [][]byte {
		return payloads(toitems.FromMetrics(metrics, toitems.MetricOptions{ExportOptions: itemOptions}))
	}, structs(rival.MarshalMetrics, metrics)})
	events, err := payload.Events()
	must(err)
	for _, item := range events {
		e, err := event.DecodeEvent(item.JSON)
		must(err)
		logs := fromsentry.EventToLogs(e, source)
		records := logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords()
		for range 99 {
			records.At(0).CopyTo(records.AppendEmpty())
		}
		all = append(all, itemExport{item.Name, ownLogs(logs), structs(rival.MarshalEvents, logs)})
	}
	return all
}

func ownLogs(logs plog.Logs) func() [][]byte {
	return func() [][]byte {
		return payloads(toitems.FromLogs(logs, toitems.LogOptions{ExportOptions: itemOptions}))
	}
}

func structs[M any](marshal func(M) ([][]byte, error), message M) func() [][]byte {
	return func() [][]byte {
		out, err := marshal(message)
		must(err)
		return out
	}
}

func payloads(export tosentry.Export) (all [][]byte) {
	for i := range export.Items {
		all = append(all, export.Items[i].Payload)
	}
	return all
}

// TestSameExport checks that the comparison is fair: both translations lead to the same JSON,
// except for the order of members and digits of times beyond those of a float64.
func TestSameExport(t *testing.T) {
	for _, e := range itemExports() {
		own, structs := e.own(), e.structs()
		if len(own) != len(structs) || len(own) == 0 {
			t.Fatalf("%s: %d items, and %d with structs", e.name, len(own), len(structs))
		}
		for i := range own {
			if got, want := sortedJSON(t, own[i]), sortedJSON(t, structs[i]); got != want {
				t.Fatalf("%s, item %d:\n%s\nwith structs:\n%s", e.name, i, got, want)
			}
		}
	}
}

// sortedJSON returns the text of a value with sorted members and rounded numbers.
func sortedJSON(t *testing.T, text []byte) string {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	sorted, err := json.Marshal(rounded(value))
	must(err)
	return string(sorted)
}

func rounded(value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = rounded(v[key])
		}
	case []any:
		for i := range v {
			v[i] = rounded(v[i])
		}
	case float64:
		return math.Round(v * 1e6)
	}
	return value
}
