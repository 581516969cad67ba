// SPDX-License-Identifier: Apache-2.0

package toissues

import (
	"encoding/hex"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/exception"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// translate returns the event of an exception.
func (e *exporter) translate(r *record) *sentryevent.ErrorEvent {
	trace, id := r.traceID, r.spanID
	x := newException(r.attrs, r.Platform)
	out := &sentryevent.ErrorEvent{
		// The same message always results in the same IDs, so that Sentry replaces a repeated
		// event.
		EventID:   attr.HashID("exception", hex.EncodeToString(trace[:]), hex.EncodeToString(id[:]), strconv.FormatUint(uint64(r.at), 10), x.Type, x.Message, strconv.Itoa(r.index)),
		Timestamp: attr.TimeOf(r.at), Platform: attr.EventPlatform(x.platform), Level: "error",
		SDK: sentryevent.SDK{ClientSDK: e.options.SDK}, Exceptions: x.chain(r.handled()),
	}
	if e.spend(r.repeatedSize(), "resource") {
		out.Release, out.Dist, out.Environment, out.ServerName = r.Release, r.Dist, r.Environment, r.serverName()
		out.Contexts = r.contexts()
	}
	if r.isTraced() { // Sentry drops a trace context without one of the IDs
		out.Trace.TraceID, out.Trace.SpanID = attr.TraceText(trace), attr.SpanText(id)
	}
	if r.span == notSpan {
		e.fillFromLog(out, r, x.Message)
	} else {
		e.fillFromSpan(out, r)
	}
	out.SDK.NeverInferIP()
	out.Fingerprint = e.fingerprint(r)
	out.Tags = e.tags(r)
	out.Extra = e.extra(r, x.unparsed)
	out.Breadcrumbs = e.breadcrumbs(r)
	if !e.options.IncludePII {
		removePersonal(out)
	}
	return out
}

// fillFromSpan sets the fields that the span and its segment state.
func (e *exporter) fillFromSpan(out *sentryevent.ErrorEvent, r *record) {
	span, request := r.spans[r.span], r.spans[r.span]
	out.Trace.Op, out.Trace.Status = attr.Clip(tosentry.ForeignOp(span), 128), tosentry.StatusName(span, false)
	out.Trace.ParentSpanID = attr.SpanText(span.ParentSpanID())
	if root := r.roots[r.span]; root >= 0 {
		request = r.spans[root]
		out.Transaction = attr.Clip(request.Name(), maxTagValue)
		out.Request = e.request(request.Attributes(), request.Kind())
	}
	out.User = e.user(span.Attributes(), request.Attributes(), request.Kind())
}

// fillFromLog sets the fields that only a log record states.
func (e *exporter) fillFromLog(out *sentryevent.ErrorEvent, r *record, message string) {
	out.User = e.user(r.attrs, r.attrs, 0)
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

// user returns the user that the attributes of a span or a log record and those of the request
// state, or nil if the events of the message may not repeat it.
func (e *exporter) user(own, request pcommon.Map, kind ptrace.SpanKind) []sentryevent.NamedValue {
	user := e.statedUser(own)
	if sentryevent.Member(user, "id") == nil { // instrumentations state the user on the span of the request
		for _, member := range e.statedUser(request) {
			if sentryevent.Member(user, member.Name) == nil {
				user = append(user, member)
			}
		}
	}
	// OpenTelemetry also states host names as addresses, which Sentry rejects.
	if address := attr.TextOf(request, semconv.ClientAddress); kind != ptrace.SpanKindClient && e.options.IncludePII && isIPAddress(address) {
		user = append(user, sentryevent.NamedValue{Name: "ip_address", Value: attr.JsonString(address)})
	}
	size := 0
	for _, member := range user {
		size += len(member.Name) + len(member.Value)
	}
	if len(user) == 0 || !e.spend(size, "user") {
		return nil
	}
	return user
}

// statedUser returns the user that attributes state: without include_pii, only the ID. enduser.id
// may be an e-mail address.
func (e *exporter) statedUser(attrs pcommon.Map) []sentryevent.NamedValue {
	scratch := new(attr.Scratch)
	user := tosentry.AppendUser(nil, attrs, false, scratch)
	if !e.options.IncludePII {
		return slices.DeleteFunc(user, func(member sentryevent.NamedValue) bool { return member.Name != "id" })
	}
	if id := attr.TextOf(attrs, semconv.EnduserID); id != "" && attr.TextOf(attrs, semconv.UserID) == "" {
		user = slices.DeleteFunc(user, func(member sentryevent.NamedValue) bool { return member.Name == "id" })
		user = append(user, sentryevent.NamedValue{Name: "id", Value: scratch.Text(id)})
	}
	return user
}

func isIPAddress(text string) bool {
	address, err := netip.ParseAddr(text)
	return err == nil && address.Zone() == ""
}

// request returns the request that the segment served, or that the log record states.
func (e *exporter) request(attrs pcommon.Map, kind ptrace.SpanKind) *sentryevent.HTTPRequest {
	request := tosentry.RequestOf(attrs, kind, new(attr.Scratch))
	if request == nil {
		return nil
	}
	if strings.Trim(strings.ToUpper(request.Method), "ABCDEFGHIJKLMNOPQRSTUVWXYZ-_") != "" || len(request.Method) > maxMethod {
		request.Method = "" // Sentry accepts no others
	}
	if query := request.QueryString; len(query) > 0 && query[0] != '"' { // Sentry expects text
		request.QueryString = attr.JsonOf(pcommon.NewValueStr(string(query)))
	}
	size := len(request.QueryString) + len(request.Data) + len(request.Env) + len(request.Cookies)
	size += len(attr.JsonString(request.URL)) + len(attr.JsonString(request.Fragment)) // a control character is written as six
	for _, header := range request.Headers {
		size += len(header.Key) + len(header.Value)
	}
	if !e.spend(size, "request") {
		return nil
	}
	return request
}

// fingerprint returns all parts of the fingerprint or none: a part of them would merge issues.
func (e *exporter) fingerprint(r *record) (parts []string) {
	for _, attrs := range []pcommon.Map{r.attrs, r.owner} {
		value, ok := attrs.Get(semconv.SentryFingerprint)
		if !ok || value.Type() != pcommon.ValueTypeSlice || value.Slice().Len() > maxAlsoOn {
			continue
		}
		size := 0
		for _, part := range value.Slice().All() {
			parts = append(parts, attr.Clip(part.AsString(), maxTagValue))
			size += len(parts[len(parts)-1])
		}
		if len(parts) == 0 || !e.spend(size, "fingerprint") {
			return nil
		}
		return parts
	}
	return nil
}

// tags returns the attributes that are in the list of tags, if they are scalar and short enough.
func (e *exporter) tags(r *record) (tags []sentryevent.Tag) {
	for _, key := range e.options.Tags {
		for _, attrs := range []pcommon.Map{r.attrs, r.owner} {
			if value, ok := attrs.Get(key); ok && isTag(key, value) {
				if tag := (sentryevent.Tag{Key: key, Value: value.AsString()}); e.spend(len(tag.Key)+len(tag.Value), "tags") {
					tags = append(tags, tag)
				}
				break
			}
		}
	}
	return tags
}

func isTag(key string, value pcommon.Value) bool {
	switch value.Type() {
	case pcommon.ValueTypeStr, pcommon.ValueTypeInt, pcommon.ValueTypeBool, pcommon.ValueTypeDouble:
		content := value.AsString()
		return len(key) <= maxTagKey && strings.TrimSpace(content) != "" && len(content) <= maxTagValue && !strings.ContainsAny(content, "\r\n")
	}
	return false
}

// extra returns the other attributes of the exception and its span, and a stack trace without
// frames.
func (e *exporter) extra(r *record, stack string) []byte {
	object := pcommon.NewValueMap()
	m, size := object.Map(), 0
	for _, attrs := range []pcommon.Map{r.owner, r.attrs} {
		for key, value := range attrs.All() {
			if slices.Contains(e.options.Tags, key) && isTag(key, value) || isField(key) || !e.options.IncludePII && attr.IsPersonal(key) {
				continue
			}
			if m.Len() == maxAttributes {
				e.Flaw("extra", 1)
				break
			}
			content := attr.Clip(value.AsString(), maxExtra)
			if size += len(key) + len(content); size > e.copies.Left() {
				break // without a copy of the others
			}
			if value.Type() == pcommon.ValueTypeStr || len(content) >= maxExtra {
				m.PutStr(key, content)
			} else {
				value.CopyTo(m.PutEmpty(key))
			}
		}
	}
	if !e.options.IncludePII {
		attr.RemovePersonal(m)
	}
	var extra []byte
	if m.Len() > 0 && size <= e.copies.Left() {
		extra = attr.JsonOf(object)
		size = len(extra) // with escapes
	}
	if (m.Len() > 0 || size > e.copies.Left()) && !e.spend(size, "extra") {
		m.RemoveIf(func(string, pcommon.Value) bool { return true })
		extra = nil
	}
	if stack == "" {
		return extra
	}
	text := m.PutEmpty("stacktrace")
	text.SetStr(attr.Clip(stack, maxStacktrace))
	if !e.options.IncludePII {
		attr.RemovePersonalIn(text)
	}
	return attr.JsonOf(object)
}

// maxAttributes is the maximum number of attributes in extra data: by default, SDKs record at most
// 128 attributes of a span.
const maxAttributes = 128

// isField reports whether an attribute has its own field in the event.
func isField(key string) bool {
	switch key {
	case semconv.ExceptionEscaped, semconv.SentryFingerprint, semconv.EnduserID:
		return true
	}
	return exception.IsKey(key) || attr.UserFields.Has(key) || strings.HasPrefix(key, semconv.HTTPRequestHeaderPrefix)
}

// removePersonal removes the data that Sentry's SDKs send only with send_default_pii.
func removePersonal(out *sentryevent.ErrorEvent) {
	if out.Request != nil {
		out.Request.Cookies, out.Request.Env, out.Request.Data = nil, nil, nil
		out.Request.Headers = slices.DeleteFunc(out.Request.Headers, func(header sentryevent.Tag) bool { return attr.IsPersonalHeader(header.Key) })
	}
}
