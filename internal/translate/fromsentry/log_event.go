// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
)

// EventToLogs translates an error event to one record, with the thrown exception as its headline.
func EventToLogs(e *event.ErrorEvent, src Source) plog.Logs {
	out, record := newEventLogs(e, sentry.ItemEvent, src)
	setSeverity(record, attr.FirstText(e.Level, "error")) // Sentry's default
	if body := eventBody(e); body != "" {
		record.Body().SetStr(body)
	}
	return out
}

// FeedbackToLogs translates user feedback, including all data that SDKs add to events.
func FeedbackToLogs(e *event.ErrorEvent, src Source) plog.Logs {
	out, record := newEventLogs(e, sentry.ItemFeedback, src)
	setSeverity(record, attr.FirstText(e.Level, "info"))
	attr.EachMember(event.Member(e.Contexts, "feedback"), func(key string, value []byte) {
		if key == "message" {
			record.Body().SetStr(attr.PlainText(value))
		}
	})
	return out
}

// newEventLogs returns a complete record except for severity and body.
func newEventLogs(e *event.ErrorEvent, item sentry.ItemType, src Source) (plog.Logs, plog.LogRecord) {
	out, scope := newLogs(eventIdentity(e, src), src)
	record := newRecord(scope, item, e.Timestamp, src)
	setTrace(record, e.Trace.TraceID, e.Trace.SpanID)

	attrs := record.Attributes()
	attr.PutText(attrs, semconv.SentryEventID, src.EventID) // PHP states it only in the envelope header
	exception.PutChain(attrs, e)
	putMessage(attrs, &e.Message)
	exception.PutMessageStack(attrs, e)
	attr.Put(attrs, attr.RecordFields, event.Events, e, src.IncludePII)
	putEvent(attrs, e, src)
	putRequest(attrs, e.Request, src)
	putTraceContext(attrs, &e.Trace, src)
	src.Trace.Put(attrs, attr.TraceHeader{Transaction: e.Transaction})
	putContexts(attrs, out.ResourceLogs().At(0).Resource().Attributes(), e.Contexts, src)
	exception.PutThreads(attrs, e)
	putBreadcrumbs(attrs, e.Breadcrumbs, src)
	putListedTags(attrs, e.Tags, src)
	src.removePersonal(attrs)
	return out, record
}

// putEvent sets the fields that events and transactions share.
func putEvent(attrs pcommon.Map, e *event.ErrorEvent, src Source) {
	attr.Put(attrs, attr.EventFields, event.Events, e, src.IncludePII)
	attr.Put(attrs, attr.TransactionInfoFields, event.TransactionInfos, &e.Info, src.IncludePII)
	attr.Put(attrs, attr.DebugMetaFields, event.DebugMetas, &e.DebugMeta, src.IncludePII)
	attr.Put(attrs, attr.SDKFields, event.SDKs, &e.SDK, src.IncludePII)
	putUser(attrs, e.User, src)
	if src.IncludePII {
		attr.PutText(attrs, semconv.ClientAddress, userAddress(e, src))
	}
}

// eventBody returns the message or, if there is none, "Type: value" of the thrown exception.
func eventBody(e *event.ErrorEvent) string {
	if text := e.Message.Text(); text != "" || len(e.Exceptions) == 0 {
		return text
	}
	return e.Exceptions[len(e.Exceptions)-1].Headline()
}

// putMessage sets the template and the parameters as in logs: numbered, or named if they have names
// (Python's logging).
func putMessage(attrs pcommon.Map, m *event.Message) {
	attr.PutText(attrs, semconv.SentryMessageTemplate, m.Template)
	if len(m.Params) == 0 {
		return
	}
	params := pcommon.NewValueEmpty()
	attr.SetJSON(params, m.Params)
	switch kind := params.Type(); {
	case kind == pcommon.ValueTypeSlice && params.Slice().Len() <= attr.MaxMembers:
		for i, param := range params.Slice().All() {
			param.CopyTo(attrs.PutEmpty(semconv.SentryMessageParameterPrefix + strconv.Itoa(i)))
		}
	case kind == pcommon.ValueTypeMap:
		for name, param := range params.Map().All() {
			param.CopyTo(attrs.PutEmpty(semconv.SentryMessageParameterPrefix + name))
		}
	case kind != pcommon.ValueTypeEmpty: // too many for one attribute each
		params.MoveTo(attrs.PutEmpty(semconv.SentryMessageParameters))
	}
}

