package translate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// legacySpan is the inverse of fillSpan: a span as transactions have it, root or child.
func (e *traceExporter) legacySpan(s *tracedSpan) sentry.Span {
	fromSentry := e.resource.fromSentry
	out := sentry.Span{
		TraceID: traceText(s.TraceID()), SpanID: spanText(s.SpanID()), ParentSpanID: spanText(s.ParentSpanID()),
		Status: statusName(s.Span, fromSentry),
		Links: linksOf(s.Links(), func(key string, value pcommon.Value) sentry.Attribute {
			return sentry.Attribute{Key: key, Value: jsonOf(value)}
		}),
	}
	out.Start, out.End = timesOf(s.Span)
	tags := tagKeys(s.Attributes())
	for key, value := range s.Attributes().All() {
		switch key {
		case keyOp:
			out.Op = value.AsString()
		case keyOrigin:
			out.Origin = value.AsString()
		case keyKind:
			out.Kind = value.AsString()
		case keyPlatform:
			out.Platform = value.AsString()
		case keyExclusiveTime:
			out.ExclusiveTime = sentry.Optional[float64]{Value: number(value), Set: isFinite(number(value))}
		case keyIsRemote:
			out.IsRemote = sentry.Optional[bool]{Value: value.Bool(), Set: value.Type() == pcommon.ValueTypeBool}
		case keyMeasurements:
			out.Measurements = measuresOf(value)
		case keyIsSegment, keySegmentID, keyTagKeys, keyProfilerID, keySpanProfileID, keyThreadID, keyThreadName:
			// Said by the transaction as a whole, or below.
		default:
			if tags[key] {
				out.Tags = append(out.Tags, sentry.Tag{Key: key, Value: value.AsString()})
				continue
			}
			out.Data = append(out.Data, sentry.NamedValue{Name: key, Value: jsonOf(value)})
		}
	}
	if !fromSentry {
		fillForeign(&out, s.Span)
	}
	out.Op, out.Origin = clipped(out.Op, maxOp), originText(out.Origin)
	return out
}

// maxOp is how long operations and origins may be, by Sentry's schema.
const maxOp = 128

// clipped keeps text within what is taken of it.
func clipped(text string, most int) string {
	for i := range text {
		if i >= most { // bytes, which are no fewer than characters
			return text[:i]
		}
	}
	return text
}

// originText puts "_" in the place of what an origin cannot have.
func originText(text string) string {
	return clipped(strings.Map(func(r rune) rune {
		if r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, text), maxOp)
}

// childSpan is a span of a transaction. Its thread it states itself, for that is where Sentry looks for the samples; its
// profiler only where it is another one than the transaction's.
func (e *traceExporter) childSpan(s *tracedSpan, t *sentry.Transaction) sentry.Span {
	out := e.legacySpan(s)
	out.Description = descriptionOf(s.Span, &out, e.resource.fromSentry)
	if !e.resource.fromSentry && out.Description != s.Name() {
		out.Data = append(out.Data, sentry.NamedValue{Name: "sentry.name", Value: jsonString(s.Name())})
	}
	p := e.profilingOf(s)
	if p.profiler != "" && p.profiler != t.ProfilerID {
		out.Data = append(out.Data, sentry.NamedValue{Name: "profiler_id", Value: jsonString(p.profiler)})
	}
	putThread(&out, p)
	return out
}

// putThread states the thread as Sentry's specification has it: as text.
func putThread(s *sentry.Span, p profiling) {
	if p.thread != "" {
		s.Data = append(s.Data, sentry.NamedValue{Name: keyThreadID, Value: jsonString(p.thread)})
	}
	if p.name != "" {
		s.Data = append(s.Data, sentry.NamedValue{Name: keyThreadName, Value: jsonString(p.name)})
	}
}

// profilingOf is what ties a span to the chunks that ProfilesToChunks makes: profiler ids are made here as they are there.
func (e *traceExporter) profilingOf(s *tracedSpan) (p profiling) {
	attrs := s.Attributes()
	p = profiling{
		profiler: sentryID(textOf(attrs, keyProfilerID)), profile: sentryID(textOf(attrs, keySpanProfileID)),
		thread: clip(textOf(attrs, keyThreadID), maxIDBytes), name: clip(textOf(attrs, keyThreadName), maxNameBytes),
	}
	switch {
	case p.profiler != "":
	case e.resource.fromSentry:
		p.profiler = p.profile // a V1 profile is sent as a profiler session of its own: see readOrigin
	case e.options.Profiled:
		p.profiler = e.session()
		p.thread = clip(threadOr(p.thread, p.name), maxIDBytes)
	}
	return p
}

func timesOf(s ptrace.Span) (start, end sentry.Timestamp) {
	begin, stop := uint64(s.StartTimestamp()), uint64(s.EndTimestamp())
	if begin == 0 {
		begin = stop
	}
	return sentry.Timestamp{UnixNano: begin, Set: true}, sentry.Timestamp{UnixNano: max(begin, stop), Set: true}
}

// descriptionOf is the name, but for what the way there puts in the place of a description that is absent.
func descriptionOf(s ptrace.Span, out *sentry.Span, fromSentry bool) string {
	switch name := s.Name(); {
	case !fromSentry:
		return foreignDescription(s)
	case name == out.Op, name == unnamed:
		return ""
	default:
		return name
	}
}

func tagKeys(attrs pcommon.Map) map[string]bool {
	list, ok := attrs.Get(keyTagKeys)
	if !ok || list.Type() != pcommon.ValueTypeSlice {
		return nil
	}
	keys := map[string]bool{}
	for _, key := range list.Slice().All() {
		keys[key.AsString()] = true
	}
	return keys
}

// measuresOf is the inverse of putMeasures.
func measuresOf(value pcommon.Value) (all []sentry.NamedMeasure) {
	if value.Type() != pcommon.ValueTypeMap {
		return nil
	}
	for name, entry := range value.Map().All() {
		if entry.Type() != pcommon.ValueTypeMap {
			continue
		}
		if measured, ok := entry.Map().Get(keyValue); ok && isFinite(number(measured)) {
			all = append(all, sentry.NamedMeasure{Name: name, Value: number(measured), Unit: textOf(entry.Map(), keyUnit)})
		}
	}
	return all
}

// linksOf is the inverse of putLinks. One without ids points nowhere.
func linksOf(links ptrace.SpanLinkSlice, attribute func(string, pcommon.Value) sentry.Attribute) (all []sentry.SpanLink) {
	for _, link := range links.All() {
		if link.TraceID().IsEmpty() || link.SpanID().IsEmpty() {
			continue
		}
		out := sentry.SpanLink{
			TraceID: traceText(link.TraceID()), SpanID: spanText(link.SpanID()), Sampled: sentry.Some(link.Flags()&sampledFlag != 0),
		}
		for key, value := range link.Attributes().All() {
			out.Attributes = append(out.Attributes, attribute(key, value))
		}
		all = append(all, out)
	}
	return all
}
