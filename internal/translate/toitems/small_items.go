// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// checkIn is the inverse of fromsentry.CheckInToLogs.
func (e *logExporter) checkIn(record plog.LogRecord, s *source) {
	attrs, id := record.Attributes(), e.identity(s)
	out := &event.CheckIn{
		ID: attr.TextOf(attrs, semconv.SentryCheckInID), MonitorSlug: attr.TextOf(attrs, semconv.SentryMonitorSlug), Status: attr.TextOf(attrs, semconv.SentryCheckInStatus),
		Platform: id.Platform, Release: id.Release, Environment: id.Environment, ServerName: attr.TextOf(attrs, semconv.ServerAddress), SDK: id.Sdk,
		TraceID: attr.TraceText(record.TraceID()), SpanID: attr.SpanText(record.SpanID()),
	}
	if record.Timestamp() != 0 {
		out.Timestamp = e.timestamp(record.Timestamp())
	}
	if duration, ok := attrs.Get(semconv.SentryCheckInDuration); ok && duration.Type() == pcommon.ValueTypeDouble {
		out.Duration = jsonscan.Some(duration.Double())
	}
	if config, ok := attrs.Get(semconv.SentryMonitorConfig); ok {
		out.Config = e.ofType(config, pcommon.ValueTypeMap)
	}
	e.add(sentry.ItemCheckIn, "", event.AppendCheckIn(nil, out))
}

// userReport is the inverse of fromsentry.UserReportToLogs.
func (e *logExporter) userReport(record plog.LogRecord) {
	attrs := record.Attributes()
	out := &event.UserReport{
		EventID: attr.TextOf(attrs, semconv.SentryFeedbackAssociatedEventID), Name: attr.TextOf(attrs, semconv.SentryFeedbackName),
		Email: attr.TextOf(attrs, semconv.SentryFeedbackContactEmail), Comments: record.Body().AsString(),
	}
	e.add(sentry.ItemUserReport, out.EventID, event.AppendUserReport(nil, out))
}
