// SPDX-License-Identifier: Apache-2.0

package waterfall

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// MaxSpans is the maximum number of spans of a trace that are read, in order of arrival. The
// largest traces in our recordings have a few hundred.
const MaxSpans = 100_000

// Span is a span of a trace, without texts.
type Span struct {
	ID, Parent pcommon.SpanID
	Start, End uint64 // Unix nanoseconds
}

// Reader reads the spans of a trace, more than once: first the values that determine their order,
// then their details. It holds one decoded message at a time.
type Reader struct {
	Trace     pcommon.TraceID
	Fragments []*store.Fragment

	spans store.SpanReader
}

// Each visits the first MaxSpans spans of the trace, with their index.
func (r *Reader) Each(visit func(index int, span ptrace.Span, service string)) error {
	index := 0
	return store.EachMessage(r.Fragments, store.Traces, func(m *store.Message) error {
		if index == MaxSpans {
			return nil
		}
		return r.spans.Each(m, func(span ptrace.Span, service string) {
			if span.TraceID() == r.Trace && index < MaxSpans {
				visit(index, span, service)
				index++
			}
		})
	})
}

// Spans returns the spans by index, and the start of the earliest.
func (r *Reader) Spans() (found []Span, origin uint64, err error) {
	err = r.Each(func(_ int, span ptrace.Span, _ string) {
		start := uint64(span.StartTimestamp())
		found = append(found, Span{span.SpanID(), span.ParentSpanID(), start, max(start, uint64(span.EndTimestamp()))})
	})
	if len(found) > 0 {
		origin = slices.MinFunc(found, func(a, b Span) int { return cmp.Compare(a.Start, b.Start) }).Start
	}
	return found, origin, err
}
