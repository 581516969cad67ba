// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// newLogs returns a message with one resource and one scope, which is the SDK.
func newLogs(id attr.Identity, src Source) (plog.Logs, plog.ScopeLogs) {
	out := plog.NewLogs()
	resource := out.ResourceLogs().AppendEmpty()
	resource.SetSchemaUrl(semconv.SchemaURL)
	fillResource(resource.Resource().Attributes(), id, src)
	scope := resource.ScopeLogs().AppendEmpty()
	scope.SetSchemaUrl(semconv.SchemaURL)
	fillScope(scope.Scope(), id)
	return out, scope
}

// newRecord appends a record for an item that is not a log, with the item type as an attribute. If
// the payload has no time, the record has only the time of receipt.
func newRecord(scope plog.ScopeLogs, item sentry.ItemType, t jsonscan.Timestamp, src Source) plog.LogRecord {
	record := scope.LogRecords().AppendEmpty()
	setTimes(record, t, src)
	record.Attributes().PutStr(semconv.SentryItemType, item.Label())
	return record
}

func setTimes(record plog.LogRecord, t jsonscan.Timestamp, src Source) {
	if t.Set {
		record.SetTimestamp(pcommon.Timestamp(src.unixNano(t)))
		putDrift(record.Attributes(), src)
	}
	record.SetObservedTimestamp(pcommon.Timestamp(src.ReceivedNano))
}

// setSeverity sets the number and the usual name of a level, so that queries find all warnings
// under one name. Unknown levels are kept as text without a number.
func setSeverity(record plog.LogRecord, level string) {
	number, text := attr.Severity(level)
	record.SetSeverityNumber(number)
	record.SetSeverityText(text)
	if text != level {
		record.Attributes().PutStr(semconv.SentrySeverityText, level)
	}
}

// setTrace sets validated IDs. A span ID without a trace ID is ignored.
func setTrace(record plog.LogRecord, traceID, spanID string) {
	var trace pcommon.TraceID
	var span pcommon.SpanID
	if !attr.DecodeHex(trace[:], traceID) {
		return
	}
	record.SetTraceID(trace)
	if attr.DecodeHex(span[:], spanID) {
		record.SetSpanID(span)
	}
}
