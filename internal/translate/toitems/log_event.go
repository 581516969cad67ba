// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"encoding/hex"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// event is the inverse of fromsentry.EventToLogs and FeedbackToLogs.
func (e *logExporter) event(record plog.LogRecord, item sentry.ItemType, s *source) {
	attrs := record.Attributes()
	level, _ := levelOf(record)
	out := &event.ErrorEvent{
		EventID: attr.TextOf(attrs, semconv.SentryEventID), Timestamp: e.timestamp(record.Timestamp(), record.ObservedTimestamp()),
		Platform: attr.FirstText(s.Platform, "other"), Level: level,
		Release: s.Release, Dist: s.Dist, Environment: s.Environment, SDK: s.Sdk,
		User: tosentry.UserOf(attrs, true), Request: tosentry.RequestOf(attrs, ptrace.SpanKindUnspecified),
	}
	if id := record.TraceID(); !id.IsEmpty() {
		out.Trace.TraceID, out.Trace.SpanID = hex.EncodeToString(id[:]), spanText(record.SpanID())
	}
	if out.EventID == "" {
		out.EventID = attr.HashID("event", out.Trace.TraceID, strconv.FormatUint(out.Timestamp.UnixNano, 10), record.Body().AsString())
	}
	data := e.fields(out, attrs)
	out.Message = messageOf(record, out)
	contexts := e.contexts(record, item, s)
	if out.Trace.TraceID == "" { // Sentry drops a trace context without a trace
		out.Trace, data = event.TraceContext{}, moveTo(contexts.Of("otel"), data)
	}
	out.Trace.Data, out.Contexts = data, contexts.Values()
	if item == sentry.ItemFeedback {
		out.Type, out.Message = string(item), event.Message{} // the message is in the context
	}
	e.add(item, out.EventID, event.AppendEvent(nil, out))
	if n := len(e.Items); n > 0 && e.Items[n-1].EventID == out.EventID && out.Trace.TraceID != "" {
		e.Items[n-1].Trace = &sentry.DynamicSamplingContext{
			TraceID: out.Trace.TraceID, Release: out.Release, Environment: out.Environment, Transaction: attr.Clip(out.Transaction, attr.MaxNameBytes),
		}
	}
}

// fields sets the fields that have their own attributes. It returns all other attributes, which
// belong in contexts.trace.data.
func (e *logExporter) fields(out *event.ErrorEvent, attrs pcommon.Map) (data []event.NamedValue) {
	tags := tosentry.TagKeys(attrs)
	for key, value := range attrs.All() {
		switch key {
		case semconv.SentryLogger:
			out.Logger = value.AsString()
		case semconv.SentrySegmentName:
			out.Transaction = value.AsString()
		case semconv.SentrySegmentNameSource:
			out.Source = value.AsString()
		case semconv.ServerAddress:
			out.ServerName = value.AsString()
		case semconv.SentryFingerprint:
			out.Fingerprint = textsOf(value)
		case semconv.SentryExceptions:
			out.Exceptions = ExceptionsOf(value)
		case semconv.SentryThreads:
			out.Threads = ThreadsOf(value)
		case semconv.SentryBreadcrumbs:
			if value.Type() == pcommon.ValueTypeSlice {
				out.Breadcrumbs = tosentry.CrumbsOf(value.Slice())
			}
		case semconv.SentryDebugMetaImages:
			out.Images = ofType(value, pcommon.ValueTypeSlice)
		case semconv.SentryModules:
			out.Modules = ofType(value, pcommon.ValueTypeMap)
		case semconv.SentryExtra:
			out.Extra = ofType(value, pcommon.ValueTypeMap)
		case semconv.SentryOp:
			out.Trace.Op = value.AsString()
		case semconv.SentryOrigin:
			out.Trace.Origin = value.AsString()
		case semconv.SentryStatus:
			out.Trace.Status = value.AsString()
		case semconv.SentryParentSpanID:
			out.Trace.ParentSpanID = value.AsString()
		case semconv.SentrySampleRand:
			if value.Type() == pcommon.ValueTypeDouble {
				out.Trace.SampleRand = jsonscan.Some(value.Double())
			}
		case semconv.ThreadID:
			data = append(data, event.NamedValue{Name: key, Value: attr.JsonString(value.AsString())})
		default:
			switch {
			case tags[key]:
				out.Tags = append(out.Tags, event.Tag{Key: key, Value: value.AsString()})
			case !isElsewhere(key):
				data = append(data, event.NamedValue{Name: key, Value: attr.JsonOf(value)})
			}
		}
	}
	return data
}

