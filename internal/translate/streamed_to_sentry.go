package translate

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// streamedSpan is the inverse of fillStreamedSpan: a span as containers have it, which says all by itself.
func (e *traceExporter) streamedSpan(spans []tracedSpan, index int, tree *segmentTree) sentry.StreamedSpan {
	s := &spans[index]
	root := tree.segment[index]
	out := sentry.StreamedSpan{
		TraceID: traceText(s.TraceID()), SpanID: spanText(s.SpanID()), ParentSpanID: spanText(s.ParentSpanID()),
		Name: firstText(s.Name(), unnamed), Status: "ok", IsSegment: sentry.Some(root == index), Links: linksOf(s.Links(), typedAttribute),
	}
	if s.Status().Code() == ptrace.StatusCodeError {
		out.Status = "error"
	}
	out.Start, out.End = timesOf(s.Span)
	if stated, ok := s.Attributes().Get(keyIsSegment); ok && stated.Type() == pcommon.ValueTypeBool {
		out.IsSegment = sentry.Some(stated.Bool())
	}
	all := attributeSet{taken: map[string]bool{}}
	e.ownAttributes(&all, s)
	if root >= 0 {
		all.text(keySegmentID, spanText(spans[root].SpanID()))
	}
	e.sharedAttributes(&all, s, out.IsSegment.Value)
	out.Attributes = all.list
	return out
}

// ownAttributes are those of the span, profiling and status in the form that Sentry compares.
func (e *traceExporter) ownAttributes(all *attributeSet, s *tracedSpan) {
	p := e.profilingOf(s)
	all.text(keyProfilerID, p.profiler)
	if p.thread != "" {
		all.text(keyThreadID, p.thread)
	}
	all.text(keyThreadName, p.name)
	units := e.unitsOf(s.Attributes())
	for key, value := range s.Attributes().All() {
		switch key {
		case keyIsSegment, keyTagKeys, keyProfilerID, keySpanProfileID, keyThreadID, keyThreadName:
		case keyMeasurements:
			for _, m := range measuresOf(value) {
				all.put(sentry.Attribute{Key: m.Name, Type: "double", Value: appendDouble(nil, m.Value), Unit: m.Unit})
			}
		default:
			a := typedAttribute(key, value)
			if base, ok := strings.CutSuffix(key, unitSuffix); ok && units[base].belongs {
				continue
			}
			a.Unit = units[key].unit
			all.put(a)
		}
	}
	all.text(keyStatusMessage, s.Status().Message())
	if !e.resource.fromSentry {
		all.text(keyOp, foreignOp(s.Span))
		all.text(keyOrigin, "auto.otel")
		all.text(keyKind, kindName(s.Kind()))
	}
}

// unitSuffix is where putStreamed keeps the unit of an attribute.
const unitSuffix = ".unit"

// unitEntry is what stands under a key with unitSuffix. It is a unit if there is an attribute that it belongs to.
type unitEntry struct {
	unit    string
	belongs bool
}

// unitsOf returns the units of a span from Sentry, by the key of the attribute. Few spans have any.
func (e *traceExporter) unitsOf(attrs pcommon.Map) (units map[string]unitEntry) {
	if !e.resource.fromSentry {
		return nil
	}
	for key, value := range attrs.All() {
		if base, ok := strings.CutSuffix(key, unitSuffix); ok {
			if units == nil {
				units = map[string]unitEntry{}
			}
			units[base] = unitEntry{unit: value.AsString()}
		}
	}
	if len(units) == 0 {
		return nil
	}
	for key := range attrs.All() {
		if entry, ok := units[key]; ok {
			units[key] = unitEntry{entry.unit, true}
		}
	}
	return units
}

// sharedAttributes are what transactions say once: who sent the span. The resource as a whole is on segments only.
func (e *traceExporter) sharedAttributes(all *attributeSet, s *tracedSpan, isSegment bool) {
	id := s.id
	all.text(keyRelease, id.release)
	all.text(keySDKEnvironment, id.environment)
	all.text(keyDist, id.dist)
	all.text(keyPlatform, id.platform)
	all.text(keyStreamedSDK, id.sdk.Name)
	all.text(keyStreamedVersion, id.sdk.Version)
	if isSegment && len(e.resource.typed) > 0 && e.repeatResource() {
		for _, a := range e.resource.typed {
			all.put(a)
		}
	}
}

// attributeSet collects attributes: of two with one key the first.
type attributeSet struct {
	list  []sentry.Attribute
	taken map[string]bool
}

func (s *attributeSet) put(a sentry.Attribute) {
	if a.Key != "" && !s.taken[a.Key] {
		s.taken[a.Key] = true
		s.list = append(s.list, a)
	}
}

func (s *attributeSet) text(key, text string) {
	if text != "" {
		s.put(sentry.Attribute{Key: key, Type: "string", Value: jsonString(text)})
	}
}
