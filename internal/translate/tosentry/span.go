// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

var spanTaker = attr.NewTaker(attr.FieldsOf(attr.SpanFields, event.Spans))

// legacySpan is the inverse of fromsentry.fillSpan: a span of a transaction, root or child.
func (e *traceExporter) legacySpan(s *tracedSpan) event.Span {
	fromSentry := e.resource.FromSentry
	out := event.Span{
		TraceID: attr.TraceText(s.TraceID()), SpanID: attr.SpanText(s.SpanID()), ParentSpanID: attr.SpanText(s.ParentSpanID()),
		Status: StatusName(s.Span, fromSentry),
		Links: linksOf(s.Links(), func(key string, value pcommon.Value) event.Attribute {
			return event.Attribute{Key: key, Value: attr.JsonOf(value)}
		}),
	}
	out.Start, out.End = timesOf(s.Span)
	out.Data = make([]event.NamedValue, 0, s.Attributes().Len()+2) // and the thread
	var category []event.NamedValue
	tags := map[string]bool{}
	AddTagKeys(tags, s.Attributes())
	for key, value := range s.Attributes().All() {
		switch {
		case key == semconv.SentrySegmentID, attr.IsSpanField(key), attr.IsClockDrift(key): // set by the transaction, or below
		case spanTaker.Take(&out, key, value, &e.scratch):
			if value.Type() == pcommon.ValueTypeStr && value.Str() == browserMetrics {
				category = []event.NamedValue{{Name: key, Value: e.scratch.JSON(value)}}
			}
		case key == semconv.SentryMeasurements:
			out.Measurements = measuresOf(value)
		case tags[key]:
			out.Tags = append(out.Tags, event.Tag{Key: key, Value: value.AsString()})
		default:
			json := e.scratch.JSON(value)
			if !fromSentry && (value.Type() == pcommon.ValueTypeSlice || value.Type() == pcommon.ValueTypeMap) { // as ingest stores it, but without an error
				json = e.scratch.Text(string(json))
			}
			out.Data = append(out.Data, event.NamedValue{Name: key, Value: json})
		}
	}
	out.Data = append(out.Data, category...)
	if !fromSentry {
		fillForeign(&out, s.Span)
	}
	out.Op, out.Origin = clip(out.Op, maxOp), originText(out.Origin)
	return out
}

// browserMetrics is the origin of spans from the browser's performance API. Ingest derives their
// category from it, in the data only, where SDKs repeat the field (relay-event-normalization,
// category_for_span).
const browserMetrics = "auto.ui.browser.metrics"

// maxOp is the maximum length of operations and origins in Sentry's schema.
const maxOp = 128

// clip returns at most limit bytes of text.
func clip(text string, limit int) string {
	for i := range text {
		if i >= limit { // bytes are at least as many as characters
			return text[:i]
		}
	}
	return text
}

// originText replaces characters that are not allowed in an origin with "_".
func originText(text string) string {
	return clip(strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, text), maxOp)
}

// childSpan returns a child span of a transaction. It always has a thread, by which Sentry finds
// the samples, but a profiler ID only if that differs from the transaction's.
func (e *traceExporter) childSpan(s *tracedSpan, t *event.Transaction) event.Span {
	out := e.legacySpan(s)
	out.Description = descriptionOf(s.Span, &out, e.resource.FromSentry)
	if !e.resource.FromSentry { // otherwise, ingest derives a name from the operation
		out.Data = append(out.Data, event.NamedValue{Name: semconv.SentryName, Value: e.scratch.Text(s.Name())})
		if s.id.Platform != t.Platform { // spans may have any
			out.Platform = attr.FirstText(out.Platform, s.id.Platform)
		}
	}
	p := e.profilingOf(s)
	if p.Profiler != "" && p.Profiler != t.ProfilerID {
		out.Data = append(out.Data, event.NamedValue{Name: semconv.ProfilerID, Value: e.scratch.Text(p.Profiler)})
	}
	putThread(&out, p, &e.scratch)
	return out
}

// putThread adds the thread as text, as Sentry's specification requires.
func putThread(s *event.Span, p attr.Profiling, scratch *attr.Scratch) {
	if p.Thread != "" {
		s.Data = append(s.Data, event.NamedValue{Name: semconv.ThreadID, Value: scratch.Text(p.Thread)})
	}
	if p.Name != "" {
		s.Data = append(s.Data, event.NamedValue{Name: semconv.ThreadName, Value: scratch.Text(p.Name)})
	}
}

