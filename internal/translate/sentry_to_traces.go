package translate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// TransactionToTraces translates a transaction: its root span, with all that the transaction says as an event, and the
// others in the order they were sent.
func TransactionToTraces(t *sentry.Transaction, src Source) ptrace.Traces {
	out, spans := newTraces(transactionIdentity(t, src), src)
	spans.EnsureCapacity(1 + len(t.Spans))
	stated := transactionProfiling(t, src)

	if t.Root != nil {
		span := spans.AppendEmpty()
		fillSpan(span, t.Root, stated, src)
		fillRoot(span, t, src)
		putContexts(span.Attributes(), out.ResourceSpans().At(0).Resource().Attributes(), t.Contexts, src)
		putSpanTags(span.Attributes(), t.Tags, src)
	}
	for i := range t.Spans {
		span := spans.AppendEmpty()
		fillSpan(span, &t.Spans[i], stated, src)
		if t.Root != nil {
			putDefault(span.Attributes(), keySegmentID, t.Root.SpanID)
		}
	}
	removePersonalFromSpans(spans, src)
	return out
}

// SpanToTraces translates a standalone span that came without a container.
func SpanToTraces(s *sentry.Span, src Source) ptrace.Traces {
	out, spans := newTraces(standaloneIdentity(s, src), src)
	fillSpan(spans.AppendEmpty(), s, profiling{}, src)
	removePersonalFromSpans(spans, src)
	return out
}

// SpansToTraces translates a container of streamed spans, in order. What a span does not say itself is not made up: the
// segment of a child may be in another request.
func SpansToTraces(c *sentry.SpanContainer, src Source) ptrace.Traces {
	id := containerIdentity(c, src)
	out, spans := newTraces(id, src)
	spans.EnsureCapacity(len(c.Spans))
	for i := range c.Spans {
		fillStreamedSpan(spans.AppendEmpty(), &c.Spans[i], id, src)
	}
	removePersonalFromSpans(spans, src)
	return out
}

// newTraces makes a message with one resource and one scope in it. The scope is the SDK.
func newTraces(id identity, src Source) (ptrace.Traces, ptrace.SpanSlice) {
	out := ptrace.NewTraces()
	resource := out.ResourceSpans().AppendEmpty()
	id.fill(resource.Resource().Attributes(), src)
	scope := resource.ScopeSpans().AppendEmpty()
	scope.Scope().SetName(strings.Clone(id.sdk.Name))
	scope.Scope().SetVersion(strings.Clone(id.sdk.Version))
	return out, scope.Spans()
}

// sampledFlag is the only W3C trace flag: spans that were not sampled are not sent.
const sampledFlag = 1

// setPlace sets ids and times, which decoding has checked.
func setPlace(span ptrace.Span, traceID, spanID, parentID string, start, end sentry.Timestamp, src Source) {
	span.SetTraceID(traceIDOf(traceID))
	span.SetSpanID(spanIDOf(spanID))
	span.SetParentSpanID(spanIDOf(parentID))
	span.SetFlags(sampledFlag)
	span.SetStartTimestamp(pcommon.Timestamp(src.unixNano(start)))
	span.SetEndTimestamp(pcommon.Timestamp(src.unixNano(end)))
	putDrift(span.Attributes(), src)
}

// fillSpan translates a span of a transaction, root or child, or a standalone one. What stands at the top level of the span
// wins over the same thing in its data.
func fillSpan(span ptrace.Span, s *sentry.Span, stated profiling, src Source) {
	setPlace(span, s.TraceID, s.SpanID, s.ParentSpanID, s.Start, s.End, src)
	op := firstText(s.Op, dataText(s.Data, keyOp))
	span.SetName(firstText(s.Description, op, unnamed))
	span.SetKind(spanKind(firstText(s.Kind, dataText(s.Data, keyKind), dataText(s.Data, "otel.kind")), op))
	setStatus(span.Status(), s.Status, "")

	attrs := span.Attributes()
	attrs.EnsureCapacity(len(s.Data) + len(s.Tags) + 6)
	for _, member := range s.Data {
		if profilingKeys[member.Name] || !src.IncludePII && isPersonalOnSpan(member.Name, span.Kind()) {
			continue
		}
		putRaw(attrs, member.Name, member.Value)
	}
	putText(attrs, keyOp, op)
	putText(attrs, keyOrigin, s.Origin)
	putText(attrs, keyKind, s.Kind)
	putText(attrs, keyPlatform, s.Platform)
	putText(attrs, keySegmentID, s.SegmentID)
	putFlag(attrs, keyIsSegment, s.IsSegment)
	putFlag(attrs, keyIsRemote, s.IsRemote)
	if s.ExclusiveTime.Set {
		attrs.PutDouble(keyExclusiveTime, s.ExclusiveTime.Value)
	}
	putMeasures(attrs, s.Measurements)
	spanProfiling(s).or(stated).put(attrs)
	putSpanTags(attrs, s.Tags, src)
	putLinks(span.Links(), s.Links, src)
}

