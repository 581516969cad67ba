// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TransactionToTraces translates a transaction: its root span, with all that the transaction says as an event, and the
// others in the order they were sent.
func TransactionToTraces(t *event.Transaction, src Source) ptrace.Traces {
	out, spans := newTraces(transactionIdentity(t, src), src)
	spans.EnsureCapacity(1 + len(t.Spans))
	stated := TransactionProfiling(t, src)

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
			putDefault(span.Attributes(), semconv.SentrySegmentID, t.Root.SpanID)
		}
	}
	removePersonalFromSpans(spans, src)
	return out
}

// SpanToTraces translates a standalone span that came without a container.
func SpanToTraces(s *event.Span, src Source) ptrace.Traces {
	out, spans := newTraces(standaloneIdentity(s, src), src)
	fillSpan(spans.AppendEmpty(), s, attr.Profiling{}, src)
	removePersonalFromSpans(spans, src)
	return out
}

// SpansToTraces translates a container of streamed spans, in order. What a span does not say itself is not made up: the
// segment of a child may be in another request.
func SpansToTraces(c *event.SpanContainer, src Source) ptrace.Traces {
	id := ContainerIdentity(c, src)
	out, spans := newTraces(id, src)
	spans.EnsureCapacity(len(c.Spans))
	for i := range c.Spans {
		fillStreamedSpan(spans.AppendEmpty(), &c.Spans[i], id, src)
	}
	removePersonalFromSpans(spans, src)
	return out
}

// newTraces makes a message with one resource and one scope in it. The scope is the SDK.
func newTraces(id attr.Identity, src Source) (ptrace.Traces, ptrace.SpanSlice) {
	out := ptrace.NewTraces()
	resource := out.ResourceSpans().AppendEmpty()
	fillResource(resource.Resource().Attributes(), id, src)
	scope := resource.ScopeSpans().AppendEmpty()
	scope.Scope().SetName(strings.Clone(id.Sdk.Name))
	scope.Scope().SetVersion(strings.Clone(id.Sdk.Version))
	return out, scope.Spans()
}

// setPlace sets ids and times, which decoding has checked.
func setPlace(span ptrace.Span, traceID, spanID, parentID string, start, end jsonscan.Timestamp, src Source) {
	span.SetTraceID(traceIDOf(traceID))
	span.SetSpanID(attr.SpanIDOf(spanID))
	span.SetParentSpanID(attr.SpanIDOf(parentID))
	span.SetFlags(attr.SampledFlag)
	span.SetStartTimestamp(pcommon.Timestamp(src.unixNano(start)))
	span.SetEndTimestamp(pcommon.Timestamp(src.unixNano(end)))
	putDrift(span.Attributes(), src)
}

// fillSpan translates a span of a transaction, root or child, or a standalone one. What stands at the top level of the span
// wins over the same thing in its data.
func fillSpan(span ptrace.Span, s *event.Span, stated attr.Profiling, src Source) {
	setPlace(span, s.TraceID, s.SpanID, s.ParentSpanID, s.Start, s.End, src)
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
	attr.PutText(attrs, semconv.SentryOp, op)
	attr.PutText(attrs, semconv.SentryOrigin, s.Origin)
	attr.PutText(attrs, semconv.SentryKind, s.Kind)
	attr.PutText(attrs, semconv.SentryPlatform, s.Platform)
	attr.PutText(attrs, semconv.SentrySegmentID, s.SegmentID)
	putFlag(attrs, semconv.SentryIsSegment, s.IsSegment)
	putFlag(attrs, semconv.SentryIsRemote, s.IsRemote)
	if s.ExclusiveTime.Set {
		attrs.PutDouble(semconv.SentryExclusiveTime, s.ExclusiveTime.Value)
	}
	putMeasures(attrs, s.Measurements)
	SpanProfiling(s).Or(stated).Put(attrs)
	putSpanTags(attrs, s.Tags, src)
	putLinks(span.Links(), s.Links, src)
}

// fillRoot adds what the transaction says of its root span, and of itself as an event.
func fillRoot(span ptrace.Span, t *event.Transaction, src Source) {
	attrs := span.Attributes()
	if t.Transaction != "" && t.Root.Description != t.Transaction {
		attr.PutText(attrs, semconv.SentryDescription, t.Root.Description)
	}
	span.SetName(attr.FirstText(t.Transaction, span.Name()))
	attrs.PutBool(semconv.SentryIsSegment, true)
	attr.PutText(attrs, semconv.SentrySegmentID, t.Root.SpanID)
	attr.PutText(attrs, semconv.SentrySegmentNameSource, t.Source)
	attr.PutText(attrs, semconv.SentryTransactionID, attr.FirstText(t.EventID, src.EventID)) // php has it in the envelope header only
	putMeasures(attrs, t.Measurements)

	putServerName(attrs, span.Kind(), t.ServerName)
	attr.PutText(attrs, semconv.SentryLogger, t.Logger)
	putTexts(attrs, semconv.SentryFingerprint, t.Fingerprint)
	putUser(attrs, t.User, src)
	putRequestDefaults(attrs, t.Request, src)
	putBreadcrumbs(attrs, t.Breadcrumbs, src)
	attr.PutRaw(attrs, semconv.SentryModules, t.Modules)
	attr.PutRaw(attrs, semconv.SentryExtra, t.Extra)
}

// putSpanTags sets tags as attributes, and says which ones they are: Sentry searches for tags and not for data.
func putSpanTags(attrs pcommon.Map, tags []event.Tag, src Source) {
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
	list, ok := attrs.Get(semconv.SentryTags)
	if !ok {
		list = attrs.PutEmpty(semconv.SentryTags)
		list.SetEmptySlice()
	}
	for _, key := range keys {
		list.Slice().AppendEmpty().SetStr(key)
	}
}

// putServerName sets where the code ran. server.address says that on the serving side; on a client's span, or where the
// span's own data say it, it is what the other side calls the machine.
func putServerName(attrs pcommon.Map, kind ptrace.SpanKind, name string) {
	_, taken := attrs.Get(semconv.ServerAddress)
	if taken || kind == ptrace.SpanKindClient || kind == ptrace.SpanKindProducer {
		attr.PutText(attrs, semconv.SentryServerName, name)
		return
	}
	attr.PutText(attrs, semconv.ServerAddress, name)
}

// putRequestDefaults sets what the request says, unless the span's own data say it.
func putRequestDefaults(attrs pcommon.Map, request *event.HTTPRequest, src Source) {
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
		attr.PutText(attrs, key, text)
	}
}

// putMeasures sets one attribute for all measurements, name → {unit, value}, as profiles have it.
func putMeasures(attrs pcommon.Map, measures []event.NamedMeasure) {
	if len(measures) == 0 {
		return
	}
	all := attrs.PutEmptyMap(semconv.SentryMeasurements)
	for _, m := range measures {
		entry := all.PutEmptyMap(m.Name)
		attr.PutText(entry, attr.KeyUnit, m.Unit)
		entry.PutDouble(attr.KeyValue, m.Value)
	}
}

func putLinks(links ptrace.SpanLinkSlice, sent []event.SpanLink, src Source) {
	for i := range sent {
		link := links.AppendEmpty()
		link.SetTraceID(traceIDOf(sent[i].TraceID))
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

func traceIDOf(text string) (id pcommon.TraceID) {
	attr.DecodeHex(id[:], text)
	return id
}

// DataText is the text of a member of a span's data, "" where there is none.
func DataText(data []event.NamedValue, name string) string {
	for _, member := range data {
		if member.Name == name {
			return attr.JsonText(member.Value)
		}
	}
	return ""
}
