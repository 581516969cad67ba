// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

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

// fillLog translates one element of a log container.
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
		attribute := &log.Attributes[i]
		key := logAttributeKey(attribute.Key)
		if states(id, attribute) || !src.IncludePII && attr.IsPersonal(key) {
			continue
		}
		value := attrs.PutEmpty(key)
		setAttribute(value, key, attribute)
		if !src.IncludePII {
			attr.RemovePersonalIn(value)
		}
		if span == "" && key == semconv.SentryTraceParentSpanID {
			span = attr.JsonText(attribute.Value)
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

	attrs := record.Attributes()
	attr.Put(attrs, attr.CheckInFields, event.CheckIns, c, src.IncludePII)
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
