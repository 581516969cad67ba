// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"bytes"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// event is the inverse of fromsentry.EventToLogs and FeedbackToLogs.
func (e *logExporter) event(record plog.LogRecord, item sentry.ItemType, s *source) {
	attrs := record.Attributes()
	level, _ := levelOf(record)
	out, id := &e.item, e.identity(s)
	*out = event.ErrorEvent{ // reuses the memory of the last event
		Tags: out.Tags[:0], Contexts: out.Contexts[:0], Trace: event.TraceContext{Data: out.Trace.Data[:0], Rest: out.Trace.Rest[:0]}, Rest: out.Rest[:0], Breadcrumbs: out.Breadcrumbs[:0],
		Timestamp: e.timestamp(record.Timestamp(), record.ObservedTimestamp()),
		Platform:  attr.EventPlatform(id.Platform), Level: level,
		Release: id.Release, Dist: id.Dist, Environment: id.Environment, SDK: event.SDK{ClientSDK: id.Sdk, Rest: out.SDK.Rest[:0]},
		Info: event.TransactionInfo{Rest: out.Info.Rest[:0]}, DebugMeta: event.DebugMeta{Rest: out.DebugMeta.Rest[:0]},
		User: out.User[:0],
	}
	if out.Trace.TraceID = attr.TraceText(record.TraceID()); out.Trace.TraceID != "" {
		out.Trace.SpanID = attr.SpanText(record.SpanID())
	}
	e.lists.Attributes = attrs
	e.fields(out, attrs)
	e.fillContexts(record, item, s)
	if out.EventID == "" {
		out.EventID = attr.HashID("event", out.Trace.TraceID, strconv.FormatUint(out.Timestamp.UnixNano, 10), record.Body().AsString())
	}
	e.fillMessage(&out.Message, record.Body())
	if data := out.Trace.Data; out.Trace.TraceID == "" { // Sentry drops a trace context without a trace
		if len(data) > 0 { // processors may add attributes
			e.contexts.Put("otel", "attributes", e.scratch.Object(pcommon.Map{}, data))
		}
		out.Trace = event.TraceContext{Data: data[:0], Rest: out.Trace.Rest[:0]}
	}
	out.Contexts = e.contexts.AppendTo(out.Contexts, &e.scratch)
	if item == sentry.ItemFeedback {
		out.Type, out.Message = string(item), event.Message{} // the message is in the context
	}
	out.Lists = &e.lists
	out.SDK.NeverInferIP()
	e.payload = event.Events.Append(e.payload[:0], out)
	e.add(item, out.EventID, bytes.Clone(e.payload))
	n := len(e.Items)
	if n == 0 || e.Items[n-1].EventID != out.EventID {
		return // too large
	}
	e.Items[n-1].DriftMilli = attr.UncorrectedDrift(attrs.Get)
	if out.Trace.TraceID != "" {
		e.Items[n-1].Trace = &sentry.DynamicSamplingContext{
			TraceID: out.Trace.TraceID, SampleRate: e.header.SampleRate, SampleRand: e.header.SampleRand, Sampled: e.header.Sampled,
			Release: out.Release, Environment: out.Environment,
			Transaction: attr.FirstText(e.header.Transaction, attr.Clip(out.Transaction, attr.MaxNameBytes)), ReplayID: e.header.ReplayID,
		}
	}
}

// fields sets the fields, the contexts, and the members of contexts that have their own attributes.
// All other attributes belong in contexts.trace.data.
func (e *logExporter) fields(out *event.ErrorEvent, attrs pcommon.Map) {
	if e.tags == nil || len(e.tags) > 1000 { // clearing it for each event would take longer
		e.tags = map[string]bool{}
	}
	clear(e.tags)
	tosentry.AddTagKeys(e.tags, attrs)
	e.contexts.Reset()
	var params []event.NamedValue // of the message
	for key, value := range attrs.All() {
		switch key {
		case semconv.SentryMessageTemplate:
			out.Message.Template = value.AsString()
		case semconv.SentryMessageParameters:
			out.Message.Params = e.scratch.JSON(value)
		case semconv.SentryExceptions, semconv.SentryThreads, semconv.SentryStacktrace: // see e.lists
		case semconv.SentryBreadcrumbs:
			out.Breadcrumbs = tosentry.AppendCrumbs(out.Breadcrumbs[:0], value, &e.scratch)
		case semconv.SentryContextTrace:
			out.Trace.Rest = tosentry.AppendMembers(out.Trace.Rest[:0], value, &e.scratch)
		case semconv.ThreadID:
			out.Trace.Data = append(out.Trace.Data, event.NamedValue{Name: key, Value: e.scratch.Text(value.AsString())})
		default:
			if e.header.Read(key, value) || eventTaker.Take(out, key, value, &e.scratch) {
				continue
			}
			isElsewhere := e.readGroup(out, key, value)
			if name, ok := strings.CutPrefix(key, semconv.SentryMessageParameterPrefix); ok {
				isElsewhere = true
				params = append(params, event.NamedValue{Name: name, Value: e.scratch.JSON(value)})
			}
			switch {
			case e.tags[key]:
				out.Tags = append(out.Tags, event.Tag{Key: key, Value: value.AsString()})
			case !isElsewhere:
				out.Trace.Data = append(out.Trace.Data, event.NamedValue{Name: key, Value: e.scratch.JSON(value)})
			}
		}
	}
	if !e.request.IsEmpty() {
		out.Request = &e.request
	}
	if out.Message.Params == nil && len(params) > 0 {
		out.Message.Params = e.params(params)
	}
}

