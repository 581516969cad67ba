// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"cmp"
	"strings"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

type LogOptions struct {
	tosentry.ExportOptions

	MinSeverity plog.SeverityNumber // of records that become log elements; records without a severity have Info
}

// ReasonLogNotSelected is the reason for dropping log records below the minimum severity.
const ReasonLogNotSelected discard.Reason = "log_not_selected"

// FromLogs translates log records. Records of Sentry's items become the original items; all others
// become elements of log containers, in order.
func FromLogs(logs plog.Logs, o LogOptions) tosentry.Export {
	e := logExporters.Get().(*logExporter)
	defer e.release()
	return e.export(logs, o)
}

func (e *logExporter) export(logs plog.Logs, o LogOptions) tosentry.Export {
	e.exporter = newExporter(o.ExportOptions, func() int { return new(plog.ProtoMarshaler).LogsSize(logs) }, e.memory)
	e.minSeverity = o.MinSeverity
	e.Items = make([]tosentry.Outgoing, 0, min(logs.LogRecordCount(), sentry.MaxOutgoingLogs)) // an event is an item of its own
	e.container = e.newContainer(sentry.ItemLog, sentry.ContentTypeLogs, sentry.MaxOutgoingLogs)
	e.container.AllowSingle(e.options.AtMost(sentry.MaxOutgoingLog))
	for _, resource := range logs.ResourceLogs().All() {
		e.resource.Read(resource.Resource().Attributes())
		for _, scope := range resource.ScopeLogs().All() {
			s := newSource(&e.resource, scope.Scope(), &o.ExportOptions)
			for _, record := range scope.LogRecords().All() {
				e.record(record, s)
			}
		}
	}
	e.Flush(&e.container.Container)
	return e.Export
}

// logExporter translates one message of log records.
type logExporter struct {
	exporter
	container   container
	minSeverity plog.SeverityNumber
	element     event.Log // of the current record

	// Of the current event:
	item     event.ErrorEvent
	header   attr.TraceHeader
	request  event.HTTPRequest
	contexts tosentry.Contexts
	members  []contextMember // of contexts
	headers  []event.Tag     // of the response
	tags     map[string]bool
	lists    exception.Lists
	payload  []byte
}

// logExporters pools the memory for records: an SDK sends each event in a message of its own, where
// allocations would take most of the time.
var logExporters = sync.Pool{New: func() any { return new(logExporter) }}

// release returns the memory to the pool, unless it is much larger than that of a usual event.
func (e *logExporter) release() {
	e.container.release()
	e.container, e.Export, e.copies, e.lists = container{}, tosentry.Export{}, allowance.Allowance{}, exception.Lists{}
	if e.scratch.Size()+cap(e.payload)+e.resource.Size <= 256<<10 {
		logExporters.Put(e)
	}
}

// reset makes the memory of the last record available.
func (e *logExporter) reset() {
	e.header = attr.TraceHeader{}
	e.request, e.members, e.headers = event.HTTPRequest{Headers: e.request.Headers[:0]}, e.members[:0], e.headers[:0]
	e.scratch.Reset()
}

func (e *logExporter) record(record plog.LogRecord, s *source) {
	e.reset()
	switch kind := sentry.ItemType(attr.TextOf(record.Attributes(), semconv.SentryItemType)); kind {
	case "":
		e.log(record, s)
	case sentry.ItemEvent, sentry.ItemFeedback:
		e.event(record, kind, s)
	case sentry.ItemCheckIn:
		e.checkIn(record, s)
	case sentry.ItemUserReport:
		e.userReport(record)
	default:
		e.Lose(ReasonItemContent, 1)
	}
}

