// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

var (
	checkInTaker    = attr.NewTaker(attr.FieldsOf(attr.CheckInFields, event.CheckIns))
	userReportTaker = attr.NewTaker(attr.FieldsOf(attr.UserReportFields, event.UserReports))
)

// checkIn is the inverse of fromsentry.CheckInToLogs.
func (e *logExporter) checkIn(record plog.LogRecord, s *source) {
	attrs, id := record.Attributes(), e.identity(s)
	out := &event.CheckIn{
		Platform: id.Platform, Release: id.Release, Environment: id.Environment, SDK: id.Sdk,
		TraceID: attr.TraceText(record.TraceID()), SpanID: attr.SpanText(record.SpanID()),
	}
	if record.Timestamp() != 0 {
		out.Timestamp = e.timestamp(record.Timestamp())
	}
	for key, value := range attrs.All() {
		checkInTaker.Take(out, key, value, &e.scratch)
	}
	e.add(sentry.ItemCheckIn, "", event.CheckIns.Append(nil, out))
}

// userReport is the inverse of fromsentry.UserReportToLogs.
func (e *logExporter) userReport(record plog.LogRecord) {
	attrs := record.Attributes()
	out := &event.UserReport{Comments: record.Body().AsString()}
	for key, value := range attrs.All() {
		userReportTaker.Take(out, key, value, &e.scratch)
	}
	e.add(sentry.ItemUserReport, out.EventID, event.UserReports.Append(nil, out))
}