// isElsewhere reports whether an attribute was already read, or describes only the record.
func isElsewhere(key string) bool {
	if elsewhere[key] {
		return true
	}
	for _, prefix := range []string{
		semconv.SentryContextPrefix, semconv.SentryUserPrefix, semconv.SentryMessageParameterPrefix, semconv.HTTPRequestHeaderPrefix, semconv.HTTPResponseHeaderPrefix,
	} {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

var elsewhere = func() map[string]bool {
	keys := map[string]bool{
		semconv.SentryItemType: true, semconv.SentryEventID: true, semconv.SentryTags: true, semconv.SentrySeverityText: true,
		semconv.SentryClockDriftMS: true, semconv.SentryClockDriftCorrected: true,
		semconv.ExceptionType: true, semconv.ExceptionMessage: true, semconv.ExceptionStacktrace: true,
		semconv.ExceptionTypeOriginal: true, semconv.ExceptionStacktraceOriginal: true, semconv.SymbolicationStatus: true,
		semconv.SentryMessageTemplate: true, semconv.SentryMessageParameters: true,
		semconv.URLFull: true, semconv.HTTPRequestMethod: true, semconv.URLFragment: true, semconv.URLQuery: true, semconv.UserAgentOriginal: true,
		semconv.SentryRequestQueryString: true, semconv.SentryRequestData: true, semconv.SentryRequestCookies: true, semconv.SentryRequestEnv: true,
		semconv.SentryReplayID: true,
	}
	for _, key := range attr.UserKeys {
		keys[key] = true
	}
	for key := range contextMembers {
		keys[key] = true
	}
	return keys
}()

// contextMembers is the inverse of fromsentry.contextKeys, except that the replay is a separate
// context.
var contextMembers = map[string]attr.ContextMember{
	semconv.SentryProfileID:                 {Context: "profile", Name: "profile_id"},
	semconv.SentryProfilerID:                {Context: "profile", Name: "profiler_id"},
	semconv.HTTPResponseStatusCode:          {Context: "response", Name: "status_code"},
	semconv.SentryFeedbackContactEmail:      {Context: "feedback", Name: "contact_email"},
	semconv.SentryFeedbackName:              {Context: "feedback", Name: "name"},
	semconv.SentryFeedbackAssociatedEventID: {Context: "feedback", Name: "associated_event_id"},
	semconv.SentryFeedbackURL:               {Context: "feedback", Name: "url"},
	semconv.SentryFeedbackSource:            {Context: "feedback", Name: "source"},
}

// contexts returns the contexts of an event. Feedback is also a context.
func (e *logExporter) contexts(record plog.LogRecord, item sentry.ItemType, s *source) *tosentry.Contexts {
	attrs := record.Attributes()
	repeat := e.spend(s.Size)
	if !repeat {
		e.Flaws = discard.AddFlaw(e.Flaws, "resource", 1)
	}
	contexts := tosentry.NewContexts(attrs, s.Resource, repeat)
	var headers pcommon.Map
	found := false
	for key, value := range attrs.All() {
		if member, ok := contextMembers[key]; ok {
			value.CopyTo(contexts.Of(member.Context).PutEmpty(member.Name))
		}
		if name, ok := strings.CutPrefix(key, semconv.HTTPResponseHeaderPrefix); ok {
			if !found {
				headers, found = contexts.Of("response").PutEmptyMap("headers"), true
			}
			headers.PutStr(name, tosentry.Joined(value))
		}
	}
	if item == sentry.ItemFeedback {
		feedback := contexts.Of("feedback")
		if text := record.Body().AsString(); text != "" {
			feedback.PutStr("message", text)
		}
		if replay, ok := attrs.Get(semconv.SentryReplayID); ok {
			replay.CopyTo(feedback.PutEmpty("replay_id"))
			contexts.Remove("replay")
		}
	}
	return contexts
}

// moveTo adds attributes to a context. Processors may add attributes to events without a trace.
func moveTo(context pcommon.Map, data []event.NamedValue) []event.NamedValue {
	if len(data) == 0 {
		return nil
	}
	attributes := context.PutEmptyMap("attributes")
	for _, member := range data {
		attr.SetJSON(attributes.PutEmpty(member.Name), member.Value)
	}
	return nil
}

// messageOf is the inverse of fromsentry.putMessage and eventBody.
func messageOf(record plog.LogRecord, out *event.ErrorEvent) (m event.Message) {
	attrs := record.Attributes()
	m.Template = attr.TextOf(attrs, semconv.SentryMessageTemplate)
	m.Formatted = record.Body().AsString()
	if m.Template == m.Formatted {
		m.Formatted = ""
	}
	if n := len(out.Exceptions); n > 0 && m.Template == "" {
		// An exception without a type is the stack trace of a message.
		if thrown := &out.Exceptions[n-1]; thrown.Type != "" && m.Formatted == thrown.Headline() {
			m.Formatted = ""
		}
	}
	m.Params = paramsOf(attrs)
	return m
}

// paramsOf returns the parameters of the message: a list, or an object if they have names.
func paramsOf(attrs pcommon.Map) []byte {
	if all, ok := attrs.Get(semconv.SentryMessageParameters); ok {
		return attr.JsonOf(all)
	}
	named, numbered := pcommon.NewValueMap(), pcommon.NewValueSlice()
	for key, value := range attrs.All() {
		name, ok := strings.CutPrefix(key, semconv.SentryMessageParameterPrefix)
		if !ok {
			continue
		}
		if name == strconv.Itoa(numbered.Slice().Len()) {
			value.CopyTo(numbered.Slice().AppendEmpty())
		}
		value.CopyTo(named.Map().PutEmpty(name))
	}
	switch named.Map().Len() {
	case 0:
		return nil
	case numbered.Slice().Len():
		return attr.JsonOf(numbered)
	}
	return attr.JsonOf(named)
}
