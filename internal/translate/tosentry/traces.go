// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TracesToTransactions translates spans of any origin: each segment in the message, that is the work of one service on one
// request, becomes a transaction with its spans. Spans whose segment is elsewhere, in a message before or after this one, are
// sent in span containers, one for each trace; and so is what does not fit into a transaction.
func TracesToTransactions(traces ptrace.Traces, o ExportOptions) Export {
	e := traceExporter{options: o, copies: attr.ExportBound(new(ptrace.ProtoMarshaler).TracesSize(traces)) / 2}
	for _, resource := range traces.ResourceSpans().All() {
		e.segments(e.read(resource))
	}
	return e.Export
}

// traceExporter goes through one message.
type traceExporter struct {
	Export
	options  ExportOptions
	resource *exportedResource // of the spans at hand
	copies   int               // bytes of resources that items may still repeat
	payload  []byte            // scratch
}

// tracedSpan is a span with what stands around it.
type tracedSpan struct {
	ptrace.Span
	id     *attr.Identity // of its resource and scope
	crumbs bool           // its events are breadcrumbs of a transaction, or lost as such
}

// collectSpans appends the spans of a scope; those that Sentry has no place for are counted.
func collectSpans(spans ptrace.SpanSlice, id *attr.Identity, e *Export, all []tracedSpan) []tracedSpan {
	for _, span := range spans.All() {
		switch {
		case span.TraceID().IsEmpty() || span.SpanID().IsEmpty():
			e.lose(event.ReasonSpanInvalidID, 1)
		case span.StartTimestamp() == 0 && span.EndTimestamp() == 0,
			span.StartTimestamp() >= jsonscan.MaxUnixNano, span.EndTimestamp() >= jsonscan.MaxUnixNano:
			e.lose(event.ReasonSpanNoTime, 1)
		default:
			all = append(all, tracedSpan{Span: span, id: id})
		}
	}
	return all
}

// segments sends the spans of one resource.
func (e *traceExporter) segments(spans []tracedSpan) {
	tree := newSegmentTree(spans)
	var rest []int
	for i := range spans {
		switch {
		case e.options.SpansOnly || tree.segment[i] == elsewhere:
			rest = append(rest, i)
		case tree.segment[i] == i:
			rest = append(rest, e.transaction(spans, i, tree.children[i])...)
		}
	}
	e.containers(spans, rest, tree)
}

// transaction sends a segment. It gives the spans that did not fit.
func (e *traceExporter) transaction(spans []tracedSpan, root int, children []int) (rest []int) {
	t := e.newTransaction(&spans[root])
	children, rest = children[:min(len(children), sentry.MaxOutgoingSpans)], children[min(len(children), sentry.MaxOutgoingSpans):]
	crumbs := newCrumbs(&t)
	crumbs.add(&spans[root])
	for _, i := range children {
		t.Spans = append(t.Spans, e.childSpan(&spans[i], &t))
		crumbs.add(&spans[i])
	}
	tooMany := crumbs.settle()
	payload, fitting, ok := event.AppendTransaction(e.payload[:0], &t, e.options.atMost(sentry.MaxOutgoingTransaction))
	e.payload = payload
	if !ok {
		return append(append([]int{root}, children...), rest...)
	}
	e.lose(ReasonSpanEvent, tooMany)
	for _, i := range children[fitting:] {
		spans[i].crumbs = true
	}
	e.Items = append(e.Items, Outgoing{
		Item: sentry.Item{
			Header:  sentry.ItemHeader{Type: sentry.ItemTransaction, ContentType: sentry.ContentTypeJSON},
			Payload: append([]byte(nil), payload...),
		},
		EventID: t.EventID, Trace: e.samplingContext(&t), Count: 1 + fitting,
	})
	return append(append([]int(nil), children[fitting:]...), rest...)
}

// samplingContext is what SDKs put into the header of an envelope about the trace in it.
func (e *traceExporter) samplingContext(t *event.Transaction) *sentry.DynamicSamplingContext {
	return &sentry.DynamicSamplingContext{
		TraceID: t.Root.TraceID, Sampled: "true", Release: Clipped(t.Release, maxName), Environment: Clipped(t.Environment, maxName), Transaction: Clipped(t.Transaction, maxName),
	}
}

// maxName is how long the name of a transaction may be, by Sentry's schema; and what else goes from data into a header.
const maxName = 200

// containers sends spans in containers: each has the spans of one trace, as the header of its envelope names it.
func (e *traceExporter) containers(spans []tracedSpan, which []int, tree *segmentTree) {
	var order []pcommon.TraceID
	byTrace := map[pcommon.TraceID][]int{}
	for _, i := range which {
		id := spans[i].TraceID()
		if byTrace[id] == nil {
			order = append(order, id)
		}
		byTrace[id] = append(byTrace[id], i)
	}
	for _, id := range order {
		e.container(spans, byTrace[id], tree)
	}
}

// container sends the spans of a trace: each is written once, and a container ends when the next span does not fit.
func (e *traceExporter) container(spans []tracedSpan, which []int, tree *segmentTree) {
	w := event.NewSpansWriter(e.payload, e.options.atMost(sentry.MaxOutgoingContainer))
	first := 0 // of the container
	flush := func(end int) {
		if part := which[first:end]; w.Len() > 0 {
			e.addContainer(spans, part, w.Finish())
		}
		first = end
	}
	for k, i := range which {
		if w.Len() == sentry.MaxOutgoingSpans {
			flush(k)
		}
		span := e.streamedSpan(spans, i, tree)
		if !w.Add(&span) {
			flush(k)
			if !w.Add(&span) {
				e.lose(jsonscan.ReasonTooLarge, 1)
				first = k + 1
				continue
			}
		}
		if !spans[i].crumbs {
			e.lose(ReasonSpanEvent, spans[i].Events().Len())
		}
	}
	flush(len(which))
	e.payload = w.Scratch()
}

func (e *traceExporter) addContainer(spans []tracedSpan, part []int, payload []byte) {
	first := &spans[part[0]]
	e.Items = append(e.Items, Outgoing{
		Item: sentry.Item{
			Header:  sentry.ItemHeader{Type: sentry.ItemSpan, ContentType: sentry.ContentTypeSpans, ItemCount: jsonscan.Some(len(part))},
			Payload: append([]byte(nil), payload...),
		},
		Trace: &sentry.DynamicSamplingContext{
			TraceID: traceText(first.TraceID()), Sampled: "true", Release: Clipped(first.id.Release, maxName), Environment: Clipped(first.id.Environment, maxName),
		},
		Count: len(part),
	})
}

// ReasonSpanEvent: an event of a span that goes into a container, which has no place for it, or beyond those that a transaction
// takes as breadcrumbs.
const ReasonSpanEvent discard.Reason = "span_event_no_place"

func traceText(id pcommon.TraceID) string { return hex.EncodeToString(id[:]) }

func spanText(id pcommon.SpanID) string {
	if id.IsEmpty() {
		return ""
	}
	return hex.EncodeToString(id[:])
}
