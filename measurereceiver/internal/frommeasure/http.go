// SPDX-License-Identifier: Apache-2.0

package frommeasure

import (
	"crypto/sha256"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

// fillHTTPSpan translates a request of the app. With a traceparent header, the span has its IDs, so
// it is the parent of the server's span. Otherwise, the IDs are derived from the event, so that a
// retry yields the same span.
func fillHTTPSpan(span ptrace.Span, e *measure.Event, src Source) {
	h, attrs := e.HTTP, span.Attributes()
	trace, id, ok := traceparent(h.RequestHeaders.Get("traceparent"))
	if !ok {
		trace = pcommon.TraceID(e.ID.UUID)
		hash := sha256.Sum256(e.ID.UUID[:])
		copy(id[:], hash[:])
	}
	span.SetTraceID(trace)
	span.SetSpanID(id)
	span.SetKind(ptrace.SpanKindClient)
	span.SetEndTimestamp(pcommon.Timestamp(e.Timestamp.UnixNano))
	span.SetStartTimestamp(pcommon.Timestamp(e.Timestamp.UnixNano - requestNanos(e)))
	attrs.PutStr(semconv.LogRecordUID, e.ID.String())
	putMoment(attrs, e.SessionID, &e.Attribute, src)
	putTrue(attrs, semconv.MeasureUserTriggered, e.UserTriggered)

	method := strings.ToUpper(h.Method)
	if knownMethods[method] {
		span.SetName(method)
		attrs.PutStr(semconv.HTTPRequestMethod, method)
	} else {
		span.SetName("HTTP")
		attrs.PutStr(semconv.HTTPRequestMethod, "_OTHER")
		attr.PutText(attrs, semconv.HTTPRequestMethodOriginal, h.Method)
	}
	putURL(attrs, h.URL)
	if h.StatusCode.Value > 0 {
		attrs.PutInt(semconv.HTTPResponseStatusCode, h.StatusCode.Value)
	}
	setHTTPStatus(span, h)
	putHeaders(attrs, semconv.HTTPRequestHeaderPrefix, h.RequestHeaders)
	putHeaders(attrs, semconv.HTTPResponseHeaderPrefix, h.ResponseHeaders)
	if src.HTTPBodies {
		attr.PutText(attrs, semconv.HTTPRequestBodyContent, cutText(h.RequestBody, maxHTTPBody))
		attr.PutText(attrs, semconv.HTTPResponseBodyContent, cutText(h.ResponseBody, maxHTTPBody))
	}
	attr.PutText(attrs, semconv.MeasureHTTPClient, h.Client)
	putAttachments(attrs, e.Attachments)
	putUserAttributes(attrs, e.UserDefined, src)
	putUserAttributes(attrs, e.LegacyUserDefined, src)
}

// knownMethods are the methods of the convention.
var knownMethods = map[string]bool{
	"GET": true, "HEAD": true, "POST": true, "PUT": true, "DELETE": true, "CONNECT": true, "OPTIONS": true, "TRACE": true, "PATCH": true, "QUERY": true,
}

// maxHTTPBody limits the bytes of a body, if bodies are enabled.
const maxHTTPBody = 4 << 10

func cutText(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "")
}

// requestNanos returns the duration of the request. Its two times count from boot or from 1970, and
// the event's time is the end.
func requestNanos(e *measure.Event) uint64 {
	begin, end := e.HTTP.StartTime.Value, e.HTTP.EndTime.Value
	if begin <= 0 || end <= begin || uint64(end-begin) >= e.Timestamp.UnixNano/1e6 {
		return 0
	}
	return uint64(end-begin) * 1e6
}

func setHTTPStatus(span ptrace.Span, h *measure.HTTP) {
	errorType := h.FailureReason
	if errorType == "" && h.StatusCode.Value >= 400 {
		errorType = strconv.FormatInt(h.StatusCode.Value, 10)
	}
	if errorType == "" {
		return
	}
	span.Attributes().PutStr(semconv.ErrorType, errorType)
	span.Status().SetCode(ptrace.StatusCodeError)
	span.Status().SetMessage(h.FailureDescription)
}

// traceparent parses the header of W3C's trace context.
func traceparent(header string) (trace pcommon.TraceID, span pcommon.SpanID, ok bool) {
	parts := strings.SplitN(header, "-", 5) // later versions may have more
	ok = len(parts) >= 4 && len(parts[0]) == 2 && attr.DecodeHex(trace[:], parts[1]) && attr.DecodeHex(span[:], parts[2]) && !trace.IsEmpty() && !span.IsEmpty()
	return trace, span, ok
}

// secretParameters are the query parameters that the convention redacts.
var secretParameters = []string{"AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature"}

// putURL sets a URL without credentials. Text that is not a URL with a host is kept: apps may
// choose any name for a request.
func putURL(attrs pcommon.Map, text string) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		if !strings.Contains(text, "@") { // may contain credentials that cannot be removed
			attr.PutText(attrs, semconv.URLFull, text)
		}
		return
	}
	if u.User != nil {
		u.User = url.UserPassword("REDACTED", "REDACTED")
		text = u.String()
	}
	for _, name := range secretParameters {
		text = redactParameter(text, name)
	}
	attr.PutText(attrs, semconv.URLFull, text)
	attr.PutText(attrs, semconv.ServerAddress, u.Hostname())
	port, err := strconv.ParseInt(u.Port(), 10, 32)
	switch {
	case err == nil:
		attrs.PutInt(semconv.ServerPort, port)
	case u.Scheme == "https":
		attrs.PutInt(semconv.ServerPort, 443)
	case u.Scheme == "http":
		attrs.PutInt(semconv.ServerPort, 80)
	}
}

// redactParameter redacts one parameter and keeps the rest of the query as sent, unlike url.Values.
func redactParameter(text, name string) string {
	before, query, found := strings.Cut(text, "?")
	if !found || !strings.Contains(query, name+"=") {
		return text
	}
	parameters := strings.Split(query, "&")
	for i, parameter := range parameters {
		if key, _, _ := strings.Cut(parameter, "="); key == name {
			parameters[i] = name + "=REDACTED"
		}
	}
	return before + "?" + strings.Join(parameters, "&")
}

// putHeaders sets headers, except those with credentials or the client's address.
func putHeaders(attrs pcommon.Map, prefix string, headers measure.Headers) {
	for _, header := range headers.Pairs {
		name := strings.ToLower(header.Key)
		if !attr.IsPersonalHeader(name) {
			attrs.PutEmptySlice(prefix + name).AppendEmpty().SetStr(attr.JsonText(header.Value))
		}
	}
}
