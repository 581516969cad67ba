// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TransactionToTraces translates a transaction: its root span, with the event fields of the
// transaction, and its other spans in order.
func TransactionToTraces(t *event.Transaction, src Source) ptrace.Traces {
	out, spans := newTraces(eventIdentity(&t.ErrorEvent, src), src)
	spans.EnsureCapacity(1 + len(t.Spans))
	stated := TransactionProfiling(t, src)

	if t.Root != nil {
		span := spans.AppendEmpty()
		fillSpan(span, t.Root, stated, src)
		fillRoot(span, t, src)
		putContexts(span.Attributes(), out.ResourceSpans().At(0).Resource().Attributes(), t.Contexts, src)
		putListedTags(span.Attributes(), t.Tags, src)
	}
	for i := range t.Spans {
		span := spans.AppendEmpty()
		fillSpan(span, &t.Spans[i], stated, src)
		if t.Root != nil {
			putDefault(span.Attributes(), semconv.SentrySegmentID, t.Root.SpanID)
		}
	}
	removePersonalFromSpans(spans, src)
	return out
}

// impliedBySpans: SDKs send only the spans of sampled traces.
var impliedBySpans = attr.TraceHeader{Sampled: "true"}

// SpanToTraces translates a standalone span without a container.
func SpanToTraces(s *event.Span, src Source) ptrace.Traces {
	out, spans := newTraces(standaloneIdentity(s, src), src)
	span := spans.AppendEmpty()
	fillSpan(span, s, attr.Profiling{}, src)
	src.Trace.Put(span.Attributes(), impliedBySpans)
	// Ingest does so for each span of this format (relay-server/src/processing/spans/process.rs).
	inferenceOf(true, true).complete(span.Attributes(), span.Attributes(), src)
	removePersonalFromSpans(spans, src)
	return out
}

// SpansToTraces translates a container of streamed spans, in order. It does not derive missing
// fields from the segment, which may be in another request.
func SpansToTraces(c *event.SpanContainer, src Source) ptrace.Traces {
	id := ContainerIdentity(c, src)
	out, spans := newTraces(id, src)
	spans.EnsureCapacity(len(c.Spans))
	infer := inferenceOf(c.Infers())
	for i := range c.Spans {
		span := spans.AppendEmpty()
		fillStreamedSpan(span, &c.Spans[i], &id, src)
		infer.complete(span.Attributes(), span.Attributes(), src)
	}
	removePersonalFromSpans(spans, src)
	return out
}

func newTraces(id attr.Identity, src Source) (ptrace.Traces, ptrace.SpanSlice) {
	out := ptrace.NewTraces()
	resource := out.ResourceSpans().AppendEmpty()
	scope := resource.ScopeSpans().AppendEmpty()
	describe(resource, scope, id, src)
	return out, scope.Spans()
}

// setIdentity sets validated IDs and times.
func setIdentity(span ptrace.Span, traceID, spanID, parentID string, start, end jsonscan.Timestamp, src Source) {
	span.SetTraceID(attr.TraceIDOf(traceID))
	span.SetSpanID(attr.SpanIDOf(spanID))
	span.SetParentSpanID(attr.SpanIDOf(parentID))
	span.SetFlags(attr.SampledFlag)
	span.SetStartTimestamp(pcommon.Timestamp(src.unixNano(start)))
	span.SetEndTimestamp(pcommon.Timestamp(src.unixNano(end)))
	putDrift(span.Attributes(), src)
}

