// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

func TestMinSeverity(t *testing.T) {
	logs := plog.NewLogs()
	records := logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords()
	add := func(body string, number plog.SeverityNumber, text string) plog.LogRecord {
		record := records.AppendEmpty()
		record.Body().SetStr(body)
		record.SetSeverityNumber(number)
		record.SetSeverityText(text)
		return record
	}
	add("debug4", plog.SeverityNumberDebug4, "")
	add("info", plog.SeverityNumberInfo, "")
	add("number before text", plog.SeverityNumberInfo, "DEBUG")
	add("text", 0, "debug")
	add("unknown text", 0, "chatty")
	add("none", 0, "")
	add("invalid", -1, "")
	add("event", plog.SeverityNumberDebug, "").Attributes().PutStr(semconv.SentryItemType, string(sentry.ItemEvent))

	export := FromLogs(logs, LogOptions{ExportOptions: options, MinSeverity: plog.SeverityNumberInfo})
	assert.Equal(t, []discard.Loss{{Reason: ReasonLogNotSelected, Count: 2}}, export.Lost)
	require.Len(t, export.Items, 2, "the event and a container")
	for i := range export.Items {
		if item := &export.Items[i]; item.Header.Type == sentry.ItemLog {
			container, err := event.DecodeLogs(item.Payload, item.Header.ItemCount)
			require.NoError(t, err)
			var bodies []string
			for _, log := range container.Logs {
				bodies = append(bodies, log.Body)
			}
			assert.Equal(t, []string{"info", "number before text", "unknown text", "none", "invalid"}, bodies)
		}
	}
}