func putUser(attrs pcommon.Map, user []event.NamedValue, src Source) {
	for _, member := range user {
		known := attr.UserFields.KeyOf(member.Name)
		key := attr.FirstText(known, semconv.SentryUserPrefix+member.Name)
		if !src.IncludePII && attr.IsPersonal(key) || string(member.Value) == `"{{auto}}"` {
			continue // auto: Sentry's server would insert the sender's address
		}
		if known != "" {
			attr.PutText(attrs, key, attr.PlainText(member.Value))
			continue
		}
		attr.PutRaw(attrs, key, member.Value)
	}
}

func putRequest(attrs pcommon.Map, r *event.HTTPRequest, src Source) {
	if r == nil {
		return
	}
	attr.Put(attrs, attr.RequestFields, event.Requests, r, src.IncludePII)
	if query := attr.PlainText(r.QueryString); query != "" {
		attr.PutText(attrs, semconv.URLQuery, strings.TrimPrefix(query, "?"))
	} else if string(r.QueryString) != `""` { // Python sends it if there is no query
		attr.PutRaw(attrs, semconv.SentryRequestQueryString, r.QueryString)
	}
	for _, header := range r.Headers {
		putHeader(attrs, semconv.HTTPRequestHeaderPrefix, header.Key, header.Value, src)
	}
}

// putHeader sets a header by OpenTelemetry's convention: a list of strings under the lower-case
// name. A header that occurs several times has several values.
func putHeader(attrs pcommon.Map, prefix, name, value string, src Source) {
	if value == "" || !src.IncludePII && attr.IsPersonalHeader(name) {
		return
	}
	name = strings.ToLower(name)
	list, known := attrs.Get(prefix + name)
	if !known || list.Type() != pcommon.ValueTypeSlice {
		list = attrs.PutEmpty(prefix + name)
		list.SetEmptySlice()
	}
	list.Slice().AppendEmpty().SetStr(value)
	if name == "user-agent" && prefix == semconv.HTTPRequestHeaderPrefix {
		attrs.PutStr(semconv.UserAgentOriginal, value)
	}
}

// putRest sets the members of a trace context that ingest keeps without a meaning of their own.
func putRest(attrs pcommon.Map, rest []event.NamedValue, src Source) {
	if len(rest) == 0 {
		return
	}
	m := attrs.PutEmptyMap(semconv.SentryContextTrace)
	for _, member := range rest {
		if src.IncludePII || !attr.IsPersonal(member.Name) {
			attr.PutRaw(m, member.Name, member.Value)
		}
	}
}

// putTraceContext adds the fields of contexts.trace except the IDs. Its data, including thread.id,
// already consists of attributes.
func putTraceContext(attrs pcommon.Map, t *event.TraceContext, src Source) {
	t.Status = statusName(t.Status)
	attr.Put(attrs, attr.TraceContextFields, event.TraceContexts, t, src.IncludePII)
	putRest(attrs, t.Rest, src)
	for _, member := range t.Data {
		if !src.IncludePII && isPersonalOnSpan(member.Name, spanKind("", t.Op)) {
			continue
		}
		key := member.Name
		if key == semconv.ProfilerID {
			key = semconv.SentryProfilerID
		}
		if key == semconv.ThreadID {
			attr.PutDecimal(attrs, key, attr.PlainText(member.Value))
			continue
		}
		attr.PutRaw(attrs, key, member.Value)
	}
}

// putBreadcrumbs sets the breadcrumbs of an event or a transaction as a list of maps with Sentry's
// own keys.
func putBreadcrumbs(attrs pcommon.Map, crumbs []event.Breadcrumb, src Source) {
	if len(crumbs) == 0 {
		return
	}
	list := attrs.PutEmptySlice(semconv.SentryBreadcrumbs)
	for i := range crumbs {
		b, m := &crumbs[i], list.AppendEmpty().SetEmptyMap()
		if b.Timestamp.Set {
			m.PutInt("time_unix_nano", int64(src.unixNano(b.Timestamp)))
		}
		attr.PutMembers(m, event.Breadcrumbs, b)
	}
}
