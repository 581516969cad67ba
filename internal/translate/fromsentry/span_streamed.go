// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

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