// profilingOf returns the reference from a span to the chunks of ProfilesToChunks: both derive the
// same profiler ID.
func (e *traceExporter) profilingOf(s *tracedSpan) (p attr.Profiling) {
	attrs := s.Attributes()
	p = attr.Profiling{
		Profiler: sentryID(attr.TextOf(attrs, semconv.SentryProfilerID)), Profile: sentryID(attr.TextOf(attrs, semconv.ProfileID)),
		Thread: attr.Clip(attr.TextOf(attrs, semconv.ThreadID), attr.MaxIDBytes), Name: attr.Clip(attr.TextOf(attrs, semconv.ThreadName), attr.MaxNameBytes),
	}
	switch {
	case p.Profiler != "":
	case e.resource.FromSentry:
		p.Profiler = p.Profile // a V1 profile is sent as a separate profiler session: see readOrigin
	case e.options.Profiled:
		p.Profiler = e.session()
		p.Thread = attr.Clip(threadOr(p.Thread, p.Name), attr.MaxIDBytes)
	}
	return p
}

func timesOf(s ptrace.Span) (start, end jsonscan.Timestamp) {
	begin, stop := uint64(s.StartTimestamp()), uint64(s.EndTimestamp())
	if begin == 0 {
		begin = stop
	}
	return jsonscan.Timestamp{UnixNano: begin, Set: true}, jsonscan.Timestamp{UnixNano: max(begin, stop), Set: true}
}

// descriptionOf returns the name, or "" if fromsentry derived the name for a span without a
// description.
func descriptionOf(s ptrace.Span, out *event.Span, fromSentry bool) string {
	switch name := s.Name(); {
	case !fromSentry:
		return foreignDescription(s)
	case name == out.Op, name == attr.Unnamed:
		return ""
	default:
		return name
	}
}

// AddTagKeys adds the keys of the attributes that were tags to a set.
func AddTagKeys(keys map[string]bool, attrs pcommon.Map) {
	if list, ok := attrs.Get(semconv.SentryTags); ok && list.Type() == pcommon.ValueTypeSlice {
		for _, key := range list.Slice().All() {
			keys[key.AsString()] = true
		}
	}
}

// linksOf is the inverse of fromsentry.putLinks. Links without IDs are skipped.
func linksOf(links ptrace.SpanLinkSlice, attribute func(string, pcommon.Value) event.Attribute) (all []event.SpanLink) {
	for _, link := range links.All() {
		if link.TraceID().IsEmpty() || link.SpanID().IsEmpty() {
			continue
		}
		out := event.SpanLink{
			TraceID: attr.TraceText(link.TraceID()), SpanID: attr.SpanText(link.SpanID()), Sampled: jsonscan.Some(link.Flags()&attr.SampledFlag != 0),
		}
		for key, value := range link.Attributes().All() {
			out.Attributes = append(out.Attributes, attribute(key, value))
		}
		all = append(all, out)
	}
	return all
}

// StatusName is the inverse of fromsentry.setStatus. For spans from other sources, the response is
// more precise than the status code: in OpenTelemetry, a 404 on a server span is not an error. For
// a client, it is one, so without an error status, the client expected the response; ingest stores
// any status except ok as an error.
func StatusName(s ptrace.Span, fromSentry bool) string {
	message := strings.ToLower(s.Status().Message())
	switch {
	case s.Status().Code() == ptrace.StatusCodeOk:
		return "ok"
	case s.Status().Code() == ptrace.StatusCodeError && slices.Contains(attr.StatusNames[:], message):
		return message
	case fromSentry && s.Status().Code() == ptrace.StatusCodeUnset:
		return ""
	case s.Kind() == ptrace.SpanKindClient && s.Status().Code() == ptrace.StatusCodeUnset:
		return "ok"
	}
	if name := attr.ResponseStatus(s.Attributes()); name != "" {
		return name
	}
	if s.Status().Code() == ptrace.StatusCodeError {
		return "internal_error"
	}
	return "ok"
}

// The functions below derive the fields that Sentry's SDKs set, for spans from other sources, from
// old and new OpenTelemetry conventions.

