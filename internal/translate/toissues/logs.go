// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// notSpan is the span of exceptions in log records.
const notSpan = -1

// FromLogs creates events from log records with exceptions. It ignores the records of Sentry's
// items, which are sent as these items.
func FromLogs(logs plog.Logs, o Options) Export {
	if o.FromLogs == None {
		return Export{}
	}
	e := exporter{options: o, copies: attr.ExportBound(new(plog.ProtoMarshaler).LogsSize(logs)) / 2}
	for _, resource := range logs.ResourceLogs().All() {
		e.collectLogs(resource)
	}
	return e.export()
}

func (e *exporter) collectLogs(logs plog.ResourceLogs) {
	resource := logs.Resource().Attributes()
	s := &service{Identity: tosentry.ReadIdentity(resource), resource: resource}
	ofSDK := hasSentrySDK(resource)
	for _, scope := range logs.ScopeLogs().All() {
		for _, log := range scope.LogRecords().All() {
			s.logs = append(s.logs, log)
			attrs := log.Attributes()
			switch {
			case !attr.IsException(attrs) || attr.TextOf(attrs, semconv.SentryItemType) != "":
			case e.options.SkipIfSentrySDK && ofSDK:
				e.Lose(ReasonSentrySDK, 1)
			default:
				e.records = append(e.records, &record{
					service: s, traceID: log.TraceID(), spanID: log.SpanID(), span: notSpan, log: log, owner: pcommon.NewMap(), at: timeOf(log), attrs: attrs,
				})
			}
		}
	}
}

// hasSentrySDK reports whether the application has one of Sentry's SDKs.
func hasSentrySDK(resource pcommon.Map) bool {
	return tosentry.IsFromSentry(resource) || strings.HasPrefix(attr.TextOf(resource, semconv.TelemetrySDKName), "sentry")
}

func timeOf(log plog.LogRecord) pcommon.Timestamp {
	if log.Timestamp() == 0 {
		return log.ObservedTimestamp()
	}
	return log.Timestamp()
}

// fillFromLog sets the fields that only a log record states.
func (e *exporter) fillFromLog(out *sentryevent.ErrorEvent, r *record, message string) {
	out.User = e.bounded(e.withAddress(e.user(r.attrs), r.attrs))
	out.Request = e.request(r.attrs, 0)
	if number := r.log.SeverityNumber(); number > 0 {
		out.Level = levels[min(int(number-1)/4, len(levels)-1)]
	}
	if route := attr.TextOf(r.attrs, semconv.HTTPRoute); route != "" {
		out.Transaction = attr.Clip(strings.TrimPrefix(attr.TextOf(r.attrs, semconv.HTTPRequestMethod)+" "+route, " "), maxTagValue)
	}
	if body := r.log.Body().AsString(); body != "" && body != message {
		out.Message.Formatted = attr.Clip(body, maxValue)
		out.Message.Template = attr.Clip(attr.TextOf(r.attrs, semconv.SentryMessageTemplate), maxValue)
	}
}

// levels are the levels of events. Each corresponds to four severity numbers of OpenTelemetry.
var levels = [6]string{"debug", "debug", "info", "warning", "error", "fatal"}

// logCrumbs adds the log records to the breadcrumbs of their traces, except those with an
// exception, which are events.
func (s *service) logCrumbs(crumbs map[pcommon.TraceID][]crumb) {
	for _, log := range s.logs {
		if log.TraceID().IsEmpty() || attr.IsException(log.Attributes()) {
			continue
		}
		crumbs[log.TraceID()] = append(crumbs[log.TraceID()], newCrumb(timeOf(log), "log", attr.Clip(log.Body().AsString(), maxExtra)))
	}
}