// unnamed is Sentry's word for a transaction without a name.
const unnamed = "<unlabeled transaction>"

// fillRoot adds what the transaction says of its root span, and of itself as an event.
func fillRoot(span ptrace.Span, t *sentry.Transaction, src Source) {
	attrs := span.Attributes()
	if t.Transaction != "" && t.Root.Description != t.Transaction {
		putText(attrs, keyDescription, t.Root.Description)
	}
	span.SetName(firstText(t.Transaction, span.Name()))
	attrs.PutBool(keyIsSegment, true)
	putText(attrs, keySegmentID, t.Root.SpanID)
	putText(attrs, keySegmentSource, t.Source)
	putText(attrs, keyTransactionID, firstText(t.EventID, src.EventID)) // php has it in the envelope header only
	putMeasures(attrs, t.Measurements)

	putServerName(attrs, span.Kind(), t.ServerName)
	putText(attrs, keyLogger, t.Logger)
	putTexts(attrs, keyFingerprint, t.Fingerprint)
	putUser(attrs, t.User, src)
	putRequestDefaults(attrs, t.Request, src)
	putBreadcrumbs(attrs, t.Breadcrumbs, src)
	putRaw(attrs, keyModules, t.Modules)
	putRaw(attrs, keyExtra, t.Extra)
}

// putSpanTags sets tags as attributes, and says which ones they are: Sentry searches for tags and not for data.
func putSpanTags(attrs pcommon.Map, tags []sentry.Tag, src Source) {
	if len(tags) == 0 {
		return
	}
	before := attrs.Len()
	putTags(attrs, tags, src)
	var keys []string
	i := 0
	for key := range attrs.All() {
		if i++; i > before {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return
	}
	list, ok := attrs.Get(keyTagKeys)
	if !ok {
		list = attrs.PutEmpty(keyTagKeys)
		list.SetEmptySlice()
	}
	for _, key := range keys {
		list.Slice().AppendEmpty().SetStr(key)
	}
}

// putServerName sets where the code ran. server.address says that on the serving side; on a client's span, or where the
// span's own data say it, it is what the other side calls the machine.
func putServerName(attrs pcommon.Map, kind ptrace.SpanKind, name string) {
	_, taken := attrs.Get(keyServerAddress)
	if taken || kind == ptrace.SpanKindClient || kind == ptrace.SpanKindProducer {
		putText(attrs, keyServerName, name)
		return
	}
	putText(attrs, keyServerAddress, name)
}

// putRequestDefaults sets what the request says, unless the span's own data say it.
func putRequestDefaults(attrs pcommon.Map, request *sentry.HTTPRequest, src Source) {
	said := pcommon.NewMap()
	putRequest(said, request, src)
	for key, value := range said.All() {
		if _, taken := attrs.Get(key); !taken {
			value.MoveTo(attrs.PutEmpty(key))
		}
	}
}

// putDefault sets a text unless there is one.
func putDefault(attrs pcommon.Map, key, text string) {
	if _, taken := attrs.Get(key); !taken {
		putText(attrs, key, text)
	}
}

// putMeasures sets one attribute for all measurements, name → {unit, value}, as profiles have it.
func putMeasures(attrs pcommon.Map, measures []sentry.NamedMeasure) {
	if len(measures) == 0 {
		return
	}
	all := attrs.PutEmptyMap(keyMeasurements)
	for _, m := range measures {
		entry := all.PutEmptyMap(m.Name)
		putText(entry, keyUnit, m.Unit)
		entry.PutDouble(keyValue, m.Value)
	}
}

func putLinks(links ptrace.SpanLinkSlice, sent []sentry.SpanLink, src Source) {
	for i := range sent {
		link := links.AppendEmpty()
		link.SetTraceID(traceIDOf(sent[i].TraceID))
		link.SetSpanID(spanIDOf(sent[i].SpanID))
		if sent[i].Sampled.Value {
			link.SetFlags(sampledFlag)
		}
		for j := range sent[i].Attributes {
			a := &sent[i].Attributes[j]
			if src.IncludePII || !isPersonal(a.Key) {
				setAttribute(link.Attributes().PutEmpty(a.Key), a.Key, a)
			}
		}
	}
}

func traceIDOf(text string) (id pcommon.TraceID) {
	decodeHex(id[:], text)
	return id
}

func spanIDOf(text string) (id pcommon.SpanID) {
	decodeHex(id[:], text)
	return id
}

// dataText is the text of a member of a span's data, "" where there is none.
func dataText(data []sentry.NamedValue, name string) string {
	for _, member := range data {
		if member.Name == name {
			return jsonText(member.Value)
		}
	}
	return ""
}
