// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"bytes"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/allowance"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TracesToTransactions translates spans of any origin. Each segment in the message, which is the
// work of one service on one request, becomes a transaction with its spans. Spans of segments in
// other messages, and spans that exceed the limits of a transaction, are sent in span containers,
// one or more per trace.
func TracesToTransactions(traces ptrace.Traces, o ExportOptions) Export {
	e := traceExporter{options: o, copies: attr.Copies(func() int { return new(ptrace.ProtoMarshaler).TracesSize(traces) })}
	for _, resource := range traces.ResourceSpans().All() {
		e.segments(e.read(resource))
	}
	return e.Export
}

// traceExporter translates one message.
type traceExporter struct {
	Export
	options  ExportOptions
	resource *Resource           // of the current spans
	copies   allowance.Allowance // of resources and segments
	shares   map[int]*segmentShare
	payload  []byte       // scratch
	scratch  attr.Scratch // values of the current transaction
}

// tracedSpan is a span with its context.
type tracedSpan struct {
	ptrace.Span
	id     *identity // of its resource and scope
	header attr.TraceHeader
	drift  int64 // see Outgoing.DriftMilli
	crumbs bool  // its events are breadcrumbs of a transaction, or counted as lost
}

// identity is an identity with its size in an item.
type identity struct {
	attr.Identity
	size int
}

// collectSpans appends the usable spans of a scope and counts the others.
func collectSpans(spans ptrace.SpanSlice, id *identity, e *Export, all []tracedSpan) []tracedSpan {
	for _, span := range spans.All() {
		switch {
		case span.TraceID().IsEmpty() || span.SpanID().IsEmpty():
			e.Lose(event.ReasonSpanInvalidID, 1)
		case span.StartTimestamp() == 0 && span.EndTimestamp() == 0,
			span.StartTimestamp() >= jsonscan.MaxUnixNano, span.EndTimestamp() >= jsonscan.MaxUnixNano:
			e.Lose(event.ReasonSpanNoTime, 1)
		default:
			all = append(all, tracedSpan{Span: span, id: id, header: attr.TraceHeaderOf(span.TraceID(), span.Attributes(), span.TraceState().AsRaw()), drift: attr.UncorrectedDrift(span.Attributes().Get)})
		}
	}
	return all
}

func (e *traceExporter) segments(spans []tracedSpan) {
	tree := newSegmentTree(spans)
	var rest []int
	e.shares = nil
	for i := range spans {
		if root := tree.segment[i]; root >= 0 {
			spans[i].header = spans[i].header.Or(spans[root].header)
		}
		switch {
		case e.options.SpansOnly || tree.segment[i] == elsewhere || isWebVital(spans[tree.segment[i]].Span),
			e.options.isTooOld(spans[tree.segment[i]].Span), e.options.isTooOld(spans[i].Span):
			rest = append(rest, i)
		case tree.segment[i] == i:
			young := slices.DeleteFunc(tree.children[i], func(k int) bool { return e.options.isTooOld(spans[k].Span) })
			rest = append(rest, e.transaction(spans, i, young)...)
		}
	}
	e.containers(spans, rest, tree)
}

// transaction translates a segment. It returns the spans that did not fit.
func (e *traceExporter) transaction(spans []tracedSpan, root int, children []int) (rest []int) {
	t := e.newTransaction(&spans[root])
	children, otherClock := ofSameClock(spans, root, children)
	children, rest = children[:min(len(children), sentry.MaxOutgoingSpans)], children[min(len(children), sentry.MaxOutgoingSpans):]
	rest = append(rest[:len(rest):len(rest)], otherClock...)
	crumbs := appendEvents(nil, &spans[root])
	t.Spans = make([]event.Span, 0, len(children))
	for _, i := range children {
		t.Spans = append(t.Spans, e.childSpan(&spans[i], &t))
		crumbs = appendEvents(crumbs, &spans[i])
	}
	crumbs, tooMany := lastCrumbs(crumbs)
	t.Breadcrumbs = append(t.Breadcrumbs, crumbs...)
	payload, fitting, ok := event.AppendTransaction(e.payload[:0], &t, e.options.AtMost(sentry.MaxOutgoingTransaction))
	e.payload = payload
	if !ok {
		return append(append([]int{root}, children...), rest...)
	}
	e.Lose(ReasonSpanEvent, tooMany)
	for _, i := range children[fitting:] {
		spans[i].crumbs = true
	}
	item := e.Add(sentry.ItemTransaction, sentry.ContentTypeJSON, bytes.Clone(payload))
	item.EventID, item.Trace, item.DriftMilli = t.EventID, samplingContext(&spans[root], t.Transaction), spans[root].drift
	item.Count += fitting
	return append(append([]int(nil), children[fitting:]...), rest...)
}

// ofSameClock separates the children whose times are wrong by another amount than those of the
// root: ingest shifts all times of an envelope alike. Envelopes of one client differ by the time of
// transport.
func ofSameClock(spans []tracedSpan, root int, children []int) (same, others []int) {
	const transport = 60_000
	for k, i := range children {
		if d := spans[i].drift - spans[root].drift; d > transport || d < -transport {
			if others == nil {
				same = append(same, children[:k]...)
			}
			others = append(others, i)
		} else if others != nil {
			same = append(same, i)
		}
	}
	if others == nil {
		return children, nil
	}
	return same, others
}