// eventTaker has the fields of an event and of its trace.
var eventTaker = attr.NewTaker(append(tosentry.EventFields,
	attr.FieldsOf(attr.RecordFields, event.Events),
	attr.PartOf(attr.TraceContextFields, event.TraceContexts, func(e *event.ErrorEvent) *event.TraceContext { return &e.Trace }),
)...)

// readGroup reads an attribute of a context, the user, the request or the response. It reports
// whether the attribute is one of these, or describes only the record.
func (e *logExporter) readGroup(out *event.ErrorEvent, key string, value pcommon.Value) (known bool) {
	if e.contexts.Read(key, value) || tosentry.ReadRequest(&e.request, key, value, &e.scratch) {
		return true
	}
	if out.User, known = tosentry.AppendUserField(out.User, key, value, true, &e.scratch); known {
		return true
	}
	if name, ok := strings.CutPrefix(key, semconv.HTTPResponseHeaderPrefix); ok {
		e.headers = tosentry.AppendHeader(e.headers, name, value)
		return true
	}
	context, name, known := strings.Cut(attr.ContextFields.FieldOf(key), "/")
	if known {
		e.members = append(e.members, contextMember{context, name, e.scratch.JSON(value)})
	}
	return known || describesRecord(key)
}

// contextMember is a member of a context, with its value as JSON.
type contextMember struct {
	context, name string
	json          []byte
}

// describesRecord reports whether an attribute is read elsewhere or has no meaning without the
// record.
func describesRecord(key string) bool {
	switch key {
	case semconv.SentryItemType, semconv.SentryTags, semconv.SentrySeverityText,
		semconv.SentryClockDriftMS, semconv.SentryClockDriftCorrected,
		semconv.UserAgentOriginal, semconv.CodeStacktrace, semconv.CodeStacktraceOriginal:
		return true
	}
	return exception.IsKey(key)
}

// fillContexts adds to the contexts that have been read those of the resource and the members that
// have their own attributes. Feedback is also a context.
func (e *logExporter) fillContexts(record plog.LogRecord, item sentry.ItemType, s *source) {
	attrs := record.Attributes()
	e.contexts.AddMachine(s.Resource, e.Repeats(&e.copies, s.Size), &e.scratch)
	if item == sentry.ItemFeedback {
		if text := record.Body().AsString(); text != "" {
			e.contexts.Put("feedback", "message", e.scratch.Text(text))
		}
		if replay, ok := attrs.Get(semconv.SentryReplayID); ok {
			e.contexts.Put("feedback", "replay_id", e.scratch.JSON(replay))
			e.contexts.RemoveMember("replay", "replay_id")
		}
	}
	for _, member := range e.members {
		e.contexts.Put(member.context, member.name, member.json)
	}
	if len(e.headers) > 0 {
		e.contexts.Put("response", "headers", event.AppendHeaders(nil, e.headers))
	}
}

// fillMessage is the inverse of fromsentry.putMessage and eventBody. fields has set the template
// and the parameters.
func (e *logExporter) fillMessage(m *event.Message, body pcommon.Value) {
	m.Formatted = body.AsString()
	switch m.Template {
	case m.Formatted:
		m.Formatted = ""
	case "":
		// An exception without a type is the stack trace of a message.
		if thrown := e.lists.Thrown(); thrown.Type != "" && thrown.HasHeadline(m.Formatted) {
			m.Formatted = ""
		}
	}
}

// params returns the parameters of the message: a list, or an object if they have names.
func (e *logExporter) params(all []event.NamedValue) []byte {
	for i := range all {
		if all[i].Name != strconv.Itoa(i) {
			return e.scratch.Object(pcommon.Map{}, all)
		}
	}
	return e.scratch.List(all)
}