// fillSpan translates a root or child span of a transaction, or a standalone span. Top-level fields
// override the data of the span.
func fillSpan(span ptrace.Span, s *event.Span, stated attr.Profiling, src Source) {
	setIdentity(span, s.TraceID, s.SpanID, s.ParentSpanID, s.Start, s.End, src)
	op := attr.FirstText(s.Op, DataText(s.Data, semconv.SentryOp))
	span.SetName(attr.FirstText(s.Description, op, attr.Unnamed))
	span.SetKind(spanKind(attr.FirstText(s.Kind, DataText(s.Data, semconv.SentryKind), DataText(s.Data, semconv.OTelKind)), op))
	setStatus(span.Status(), s.Status, "")

	attrs := span.Attributes()
	attrs.EnsureCapacity(len(s.Data) + len(s.Tags) + 6)
	for _, member := range s.Data {
		if attr.ProfilingKeys[member.Name] || !src.IncludePII && isPersonalOnSpan(member.Name, span.Kind()) {
			continue
		}
		attr.PutRaw(attrs, member.Name, member.Value)
	}
	attr.Put(attrs, attr.SpanFields, event.Spans, s, src.IncludePII)
	putRest(attrs, s.Rest, src)
	putMeasures(attrs, s.Measurements)
	SpanProfiling(s).Or(stated).Put(attrs)
	putListedTags(attrs, s.Tags, src)
	putLinks(span.Links(), s.Links, src)
}

// fillRoot adds the fields of the transaction to its root span.
func fillRoot(span ptrace.Span, t *event.Transaction, src Source) {
	attrs := span.Attributes()
	if t.Transaction != "" && t.Root.Description != t.Transaction {
		attr.PutText(attrs, semconv.SentryDescription, t.Root.Description)
	}
	span.SetName(attr.FirstText(t.Transaction, span.Name()))
	attrs.PutBool(semconv.SentryIsSegment, true)
	attr.PutText(attrs, semconv.SentrySegmentID, t.Root.SpanID)
	attr.PutText(attrs, semconv.SentryTransactionID, attr.FirstText(t.EventID, src.EventID)) // PHP states it only in the envelope header
	src.Trace.Put(attrs, attr.TraceHeader{Sampled: impliedBySpans.Sampled, Transaction: t.Transaction})
	putMeasures(attrs, t.Measurements)

	putServerName(attrs, span.Kind(), t.ServerName)
	attr.PutText(attrs, semconv.SentryLevel, t.Level)
	putEvent(attrs, &t.ErrorEvent, src)
	putRequestDefaults(attrs, t.Request, src)
	putBreadcrumbs(attrs, t.Breadcrumbs, src)
}

// putListedTags sets each tag under its own key, as Relay does, unless the attribute exists. It
// lists the keys, because Sentry indexes tags, but not data.
func putListedTags(attrs pcommon.Map, tags []event.Tag, src Source) {
	var keys []string
	for _, tag := range tags {
		if _, taken := attrs.Get(tag.Key); !taken && (src.IncludePII || !attr.IsPersonal(tag.Key)) {
			attrs.PutStr(tag.Key, tag.Value)
			keys = append(keys, tag.Key)
		}
	}
	if len(keys) == 0 {
		return
	}
	list, ok := attrs.Get(semconv.SentryTags)
	if !ok {
		list = attrs.PutEmpty(semconv.SentryTags)
		list.SetEmptySlice()
	}
	for _, key := range keys {
		list.Slice().AppendEmpty().SetStr(key)
	}
}

// putServerName sets the name of the host. On the serving side, the key is server.address. On
// client spans, and on spans whose data contains server.address, that key is the name of the peer.
func putServerName(attrs pcommon.Map, kind ptrace.SpanKind, name string) {
	_, taken := attrs.Get(semconv.ServerAddress)
	if taken || kind == ptrace.SpanKindClient || kind == ptrace.SpanKindProducer {
		attr.PutText(attrs, semconv.SentryServerName, name)
		return
	}
	attr.PutText(attrs, semconv.ServerAddress, name)
}

// putRequestDefaults sets request attributes that are missing from the data of the span.
func putRequestDefaults(attrs pcommon.Map, request *event.HTTPRequest, src Source) {
	defaults := pcommon.NewMap()
	putRequest(defaults, request, src)
	for key, value := range defaults.All() {
		if _, taken := attrs.Get(key); !taken {
			value.MoveTo(attrs.PutEmpty(key))
		}
	}
}

func putDefault(attrs pcommon.Map, key, text string) {
	if _, taken := attrs.Get(key); !taken {
		attr.PutText(attrs, key, text)
	}
}