// samplingContext returns the trace header that SDKs add to the envelope.
func samplingContext(s *tracedSpan, transaction string) *sentry.DynamicSamplingContext {
	h := &s.header
	return &sentry.DynamicSamplingContext{
		TraceID: attr.TraceText(s.TraceID()), SampleRate: h.SampleRate, SampleRand: h.SampleRand, Sampled: attr.FirstText(h.Sampled, "true"), ReplayID: h.ReplayID,
		Release: clip(s.id.Release, maxName), Environment: clip(s.id.Environment, maxName), Transaction: clip(attr.FirstText(h.Transaction, transaction), maxName),
	}
}

// maxName is the maximum length of transaction names in Sentry's schema. It applies to all text in
// headers.
const maxName = 200

// containers translates spans to span containers. Each contains spans with one trace header.
func (e *traceExporter) containers(spans []tracedSpan, which []int, tree *segmentTree) {
	var order []attr.TraceHeader
	byHeader := map[attr.TraceHeader][]int{}
	for _, i := range which {
		header := spans[i].header
		if byHeader[header] == nil {
			order = append(order, header)
		}
		byHeader[header] = append(byHeader[header], i)
	}
	for _, header := range order {
		e.container(spans, byHeader[header], tree)
	}
}

// container translates spans with the same trace header. Each span is written once; if it does not
// fit, it starts the next container.
func (e *traceExporter) container(spans []tracedSpan, which []int, tree *segmentTree) {
	c := Container{
		ContainerWriter: event.NewContainerWriter(e.payload, e.options.AtMost(sentry.MaxOutgoingContainer)),
		Kind:            sentry.ItemSpan, ContentType: sentry.ContentTypeSpans, Elements: sentry.MaxOutgoingSpans,
	}
	var span event.StreamedSpan
	for _, i := range which {
		span = e.streamedSpan(spans, i, tree)
		if !e.Put(&c, &span) {
			continue
		}
		if c.Len() == 1 {
			c.Trace = samplingContext(&spans[i], "")
		}
		if !spans[i].crumbs {
			e.Lose(ReasonSpanEvent, spans[i].Events().Len())
		}
	}
	e.Flush(&c)
	e.payload = c.Scratch()
}

// ReasonSpanEvent: a span event in a container, which has no field for it, or beyond the limit of
// breadcrumbs.
const ReasonSpanEvent discard.Reason = "span_event_no_place"

// segmentTree stores the segment of every span of a resource, as the index of the segment's root.
type segmentTree struct {
	segment  []int
	children map[int][]int // by root, in message order, without the root
}

// elsewhere is the segment of a span whose root is in another message.
const elsewhere = -1

// SegmentRoots returns the index of the root of each span's segment; -1 if the root is in another
// message.
func SegmentRoots(spans []ptrace.Span) []int {
	traced := make([]tracedSpan, len(spans))
	for i, span := range spans {
		traced[i].Span = span
	}
	return newSegmentTree(traced).segment
}

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// Values of segment while the tree is built.
const (
	unknown  = -2
	visiting = -3
)

func newSegmentTree(spans []tracedSpan) *segmentTree {
	t := &segmentTree{segment: slices.Repeat([]int{unknown}, len(spans)), children: map[int][]int{}}
	byID := make(map[spanKey]int, len(spans))
	for i := range spans {
		key := spanKey{spans[i].TraceID(), spans[i].SpanID()}
		if _, taken := byID[key]; !taken {
			byID[key] = i
		}
	}
	for i := range spans {
		if isRoot(&spans[i], byID) {
			t.segment[i] = i
		}
	}
	for i := range spans {
		if root := t.resolve(spans, i, byID); root != elsewhere && root != i {
			t.children[root] = append(t.children[root], i)
		}
	}
	return t
}

// resolve finds the segment of a span and of its ancestors up to a known one.
func (t *segmentTree) resolve(spans []tracedSpan, from int, byID map[spanKey]int) int {
	var path []int
	at, ok := from, true
	for ok && t.segment[at] == unknown {
		t.segment[at] = visiting
		path = append(path, at)
		at, ok = owner(&spans[at], byID, t.segment)
	}
	found := elsewhere
	if ok && t.segment[at] != visiting { // otherwise the root is in another message, or the parents form a cycle
		found = t.segment[at]
	}
	for _, i := range path {
		t.segment[i] = found
	}
	return t.segment[from]
}

// isRoot reports whether the span begins a segment. Sentry's SDKs state this. In OpenTelemetry,
// such a span has no parent or a remote parent. Without flags, the parent of a server or consumer
// span is considered remote if it is not in the message.
func isRoot(s *tracedSpan, byID map[spanKey]int) bool {
	if stated, ok := s.Attributes().Get(semconv.SentryIsSegment); ok && stated.Type() == pcommon.ValueTypeBool {
		return stated.Bool()
	}
	if s.ParentSpanID().IsEmpty() {
		_, ofSegment := s.Attributes().Get(semconv.SentrySegmentID)
		return !ofSegment
	}
	const knowsRemote, isRemote = 0x100, 0x200 // span flags of OTLP
	if s.Flags()&knowsRemote != 0 {
		return s.Flags()&isRemote != 0
	}
	_, parentIsHere := byID[spanKey{s.TraceID(), s.ParentSpanID()}]
	return !parentIsHere && (s.Kind() == ptrace.SpanKindServer || s.Kind() == ptrace.SpanKindConsumer)
}

// owner returns the span that determines the segment of a span: the root that it states, else its
// parent.
func owner(s *tracedSpan, byID map[spanKey]int, segment []int) (int, bool) {
	if root, ok := byID[spanKey{s.TraceID(), attr.SpanIDOf(attr.TextOf(s.Attributes(), semconv.SentrySegmentID))}]; ok && segment[root] == root {
		return root, true
	}
	parent, ok := byID[spanKey{s.TraceID(), s.ParentSpanID()}]
	return parent, ok
}
