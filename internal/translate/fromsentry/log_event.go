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
	for _, context := range e.Contexts {
		if context.Name == "feedback" {
			attr.EachMember(context.Value, func(key string, value []byte) {
				if key == "message" {
					record.Body().SetStr(attr.PlainText(value))
				}
			})
		}
	}
	return out
}

// newEventLogs returns a complete record except for severity and body.
func newEventLogs(e *event.ErrorEvent, item sentry.ItemType, src Source) (plog.Logs, plog.LogRecord) {
	id := attr.Identity{Platform: e.Platform, Release: e.Release, Dist: e.Dist, Environment: e.Environment, Sdk: e.SDK}
	out, scope := newLogs(completed(id, src), src)
	record := newRecord(scope, item, e.Timestamp, src)
	setTrace(record, e.Trace.TraceID, e.Trace.SpanID)

	attrs := record.Attributes()
	attr.PutText(attrs, semconv.SentryEventID, attr.FirstText(e.EventID, src.EventID))
	putExceptions(attrs, e)
	putMessage(attrs, &e.Message)
	attr.PutText(attrs, semconv.SentryLogger, e.Logger)
	attr.PutText(attrs, semconv.SentrySegmentName, e.Transaction)
	attr.PutText(attrs, semconv.SentrySegmentNameSource, e.Source)
	attr.PutText(attrs, semconv.ServerAddress, e.ServerName)
	putTexts(attrs, semconv.SentryFingerprint, e.Fingerprint)
	putUser(attrs, e.User, src)
	putRequest(attrs, e.Request, src)
	putTraceContext(attrs, &e.Trace, src)
	src.Trace.Put(attrs, attr.TraceHeader{Transaction: e.Transaction})
	putContexts(attrs, out.ResourceLogs().At(0).Resource().Attributes(), e.Contexts, src)
	putThreads(attrs, e.Threads)
	putBreadcrumbs(attrs, e.Breadcrumbs, src)
	attr.PutRaw(attrs, semconv.SentryDebugMetaImages, e.Images)
	attr.PutRaw(attrs, semconv.SentryModules, e.Modules)
	attr.PutRaw(attrs, semconv.SentryExtra, e.Extra)
	putListedTags(attrs, e.Tags, src)
	if !src.IncludePII {
		attr.RemovePersonal(attrs)
	}
	return out, record
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

// putTags sets each tag under its own key, as Relay does, unless the event already has that
// attribute.
func putTags(attrs pcommon.Map, tags []event.Tag, src Source) {
	for _, tag := range tags {
		if _, taken := attrs.Get(tag.Key); taken || !src.IncludePII && attr.IsPersonal(tag.Key) {
			continue
		}
		attrs.PutStr(tag.Key, tag.Value)
	}
}

func putUser(attrs pcommon.Map, user []event.NamedValue, src Source) {
	for _, member := range user {
		key := attr.FirstText(attr.UserKey(member.Name), semconv.SentryUserPrefix+member.Name)
		if !src.IncludePII && attr.IsPersonal(key) || string(member.Value) == `"{{auto}}"` {
			continue // auto: Sentry's server would insert the sender's address
		}
		if attr.UserKey(member.Name) != "" {
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
	attr.PutText(attrs, semconv.URLFull, r.URL)
	attr.PutText(attrs, semconv.HTTPRequestMethod, r.Method)
	attr.PutText(attrs, semconv.URLFragment, r.Fragment)
	if query := attr.PlainText(r.QueryString); query != "" {
		attr.PutText(attrs, semconv.URLQuery, strings.TrimPrefix(query, "?"))
	} else if string(r.QueryString) != `""` { // Python sends it if there is no query
		attr.PutRaw(attrs, semconv.SentryRequestQueryString, r.QueryString)
	}
	for _, header := range r.Headers {
		putHeader(attrs, semconv.HTTPRequestHeaderPrefix, header.Key, header.Value, src)
	}
	attr.PutRaw(attrs, semconv.SentryRequestData, r.Data)
	if src.IncludePII {
		attr.PutRaw(attrs, semconv.SentryRequestCookies, r.Cookies)
		attr.PutRaw(attrs, semconv.SentryRequestEnv, r.Env)
	}
}

// putHeader sets a header by OpenTelemetry's convention: a list of strings under the lower-case
// name.
func putHeader(attrs pcommon.Map, prefix, name, value string, src Source) {
	if value == "" || !src.IncludePII && attr.IsPersonalHeader(name) {
		return
	}
	name = strings.ToLower(name)
	attrs.PutEmptySlice(prefix + name).AppendEmpty().SetStr(value)
	if name == "user-agent" && prefix == semconv.HTTPRequestHeaderPrefix {
		attrs.PutStr(semconv.UserAgentOriginal, value)
	}
}

// putTraceContext adds the fields of contexts.trace except the IDs. Its data, including thread.id,
// already consists of attributes.
func putTraceContext(attrs pcommon.Map, t *event.TraceContext, src Source) {
	attr.PutText(attrs, semconv.SentryOp, t.Op)
	attr.PutText(attrs, semconv.SentryOrigin, t.Origin)
	attr.PutText(attrs, semconv.SentryStatus, t.Status)
	attr.PutText(attrs, semconv.SentryParentSpanID, t.ParentSpanID)
	if t.SampleRand.Set {
		attrs.PutDouble(semconv.SentrySampleRand, t.SampleRand.Value)
	}
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
