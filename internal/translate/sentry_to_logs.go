package translate

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// LogsToLogs translates a log container: a record for each of its elements, in order.
func LogsToLogs(c *sentry.LogContainer, src Source) plog.Logs {
	shared := logIdentity(c, src)
	out, scope := newLogs(shared.identity, src)
	scope.LogRecords().EnsureCapacity(len(c.Logs))
	for i := range c.Logs {
		fillLog(scope.LogRecords().AppendEmpty(), &c.Logs[i], &shared, src)
	}
	return out
}

// CheckInToLogs translates a check-in: a record that says what became of which scheduled job.
func CheckInToLogs(c *sentry.CheckIn, src Source) plog.Logs {
	out, scope := newLogs(checkInIdentity(c, src), src)
	record := newRecord(scope, sentry.ItemCheckIn, c.Timestamp, src)
	setSeverity(record, checkInLevels[c.Status])
	record.Body().SetStr("check-in " + c.MonitorSlug + ": " + firstText(c.Status, "unknown"))
	setTrace(record, c.TraceID, c.SpanID)

	attrs := record.Attributes()
	putText(attrs, keyCheckInID, c.ID)
	putText(attrs, keyMonitorSlug, c.MonitorSlug)
	putText(attrs, keyCheckInStatus, c.Status)
	if c.Duration.Set {
		attrs.PutDouble(keyCheckInDuration, c.Duration.Value)
	}
	putText(attrs, keyServerAddress, c.ServerName)
	putRaw(attrs, keyMonitorConfig, c.Config)
	return out
}

// checkInLevels: a job that failed, or did not come, is an error of its own.
var checkInLevels = map[string]string{"in_progress": "info", "ok": "info", "error": "error", "missed": "error", "timeout": "error"}

// UserReportToLogs translates a user report: what a person said about an event. Their e-mail address is PII.
func UserReportToLogs(r *sentry.UserReport, src Source) plog.Logs {
	out, scope := newLogs(identity{}.completed(src), src)
	record := newRecord(scope, sentry.ItemUserReport, sentry.Timestamp{}, src)
	setSeverity(record, "info")
	record.Body().SetStr(r.Comments)

	attrs := record.Attributes()
	putText(attrs, keyFeedbackEventID, firstText(r.EventID, src.EventID))
	putText(attrs, keyFeedbackName, r.Name)
	if src.IncludePII {
		putText(attrs, keyFeedbackEmail, r.Email)
	}
	return out
}

// ItemToLogs says of an item that it was there, without its body: attachments, replays, security and network error reports.
// Size is the length of the payload.
func ItemToLogs(header sentry.ItemHeader, size int, src Source) plog.Logs {
	out, scope := newLogs(identity{}.completed(src), src)
	record := newRecord(scope, header.Type, sentry.Timestamp{}, src)
	setSeverity(record, "info")
	record.Body().SetStr(header.Type.Label() + " received")

	attrs := record.Attributes()
	attrs.PutInt(keyItemSize, int64(size))
	putText(attrs, keyItemContentType, clip(header.ContentType, maxNameBytes)) // of reports, that of the request
	putText(attrs, keyItemFilename, header.Filename)
	if header.Type == sentry.ItemAttachment {
		putText(attrs, keyAttachmentType, firstText(header.AttachmentType, "event.attachment"))
	}
	putText(attrs, keyEventID, src.EventID)
	return out
}