// fillForeign adds operation, origin, kind and status message.
func fillForeign(out *event.Span, s ptrace.Span) {
	out.Op = attr.FirstText(out.Op, ForeignOp(s))
	out.Origin = attr.FirstText(out.Origin, "auto.otel")
	if kind := attr.SpanKindName(s.Kind()); out.Kind == "" && kind != "" {
		out.Data = append(out.Data, event.NamedValue{Name: semconv.SentryKind, Value: attr.JsonString(kind)})
	}
	if message := s.Status().Message(); message != "" && !strings.EqualFold(message, out.Status) {
		out.Data = append(out.Data, event.NamedValue{Name: semconv.SentryStatusMessage, Value: attr.JsonString(message)})
	}
}

// ForeignOp returns the operation: https://develop.sentry.dev/sdk/telemetry/traces/span-operations/
func ForeignOp(s ptrace.Span) string {
	attrs := s.Attributes()
	has := func(keys ...string) bool {
		return slices.ContainsFunc(keys, func(key string) bool { return has(attrs, key) })
	}
	switch {
	case has(semconv.HTTPRequestMethod, semconv.HTTPMethod):
		return byKind(s.Kind(), "http")
	case has(semconv.DBSystemName, semconv.DBSystem):
		return "db"
	case has(semconv.GenAISystem, semconv.GenAIProviderName):
		return strings.TrimSuffix("gen_ai."+attr.TextOf(attrs, semconv.GenAIOperationName), ".")
	case has(semconv.RPCSystem, semconv.RPCSystemName, semconv.RPCService):
		return byKind(s.Kind(), "rpc")
	case has(semconv.MessagingSystemName, semconv.MessagingSystem):
		switch s.Kind() {
		case ptrace.SpanKindProducer:
			return "queue.publish"
		case ptrace.SpanKindConsumer:
			return "queue.process"
		}
		return "queue"
	case has(semconv.FaaSTrigger):
		return "function"
	case has(semconv.GraphQLOperationType, semconv.GraphQLOperationName):
		return "graphql"
	}
	return "default"
}

func byKind(kind ptrace.SpanKind, op string) string {
	switch kind {
	case ptrace.SpanKindServer:
		return op + ".server"
	case ptrace.SpanKindClient:
		return op + ".client"
	}
	return op
}

// foreignDescription returns the statement or the request, else the name. OpenTelemetry span names
// have low cardinality and are often only a method.
func foreignDescription(s ptrace.Span) string {
	attrs := s.Attributes()
	if statement := attr.FirstText(attr.TextOf(attrs, semconv.DBQueryText), attr.TextOf(attrs, semconv.DBStatement)); statement != "" {
		return statement
	}
	method := attr.FirstText(attr.TextOf(attrs, semconv.HTTPRequestMethod), attr.TextOf(attrs, semconv.HTTPMethod))
	url := attr.FirstText(attr.TextOf(attrs, semconv.URLFull), attr.TextOf(attrs, semconv.HTTPURL))
	if s.Kind() == ptrace.SpanKindClient && method != "" && url != "" {
		return method + " " + url
	}
	return s.Name()
}

// foreignSource returns what kind of name the transaction has.
func foreignSource(s ptrace.Span) string {
	attrs := s.Attributes()
	if _, ok := attrs.Get(semconv.HTTPRoute); ok {
		return "route"
	}
	if s.Kind() == ptrace.SpanKindConsumer {
		return "task"
	}
	path := attr.FirstText(attr.TextOf(attrs, semconv.URLPath), attr.TextOf(attrs, semconv.HTTPTarget))
	if path != "" && strings.Contains(s.Name(), path) {
		return "url"
	}
	return "custom"
}

// hasField reports whether a resource attribute has a field in Sentry's format, as sent by Sentry
// SDKs that use OpenTelemetry.
func hasField(key string, fromSentry bool) bool {
	switch key {
	case semconv.TelemetrySDKName, semconv.TelemetrySDKVersion,
		semconv.SentryProjectID, semconv.SentryPlatform, semconv.SentryRelease, semconv.SentryDist,
		semconv.HostArch, semconv.OSType:
		return true
	case semconv.ServiceName, semconv.ServiceVersion, semconv.DeploymentEnvironmentName, semconv.TelemetrySDKLanguage:
		return fromSentry
	}
	return attr.MachineFields.Has(key)
}
