// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// TestStoredAttributes: attributes of logs and metrics that ingest would otherwise lose.
func TestStoredAttributes(t *testing.T) {
	logs := plog.NewLogs()
	resource := logs.ResourceLogs().AppendEmpty()
	resource.Resource().Attributes().PutStr(semconv.TelemetrySDKLanguage, "python")
	record := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	record.SetSeverityText("NOTICE")
	record.SetSeverityNumber(plog.SeverityNumberInfo2)
	record.Body().SetStr("m")
	export := FromLogs(logs, LogOptions{ExportOptions: options})
	verdicts(t, "", export.Items)
	sent, err := event.DecodeLogs(export.Items[0].Payload, export.Items[0].Header.ItemCount)
	require.NoError(t, err)
	require.Equal(t, "info", sent.Logs[0].Level)
	requireText(t, sent.Logs[0].Attributes, semconv.SentryPlatform, "python")
	requireText(t, sent.Logs[0].Attributes, semconv.SentrySeverityTextOriginal, "NOTICE")

	metrics := pmetric.NewMetrics()
	ofMetrics := metrics.ResourceMetrics().AppendEmpty()
	ofMetrics.Resource().Attributes().PutStr(semconv.TelemetrySDKLanguage, "webjs")
	metric := ofMetrics.ScopeMetrics().AppendEmpty().Metrics().AppendEmpty()
	metric.SetName("cart")
	metric.SetUnit("{item}")
	metric.SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	export = FromMetrics(metrics, metricOptions)
	verdicts(t, "", export.Items)
	points, err := event.DecodeTraceMetrics(export.Items[0].Payload, export.Items[0].Header.ItemCount)
	require.NoError(t, err)
	requireText(t, points.Metrics[0].Attributes, semconv.SentryPlatform, "javascript")
	requireText(t, points.Metrics[0].Attributes, semconv.SentryMetricUnit, "item")
}

func requireText(t *testing.T, attributes []event.Attribute, key, text string) {
	t.Helper()
	for _, a := range attributes {
		if a.Key == key {
			require.Equal(t, `"`+text+`"`, string(a.Value))
			return
		}
	}
	require.Fail(t, "no "+key)
}

// TestLargestLog: ingest accepts one log of 2 MiB; several are sent in payloads of 1 MiB.
func TestLargestLog(t *testing.T) {
	for _, c := range []struct{ logs, bytes, items, lost int }{{3, 300_000, 1, 0}, {3, 600_000, 3, 0}, {3, 2_000_000, 3, 0}, {1, 2 << 20, 0, 1}} {
		logs := plog.NewLogs()
		records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
		for range c.logs {
			records.AppendEmpty().Body().SetStr(strings.Repeat("x", c.bytes))
		}
		export := FromLogs(logs, LogOptions{ExportOptions: options})
		verdicts(t, "", export.Items)
		require.Len(t, export.Items, c.items)
		require.Len(t, export.Lost, c.lost)
	}
}
