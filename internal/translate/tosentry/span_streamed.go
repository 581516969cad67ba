// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// streamedSpan is the inverse of fromsentry.fillStreamedSpan: a self-contained span of a span
// container.
func (e *traceExporter) streamedSpan(spans []tracedSpan, index int, tree *segmentTree) event.StreamedSpan {
	s := &spans[index]
	root := tree.segment[index]
	out := event.StreamedSpan{
		TraceID: attr.TraceText(s.TraceID()), SpanID: attr.SpanText(s.SpanID()), ParentSpanID: attr.SpanText(s.ParentSpanID()),
		Name: attr.FirstText(s.Name(), attr.Unnamed), Status: "ok", IsSegment: jsonscan.Some(root == index), Links: linksOf(s.Links(), attr.TypedAttribute),
	}
	if s.Status().Code() == ptrace.StatusCodeError {
		out.Status = "error"
	}
	out.Start, out.End = timesOf(s.Span)
	for _, at := range []*jsonscan.Timestamp{&out.Start, &out.End} { // not by sent_at, see toitems.FromLogs
		at.UnixNano = attr.Shifted(at.UnixNano, s.drift)
	}
	if stated, ok := s.Attributes().Get(semconv.SentryIsSegment); ok && stated.Type() == pcommon.ValueTypeBool {
		out.IsSegment = jsonscan.Some(stated.Bool())
	}
	all := attributeSet{taken: map[string]bool{}}
	e.ownAttributes(&all, s)
	if root >= 0 {
		all.text(semconv.SentrySegmentID, attr.SpanText(spans[root].SpanID()))
		e.segmentAttributes(&all, spans, root)
	}
	e.sharedAttributes(&all, s, out.IsSegment.Value)
	out.Attributes = all.list
	return out
}

// ownAttributes adds the attributes of the span, its profiling IDs and its status.
func (e *traceExporter) ownAttributes(all *attributeSet, s *tracedSpan) {
	p := e.profilingOf(s)
	all.text(semconv.SentryProfilerID, p.Profiler)
	if p.Thread != "" {
		all.text(semconv.ThreadID, p.Thread)
	}
	all.text(semconv.ThreadName, p.Name)
	units := e.unitsOf(s.Attributes())
	for key, value := range s.Attributes().All() {
		switch {
		case attr.IsSpanField(key), attr.IsClockDrift(key):
		case key == semconv.SentrySegmentID && attr.SpanIDOf(value.AsString()).IsEmpty(): // it would cost the span
		case key == semconv.SentryMeasurements:
			for _, m := range measuresOf(value) {
				all.put(event.Attribute{Key: m.Name, Type: "double", Value: attr.AppendDouble(nil, m.Value), Unit: m.Unit})
			}
		default:
			a := attr.TypedAttribute(key, value)
			if base, ok := strings.CutSuffix(key, semconv.UnitSuffix); ok {
				if _, belongs := units[base]; belongs {
					continue
				}
			}
			a.Unit = units[key]
			all.put(a)
		}
	}
	all.text(semconv.SentryStatusMessage, s.Status().Message())
	if !e.resource.FromSentry {
		all.text(semconv.SentryOp, ForeignOp(s.Span))
		all.text(semconv.SentryOrigin, "auto.otel")
		all.text(semconv.SentryKind, attr.SpanKindName(s.Kind()))
	}
}

// unitsOf returns the units of a span from Sentry, by attribute key. The value of a key with
// UnitSuffix is a unit if there is an attribute without the suffix. Few spans have any.
func (e *traceExporter) unitsOf(attrs pcommon.Map) (units map[string]string) {
	if !e.resource.FromSentry {
		return nil
	}
	stated := map[string]string{}
	for key, value := range attrs.All() {
		if base, ok := strings.CutSuffix(key, semconv.UnitSuffix); ok {
			stated[base] = value.AsString()
		}
	}
	if len(stated) == 0 {
		return nil
	}
	units = map[string]string{}
	for key := range attrs.All() {
		if unit, ok := stated[key]; ok {
			units[key] = unit
		}
	}
	return units
}

// sharedAttributes adds the identity of the sender, which a transaction states only once. Segments
// also get the resource.
func (e *traceExporter) sharedAttributes(all *attributeSet, s *tracedSpan, isSegment bool) {
	e.repeatIdentity(s)
	s.id.EachField(true, all.text)
	if isSegment && len(e.resource.Typed) > 0 && e.Repeats(&e.copies, e.resource.Size) {
		for _, a := range e.resource.Typed {
			all.put(a)
		}
	}
}

// segmentShare contains the attributes that each span of a segment repeats in containers. A
// transaction states them once.
type segmentShare struct {
	attributes []event.Attribute
	size       int
}

// segmentAttributes adds the name of the segment and its user, by which Sentry finds spans.
func (e *traceExporter) segmentAttributes(all *attributeSet, spans []tracedSpan, root int) {
	share := e.shares[root]
	if share == nil {
		share = e.shareOf(&spans[root])
		if e.shares == nil {
			e.shares = map[int]*segmentShare{}
		}
		e.shares[root] = share
	}
	if len(share.attributes) > 0 && e.Repeats(&e.copies, share.size) {
		for _, a := range share.attributes {
			all.put(a)
		}
	}
}

func (e *traceExporter) shareOf(root *tracedSpan) *segmentShare {
	attrs, share := root.Attributes(), &segmentShare{}
	name := root.Name()
	if isWebVital(root.Span) { // its name is an element of the page
		name = attr.TextOf(attrs, semconv.Transaction)
	}
	name = attr.FirstText(attr.TextOf(attrs, semconv.SentrySegmentName), name)
	if name != "" {
		share.attributes = append(share.attributes, event.Attribute{Key: semconv.SentrySegmentName, Type: "string", Value: attr.JsonString(clip(name, maxName))})
	}
	for key, value := range attrs.All() {
		if attr.UserFields.FieldOf(key) != "" && key != semconv.ClientAddress || strings.HasPrefix(key, semconv.SentryUserPrefix) {
			// A longer text is only on the root: a text is not copied for each span.
			if a := attr.TypedAttribute(key, value); len(a.Key)+len(a.Value) <= attr.MaxNameBytes {
				share.attributes = append(share.attributes, a)
			}
		}
	}
	for _, a := range share.attributes {
		share.size += len(a.Key) + len(a.Value) + len(`"":{"type":"boolean","value":},`)
	}
	return share
}

// isWebVital reports whether ingest stores a span only as part of the segment that it names
// (relay-event-normalization, normalize_web_vital_span_segment). As a transaction, it would be an
// own segment.
func isWebVital(s ptrace.Span) bool {
	op := attr.TextOf(s.Attributes(), semconv.SentryOp)
	return strings.HasPrefix(op, "ui.interaction.") || strings.HasPrefix(op, "ui.webvital.")
}

// attributeSet collects attributes. It keeps the first attribute of each key.
type attributeSet struct {
	list  []event.Attribute
	taken map[string]bool
}

func (s *attributeSet) put(a event.Attribute) {
	if a.Key != "" && !s.taken[a.Key] {
		s.taken[a.Key] = true
		s.list = append(s.list, a)
	}
}

func (s *attributeSet) text(key, text string) {
	if text != "" {
		s.put(event.Attribute{Key: key, Type: "string", Value: attr.JsonString(text)})
	}
}