func putLinks(links ptrace.SpanLinkSlice, sent []event.SpanLink, src Source) {
	for i := range sent {
		link := links.AppendEmpty()
		link.SetTraceID(attr.TraceIDOf(sent[i].TraceID))
		link.SetSpanID(attr.SpanIDOf(sent[i].SpanID))
		if sent[i].Sampled.Value {
			link.SetFlags(attr.SampledFlag)
		}
		for j := range sent[i].Attributes {
			a := &sent[i].Attributes[j]
			if src.IncludePII || !attr.IsPersonal(a.Key) {
				setAttribute(link.Attributes().PutEmpty(a.Key), a.Key, a)
			}
		}
	}
}

// DataText returns the text of a member of a span's data, or "".
func DataText(data []event.NamedValue, name string) string {
	return attr.JsonText(event.Member(data, name))
}

// fillStreamedSpan translates one element of a span container. It interprets only attributes that
// correspond to an OTLP field.
func fillStreamedSpan(span ptrace.Span, s *event.StreamedSpan, id *attr.Identity, src Source) {
	fields := streamedFields(s)
	setIdentity(span, s.TraceID, s.SpanID, s.ParentSpanID, s.Start, s.End, src)
	span.SetName(attr.FirstText(s.Name, fields.op, attr.Unnamed))
	span.SetKind(spanKind(attr.FirstText(s.Kind, fields.kind, fields.otelKind), fields.op))
	setStatus(span.Status(), s.Status, fields.message)

	attrs := span.Attributes()
	attrs.EnsureCapacity(len(s.Attributes) + 4)
	for i := range s.Attributes {
		putStreamed(attrs, &s.Attributes[i], span.Kind(), id, src)
	}
	src.Trace.Put(attrs, impliedBySpans)
	attr.Put(attrs, attr.StreamedSpanFields, event.StreamedSpans, s, src.IncludePII)
	fields.Put(attrs)
	putLinks(span.Links(), s.Links, src)
}

// streamed are the attributes that become fields of the span or refer to its profile.
type streamed struct {
	op, kind, otelKind, message string
	attr.Profiling
}

func streamedFields(s *event.StreamedSpan) (fields streamed) {
	for i := range s.Attributes {
		a := &s.Attributes[i]
		switch a.Key {
		case semconv.SentryOp:
			fields.op = attr.JsonText(a.Value)
		case semconv.SentryKind:
			fields.kind = attr.JsonText(a.Value)
		case semconv.OTelKind:
			fields.otelKind = attr.JsonText(a.Value)
		case semconv.SentryStatusMessage:
			fields.message = attr.JsonText(a.Value)
		default:
			fields.Set(a.Key, a.Value)
		}
	}
	return fields
}

// putStreamed sets an attribute, unless the resource or the profiling IDs contain it, or it is
// personal. OpenTelemetry attributes have no unit, so the unit becomes a separate attribute with
// the suffix ".unit".
func putStreamed(attrs pcommon.Map, a *event.Attribute, kind ptrace.SpanKind, id *attr.Identity, src Source) {
	if attr.ProfilingKeys[a.Key] || states(id, a) || !src.IncludePII && isPersonalOnSpan(a.Key, kind) {
		return
	}
	setAttribute(attrs.PutEmpty(a.Key), a.Key, a)
	if a.Unit != "" {
		attrs.PutStr(a.Key+semconv.UnitSuffix, a.Unit)
	}
}

// SpanProfiling returns the profiling IDs of a span. Python and Java state them in its data, Cocoa
// in fields of the span.
func SpanProfiling(s *event.Span) (p attr.Profiling) {
	for _, member := range s.Data {
		p.Set(member.Name, member.Value)
	}
	p.Profiler = attr.FirstText(s.ProfilerID, p.Profiler)
	p.Profile = attr.FirstText(s.ProfileID, p.Profile)
	return p
}

// TransactionProfiling returns the profiling IDs for all spans of a transaction, from the data of
// contexts.trace or from contexts.profile. The ID of the V1 profile in the same envelope comes from
// src, because transactions rarely state it.
func TransactionProfiling(t *event.Transaction, src Source) (p attr.Profiling) {
	if t.Root != nil {
		p = SpanProfiling(t.Root)
		p.Thread, p.Name = attr.Clip(p.Thread, attr.MaxIDBytes), attr.Clip(p.Name, attr.MaxNameBytes)
	}
	return p.Or(attr.Profiling{Profiler: t.ProfilerID, Profile: attr.FirstText(t.ProfileID, src.ProfileID)})
}