// log is the inverse of fromsentry.fillLog, for records of any origin.
func (e *logExporter) log(record plog.LogRecord, s *source) {
	if severityOf(record) < e.minSeverity {
		e.Lose(ReasonLogNotSelected, 1)
		return
	}
	attrs := record.Attributes()
	if record.Body().Type() == pcommon.ValueTypeEmpty && attrs.Len() == 0 && record.EventName() == "" {
		e.Lose(event.ReasonLogNoBody, 1)
		return
	}
	out := &e.element
	*out = event.Log{Attributes: out.Attributes[:0], Timestamp: e.timestamp(record.Timestamp(), record.ObservedTimestamp()), SpanID: attr.SpanText(record.SpanID())}
	level, text := levelOf(record)
	out.Level = level
	if number := record.SeverityNumber(); number > 0 {
		out.SeverityNumber = jsonscan.Some(int64(number))
	}
	synthetic := false
	out.TraceID, synthetic = s.traceID(record.TraceID(), out.Timestamp.UnixNano, &e.options)
	for key, value := range attrs.All() {
		if (key != semconv.SentrySeverityText || sentLevel(record) == "") && !attr.IsClockDrift(key) {
			out.Attributes = append(out.Attributes, e.scratch.Attribute(key, value))
		}
	}
	e.body(out, record.Body())
	if name := record.EventName(); name != "" {
		out.Attributes = append(out.Attributes, event.Attribute{Key: semconv.EventEventName, Type: "string", Value: e.scratch.Text(name)})
	}
	if text != "" && attr.TextOf(attrs, semconv.SentrySeverityTextOriginal) == "" {
		out.Attributes = append(out.Attributes, event.Attribute{Key: semconv.SentrySeverityTextOriginal, Type: "string", Value: e.scratch.Text(text)})
	}
	out.Attributes, out.Shared = e.withShared(out.Attributes, s, attrs)
	if synthetic && e.copies.Spend(len(semconv.SentryTraceIDSynthetic)+len(`"":{"type":"boolean","value":true},`)) {
		out.Attributes = append(out.Attributes, flag(semconv.SentryTraceIDSynthetic))
	}
	// Not by sent_at: ingest sets times in the future to the time of receipt instead
	// (relay-event-normalization/src/eap/time.rs).
	out.Timestamp.UnixNano = attr.Shifted(out.Timestamp.UnixNano, attr.UncorrectedDrift(attrs.Get))
	e.Put(&e.container.Container, out)
}

// body sets the body. Sentry accepts only text.
func (e *logExporter) body(out *event.Log, body pcommon.Value) {
	switch body.Type() {
	case pcommon.ValueTypeStr:
		out.Body = body.Str()
	case pcommon.ValueTypeEmpty:
	default:
		out.Body = string(e.scratch.JSON(body))
		out.Attributes = append(out.Attributes, flag(semconv.SentryBodyJSON))
	}
}

// levels are Sentry's levels. Each corresponds to four severity numbers of OpenTelemetry.
var levels = [6]string{"trace", "debug", "info", "warn", "error", "fatal"}

// severityOf returns the severity of a record: its number, else that of its text, else Info.
func severityOf(record plog.LogRecord) plog.SeverityNumber {
	if number := record.SeverityNumber(); number > 0 {
		return number
	}
	known, _ := attr.Severity(record.SeverityText())
	return cmp.Or(known, plog.SeverityNumberInfo)
}

// sentLevel returns the level as sent to the receiver, if the severity text differs from it.
// Python's SDK has an attribute of the same name.
func sentLevel(record plog.LogRecord) string {
	sent := attr.TextOf(record.Attributes(), semconv.SentrySeverityText)
	if _, text := attr.Severity(sent); sent != "" && sent != text && text == record.SeverityText() {
		return sent
	}
	return ""
}

// levelOf is the inverse of fromsentry.setSeverity, for records of any origin. text is the severity
// text of the record, if it differs from the level.
func levelOf(record plog.LogRecord) (level, text string) {
	if sent := sentLevel(record); sent != "" {
		return sent, ""
	}
	text = record.SeverityText()
	known, level := attr.Severity(text)
	number := record.SeverityNumber()
	switch {
	case known != 0 && (number == 0 || (known-1)/4 == (number-1)/4):
	case number >= 1 && number <= 24:
		level = levels[(number-1)/4]
	case text == "":
		level = "info"
	default:
		level = attr.Clip(text, attr.MaxNameBytes) // Sentry accepts other levels
	}
	if strings.EqualFold(level, text) {
		return level, ""
	}
	return level, text
}

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
	e.addOf(s, id.Sdk, sentry.ItemCheckIn, event.CheckIns.Append(nil, out))
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
