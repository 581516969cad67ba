// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// LogsToLogs translates a log container: one record per element, in order.
func LogsToLogs(c *event.LogContainer, src Source) plog.Logs {
	id := firstIdentity(c.Logs, func(l *event.Log) []event.Attribute { return l.Attributes }, src)
	out, scope := newLogs(id, src)
	scope.LogRecords().EnsureCapacity(len(c.Logs))
	infer := inferenceOf(c.Infers())
	for i := range c.Logs {
		record := scope.LogRecords().AppendEmpty()
		fillLog(record, &c.Logs[i], &id, src)
		infer.complete(record.Attributes(), record.Attributes(), src)
	}
	return out
}

func fillLog(record plog.LogRecord, log *event.Log, id *attr.Identity, src Source) {
	setTimes(record, log.Timestamp, src)
	setSeverity(record, log.Level)
	if number := log.SeverityNumber; number.Set && number.Value >= 1 && number.Value <= 24 {
		record.SetSeverityNumber(plog.SeverityNumber(number.Value))
	}
	record.Body().SetStr(log.Body)

	attrs, span := record.Attributes(), log.SpanID
	attrs.EnsureCapacity(len(log.Attributes))
	for i := range log.Attributes {
		a := &log.Attributes[i]
		putAttribute(attrs, a, id, src)
		if span == "" && a.Key == semconv.SentryTraceParentSpanID {
			span = attr.JsonText(a.Value)
		}
	}
	setTrace(record, log.TraceID, strings.ToLower(span))
}

// CheckInToLogs translates a check-in to a record with the status of the scheduled job.
func CheckInToLogs(c *event.CheckIn, src Source) plog.Logs {
	out, scope := newLogs(checkInIdentity(c, src), src)
	record := newRecord(scope, sentry.ItemCheckIn, c.Timestamp, src)
	setSeverity(record, checkInLevels[c.Status])
	record.Body().SetStr("check-in " + c.MonitorSlug + ": " + attr.FirstText(c.Status, "unknown"))
	setTrace(record, c.TraceID, c.SpanID)

	attr.Put(record.Attributes(), attr.CheckInFields, event.CheckIns, c, src.IncludePII)
	return out
}

// checkInLevels maps statuses to levels. Failed and missed jobs are errors.
var checkInLevels = map[string]string{"in_progress": "info", "ok": "info", "error": "error", "missed": "error", "timeout": "error"}

// UserReportToLogs translates a user report, which is a user's comment on an event. The user's
// e-mail address is PII.
func UserReportToLogs(r *event.UserReport, src Source) plog.Logs {
	out, scope := newLogs(recalled(attr.Identity{}, src), src)
	record := newRecord(scope, sentry.ItemUserReport, jsonscan.Timestamp{}, src)
	setSeverity(record, "info")
	record.Body().SetStr(r.Comments)

	attrs := record.Attributes()
	attr.PutText(attrs, semconv.SentryFeedbackAssociatedEventID, src.EventID)
	attr.Put(attrs, attr.UserReportFields, event.UserReports, r, src.IncludePII)
	return out
}

// ItemToLogs records that an item arrived, without its body: attachments, replays, security and
// network error reports. Size is the length of the payload.
func ItemToLogs(header sentry.ItemHeader, size int, src Source) plog.Logs {
	out, scope := newLogs(recalled(attr.Identity{}, src), src)
	record := newRecord(scope, header.Type, jsonscan.Timestamp{}, src)
	setSeverity(record, "info")
	record.Body().SetStr(header.Type.Label() + " received")

	attrs := record.Attributes()
	attrs.PutInt(semconv.SentryItemSize, int64(size))
	attr.PutText(attrs, semconv.SentryItemContentType, attr.Clip(header.ContentType, attr.MaxNameBytes)) // for reports, that of the request
	attr.PutText(attrs, semconv.FileName, header.Filename)
	if header.Type == sentry.ItemAttachment {
		attr.PutText(attrs, semconv.SentryAttachmentType, attr.FirstText(header.AttachmentType, "event.attachment"))
	}
	attr.PutText(attrs, semconv.SentryEventID, src.EventID)
	return out
}

func newLogs(id attr.Identity, src Source) (plog.Logs, plog.ScopeLogs) {
	out := plog.NewLogs()
	resource := out.ResourceLogs().AppendEmpty()
	scope := resource.ScopeLogs().AppendEmpty()
	describe(resource, scope, id, src)
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
	if trace := attr.TraceIDOf(traceID); !trace.IsEmpty() {
		record.SetTraceID(trace)
		record.SetSpanID(attr.SpanIDOf(spanID))
	}
}

// logAttributeKey returns Sentry's key for attributes that the Go SDK 0.50 names differently.
func logAttributeKey(key string) string {
	if number, ok := strings.CutPrefix(key, semconv.SentryMessageParametersPrefix); ok {
		return semconv.SentryMessageParameterPrefix + number
	}
	if key == semconv.SentryServerAddress {
		return semconv.ServerAddress
	}
	return key
}

// setAttribute sets a value from JSON. The declared type matters only where JSON is ambiguous: for
// doubles without a fraction, and for integers in strings, which JavaScript sends because it cannot
// represent large integers.
func setAttribute(value pcommon.Value, key string, a *event.Attribute) {
	attr.SetJSON(value, a.Value)
	switch {
	case a.Type == "double" && value.Type() == pcommon.ValueTypeInt:
		value.SetDouble(float64(value.Int()))
	case (a.Type == "integer" || key == semconv.ThreadID) && value.Type() == pcommon.ValueTypeStr:
		if number, ok := attr.CanonicalInt(value.Str()); ok {
			value.SetInt(number)
		}
	}
}

// putAttribute sets an attribute of a log or a metric, unless the resource states it.
func putAttribute(attrs pcommon.Map, a *event.Attribute, id *attr.Identity, src Source) {
	key := logAttributeKey(a.Key)
	if states(id, a) || !src.IncludePII && attr.IsPersonal(key) {
		return
	}
	value := attrs.PutEmpty(key)
	setAttribute(value, key, a)
	if !src.IncludePII {
		attr.RemovePersonalIn(value)
	}
}

// firstIdentity returns the identity from the first element of a container of logs or metrics: SDKs
// repeat release, environment and SDK on each. An element keeps only values that differ.
func firstIdentity[T any](elements []T, attributes func(*T) []event.Attribute, src Source) (id attr.Identity) {
	if len(elements) > 0 {
		for _, a := range attributes(&elements[0]) {
			if field := id.Field(a.Key, false); field != nil {
				*field = attr.JsonText(a.Value)
			}
		}
	}
	return completed(id, src)
}