// removePersonalFromSpans removes personal data from spans and links, unless src.IncludePII is set.
func removePersonalFromSpans(spans ptrace.SpanSlice, src Source) {
	if src.IncludePII {
		return
	}
	for _, span := range spans.All() {
		attr.RemovePersonal(span.Attributes())
		for _, link := range span.Links().All() {
			attr.RemovePersonal(link.Attributes())
		}
	}
}

// statusAliases maps old names to current names, as ingest does (relay-base-schema/src/spans.rs).
var statusAliases = map[string]string{"success": "ok", "failure": "internal_error", "unknown_error": "internal_error"}

// statusName returns the name of a status that is the number of a gRPC code, or the text itself.
func statusName(sent string) string {
	if sent != "" && sent[0] <= '9' { // a failing Atoi would be slower than the rest of setStatus
		if code, err := strconv.Atoi(sent); err == nil && code >= 0 && code < len(attr.StatusNames) {
			return attr.StatusNames[code]
		}
	}
	return sent
}

// setStatus sets the status: ok becomes Ok, and a missing status Unset. All others become Error,
// with the span's own message or Sentry's name of the status. Streamed spans have only "error",
// without a message.
func setStatus(status ptrace.Status, sent, message string) {
	name := statusName(strings.ToLower(sent))
	if alias, old := statusAliases[name]; old {
		name = alias
	}
	switch name {
	case "", "unset":
		return
	case "ok":
		status.SetCode(ptrace.StatusCodeOk)
		return
	case "error":
		name = ""
	}
	status.SetCode(ptrace.StatusCodeError)
	status.SetMessage(attr.FirstText(message, name))
}

// opKinds maps prefixes of operations to span kinds. Longer prefixes come first.
// https://develop.sentry.dev/sdk/telemetry/traces/span-operations/
var opKinds = []struct {
	op   string
	kind ptrace.SpanKind
}{
	{"http.server", ptrace.SpanKindServer},
	{"http.client", ptrace.SpanKindClient},
	{"rpc.server", ptrace.SpanKindServer},
	{"rpc.client", ptrace.SpanKindClient},
	{"grpc.server", ptrace.SpanKindServer},
	{"grpc.client", ptrace.SpanKindClient},
	{"websocket.server", ptrace.SpanKindServer},
	{"graphql.server", ptrace.SpanKindServer},
	{"db", ptrace.SpanKindClient},
	{"queue.publish", ptrace.SpanKindProducer},
	{"queue.create", ptrace.SpanKindProducer},
	{"queue.submit", ptrace.SpanKindProducer}, // Python: queue.submit.celery
	{"queue.process", ptrace.SpanKindConsumer},
	{"queue.receive", ptrace.SpanKindConsumer},
	{"queue.task", ptrace.SpanKindConsumer}, // Python: queue.task.celery
	{"function.aws", ptrace.SpanKindServer},
	{"function.gcp", ptrace.SpanKindServer},
}

// spanKind returns the stated kind of a span, else the kind of its operation. Most operations are
// internal. Without an operation, the kind is unspecified.
func spanKind(stated, op string) ptrace.SpanKind {
	if kind, known := attr.SpanKinds[strings.ToLower(stated)]; known {
		return kind
	}
	if op == "" {
		return ptrace.SpanKindUnspecified
	}
	for _, known := range opKinds {
		if rest, found := strings.CutPrefix(op, known.op); found && (rest == "" || rest[0] == '.') {
			return known.kind
		}
	}
	return ptrace.SpanKindInternal
}

// isPersonalOnSpan extends attr.IsPersonal. Peer addresses on server spans are those of clients; on
// other spans, they belong to the application's infrastructure.
func isPersonalOnSpan(key string, kind ptrace.SpanKind) bool {
	if kind == ptrace.SpanKindServer {
		switch key {
		case semconv.NetPeerIP, semconv.NetSockPeerAddr, semconv.NetworkPeerAddress:
			return true
		}
	}
	return attr.IsPersonal(key)
}
