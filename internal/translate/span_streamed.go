package translate

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// fillStreamedSpan translates one element of a span container. Its attributes are attributes; only those that OpenTelemetry
// has a field for are looked at.
func fillStreamedSpan(span ptrace.Span, s *sentry.StreamedSpan, id identity, src Source) {
	said := streamedFields(s)
	setPlace(span, s.TraceID, s.SpanID, s.ParentSpanID, s.Start, s.End, src)
	span.SetName(firstText(s.Name, said.op, unnamed))
	span.SetKind(spanKind(firstText(s.Kind, said.kind, said.otelKind), said.op))
	setStatus(span.Status(), s.Status, said.message)

	attrs := span.Attributes()
	attrs.EnsureCapacity(len(s.Attributes) + 2)
	for i := range s.Attributes {
		putStreamed(attrs, &s.Attributes[i], span.Kind(), id, src)
	}
	putText(attrs, keyKind, s.Kind)
	putFlag(attrs, keyIsSegment, s.IsSegment)
	putFlag(attrs, keyIsRemote, s.IsRemote)
	said.put(attrs)
	putLinks(span.Links(), s.Links, src)
}

// streamed are the attributes that become fields of the span, or take part in finding its profile.
type streamed struct {
	op, kind, otelKind, message string
	profiling
}

func streamedFields(s *sentry.StreamedSpan) (said streamed) {
	for i := range s.Attributes {
		a := &s.Attributes[i]
		switch a.Key {
		case keyOp:
			said.op = jsonText(a.Value)
		case keyKind:
			said.kind = jsonText(a.Value)
		case "otel.kind":
			said.otelKind = jsonText(a.Value)
		case keyStatusMessage:
			said.message = jsonText(a.Value)
		default:
			said.set(a.Key, a.Value)
		}
	}
	return said
}

// putStreamed sets an attribute, unless resource or profiling say it, or it is personal. A unit, which OpenTelemetry's
// attributes have no place for, is put beside the value under the key with ".unit".
func putStreamed(attrs pcommon.Map, a *sentry.Attribute, kind ptrace.SpanKind, id identity, src Source) {
	if profilingKeys[a.Key] || id.states(a) || !src.IncludePII && isPersonalOnSpan(a.Key, kind) {
		return
	}
	setAttribute(attrs.PutEmpty(a.Key), a.Key, a)
	if a.Unit != "" {
		attrs.PutStr(a.Key+unitSuffix, a.Unit)
	}
}
