package translate

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// EventToLogs translates an error event: one record, with the thrown exception as its headline.
func EventToLogs(e *sentry.ErrorEvent, src Source) plog.Logs {
	out, record := newEventLogs(e, sentry.ItemEvent, src)
	setSeverity(record, firstText(e.Level, "error")) // Sentry's default
	if body := eventBody(e); body != "" {
		record.Body().SetStr(body)
	}
	return out
}

// FeedbackToLogs translates feedback: what a person said, and as an event all that the SDK knew then.
func FeedbackToLogs(e *sentry.ErrorEvent, src Source) plog.Logs {
	out, record := newEventLogs(e, sentry.ItemFeedback, src)
	setSeverity(record, firstText(e.Level, "info"))
	for _, context := range e.Contexts {
		if context.Name == "feedback" {
			eachMember(context.Value, func(key string, value []byte) {
				if key == "message" {
					record.Body().SetStr(plainText(value))
				}
			})
		}
	}
	return out
}

// newEventLogs makes the record with everything but level and body.
func newEventLogs(e *sentry.ErrorEvent, item sentry.ItemType, src Source) (plog.Logs, plog.LogRecord) {
	id := identity{platform: e.Platform, release: e.Release, dist: e.Dist, environment: e.Environment, sdk: e.SDK}
	out, scope := newLogs(id.completed(src), src)
	record := newRecord(scope, item, e.Timestamp, src)
	setTrace(record, e.Trace.TraceID, e.Trace.SpanID)

	attrs := record.Attributes()
	putText(attrs, keyEventID, firstText(e.EventID, src.EventID))
	putExceptions(attrs, e)
	putMessage(attrs, &e.Message)
	putText(attrs, keyLogger, e.Logger)
	putText(attrs, keySegmentName, e.Transaction)
	putText(attrs, keySegmentSource, e.Source)
	putText(attrs, keyServerAddress, e.ServerName)
	putTexts(attrs, keyFingerprint, e.Fingerprint)
	putUser(attrs, e.User, src)
	putRequest(attrs, e.Request, src)
	putTraceContext(attrs, &e.Trace, src)
	putContexts(attrs, out.ResourceLogs().At(0).Resource().Attributes(), e.Contexts, src)
	putThreads(attrs, e.Threads)
	putBreadcrumbs(attrs, e.Breadcrumbs, src)
	putRaw(attrs, keyImages, e.Images)
	putRaw(attrs, keyModules, e.Modules)
	putRaw(attrs, keyExtra, e.Extra)
	putTags(attrs, e.Tags, src)
	if !src.IncludePII {
		removePersonal(attrs)
	}
	return out, record
}

// eventBody is the message, else "Type: value" of the thrown exception.
func eventBody(e *sentry.ErrorEvent) string {
	if text := e.Message.Text(); text != "" || len(e.Exceptions) == 0 {
		return text
	}
	return headline(&e.Exceptions[len(e.Exceptions)-1])
}

// putMessage sets template and parameters as logs have them: numbered, or named where python's logging has named ones.
func putMessage(attrs pcommon.Map, m *sentry.Message) {
	putText(attrs, keyMessageTemplate, m.Template)
	if len(m.Params) == 0 {
		return
	}
	params := pcommon.NewValueEmpty()
	setJSON(params, m.Params)
	switch kind := params.Type(); {
	case kind == pcommon.ValueTypeSlice && params.Slice().Len() <= maxMembers:
		for i, param := range params.Slice().All() {
			param.CopyTo(attrs.PutEmpty(keyMessageParameter + strconv.Itoa(i)))
		}
	case kind == pcommon.ValueTypeMap:
		for name, param := range params.Map().All() {
			param.CopyTo(attrs.PutEmpty(keyMessageParameter + name))
		}
	case kind != pcommon.ValueTypeEmpty: // too many for an attribute each
		params.MoveTo(attrs.PutEmpty(keyMessageParameters))
	}
}

// putTags sets each tag under its own key, as Relay does, unless the event itself says something there.
func putTags(attrs pcommon.Map, tags []sentry.Tag, src Source) {
	for _, tag := range tags {
		if _, taken := attrs.Get(tag.Key); taken || !src.IncludePII && isPersonal(tag.Key) {
			continue
		}
		attrs.PutStr(tag.Key, tag.Value)
	}
}

// userKeys are the conventional names of what Sentry knows of a user.
var userKeys = map[string]string{
	"id": "user.id", "username": "user.name", "name": "user.full_name", "email": "user.email", "ip_address": "client.address",
}

func putUser(attrs pcommon.Map, user []sentry.NamedValue, src Source) {
	for _, member := range user {
		key := firstText(userKeys[member.Name], "sentry.user."+member.Name)
		if !src.IncludePII && isPersonal(key) || string(member.Value) == `"{{auto}}"` {
			continue // auto: the server would take the address of the sender
		}
		if _, conventional := userKeys[member.Name]; conventional {
			putText(attrs, key, plainText(member.Value))
			continue
		}
		putRaw(attrs, key, member.Value)
	}
}

func putRequest(attrs pcommon.Map, r *sentry.HTTPRequest, src Source) {
	if r == nil {
		return
	}
	putText(attrs, "url.full", r.URL)
	putText(attrs, "http.request.method", r.Method)
	putText(attrs, "url.fragment", r.Fragment)
	if query := plainText(r.QueryString); query != "" {
		putText(attrs, "url.query", strings.TrimPrefix(query, "?"))
	} else if string(r.QueryString) != `""` { // python, where there is no query
		putRaw(attrs, "sentry.request.query_string", r.QueryString)
	}
	for _, header := range r.Headers {
		putHeader(attrs, "http.request.header.", header.Key, header.Value, src)
	}
	putRaw(attrs, "sentry.request.data", r.Data)
	if src.IncludePII {
		putRaw(attrs, "sentry.request.cookies", r.Cookies)
		putRaw(attrs, "sentry.request.env", r.Env)
	}
}

// putHeader sets a header as OpenTelemetry does: a list of texts, under the name in lower case.
func putHeader(attrs pcommon.Map, prefix, name, value string, src Source) {
	if value == "" || !src.IncludePII && isPersonalHeader(name) {
		return
	}
	name = strings.ToLower(name)
	attrs.PutEmptySlice(prefix + name).AppendEmpty().SetStr(value)
	if name == "user-agent" && prefix == "http.request.header." {
		attrs.PutStr("user_agent.original", value)
	}
}

// putTraceContext sets what contexts.trace says beyond the ids: its data are attributes already, thread.id among them.
func putTraceContext(attrs pcommon.Map, t *sentry.TraceContext, src Source) {
	putText(attrs, "sentry.op", t.Op)
	putText(attrs, "sentry.origin", t.Origin)
	putText(attrs, "sentry.status", t.Status)
	putText(attrs, "sentry.parent_span_id", t.ParentSpanID)
	if t.SampleRand.Set {
		attrs.PutDouble(keySampleRand, t.SampleRand.Value)
	}
	for _, member := range t.Data {
		if !src.IncludePII && isPersonalOnSpan(member.Name, spanKind("", t.Op)) {
			continue
		}
		key := member.Name
		if key == "profiler_id" {
			key = keyProfilerID
		}
		if key == keyThreadID {
			putDecimal(attrs, key, plainText(member.Value))
			continue
		}
		putRaw(attrs, key, member.Value)
	}
}
