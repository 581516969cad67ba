// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"net/http"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

const (
	// maxRecordsShown is the maximum number of log records of a trace.
	maxRecordsShown = 500
	// maxSpansShown is the maximum number of rows of a trace. A window shows up to a few hundred.
	maxSpansShown = 2000
	// maxSpansOrdered is the maximum number of spans of a trace that are read, in order of arrival.
	// The largest traces of our recordings have a few hundred.
	maxSpansOrdered = 100_000
)

// traceAnswer is a trace, with its spans in the order of display: each after its parent, siblings
// by start time.
type traceAnswer struct {
	answer.Omissions
	traceListing
	SpanList []spanAnswer     `json:"span_list"`
	LogList  []records.Answer `json:"log_list"`
	// Origin is the start of the earliest span; offsets count from it.
	Origin string `json:"origin"`
}

// spanAnswer is a row of a trace. Attributes and events are in a separate response,
// spanDetailAnswer.
type spanAnswer struct {
	ID       string `json:"id"`
	Parent   string `json:"parent,omitempty"`
	Depth    int    `json:"depth"`
	Name     string `json:"name"`
	Service  string `json:"service"`
	Kind     string `json:"kind"`
	Start    uint64 `json:"start"` // nanoseconds after the origin
	Duration uint64 `json:"duration"`
	Error    bool   `json:"error"`
	Status   string `json:"status,omitempty"`
	Samples  int64  `json:"samples"` // linked to it
	Weight   int64  `json:"weight"`
}

func (v *viewer) traceDetail(r *http.Request) (any, error) {
	id, err := parseTrace(r.PathValue("trace"))
	if err != nil {
		return nil, err
	}
	fragments := v.store.Trace(id)
	if len(fragments) == 0 {
		return nil, gone("trace " + r.PathValue("trace"))
	}
	out := traceAnswer{traceListing: listTrace(store.Combine(fragments))}
	out.Profiles = v.store.LinkedCount(id)
	// Spans use three quarters of the response, log records an eighth, the trace itself the rest.
	if out.LogList, err = listTraceRecords(fragments, id, &out.Omissions); err != nil {
		return nil, err
	}
	reader := traceReader{id: id, fragments: fragments}
	found, err := reader.find()
	if err != nil {
		return nil, err
	}
	var origin uint64
	if len(found) > 0 {
		origin = slices.MinFunc(found, func(a, b foundSpan) int { return cmp.Compare(a.start, b.start) }).start
	}
	out.Origin = answer.Nanos(origin)
	rows := spanOrder(found)
	rows = rows[:min(len(rows), maxSpansShown)]
	if out.SpanList, err = reader.describe(rows, v.store.SpanSums(id), origin, &out.Omissions); err != nil {
		return nil, err
	}
	texts := answer.PerEntry(answer.MaxTexts/8, 1, &out.Omissions)
	out.traceListing.clip(&texts)
	return out, nil
}

func listTraceRecords(fragments []*store.Fragment, id pcommon.TraceID, omissions *answer.Omissions) ([]records.Answer, error) {
	all := 0
	for _, f := range fragments {
		all += f.Records
	}
	out := []records.Answer{}
	err := store.EachMessage(fragments, store.Logs, func(m *store.Message) error {
		if len(out) == maxRecordsShown {
			return nil
		}
		return m.EachRecord(func(record plog.LogRecord, service string) {
			if record.TraceID() == id && len(out) < maxRecordsShown {
				texts := answer.PerEntry(answer.MaxTexts/8, min(all, maxRecordsShown), omissions)
				out = append(out, records.Describe(record, service, &texts))
			}
		})
	})
	records.SortByTime(out)
	return out, err
}

// traceReader reads the spans of a trace twice: first the values that determine their order, then
// the details of the spans that are shown. It holds one decoded message at a time.
type traceReader struct {
	id        pcommon.TraceID
	fragments []*store.Fragment
	spans     store.SpanReader
}

// each visits the first maxSpansOrdered spans of the trace, with their index.
func (t *traceReader) each(visit func(index int, span ptrace.Span, service string)) error {
	index := 0
	return store.EachMessage(t.fragments, store.Traces, func(m *store.Message) error {
		if index == maxSpansOrdered {
			return nil
		}
		return t.spans.Each(m, func(span ptrace.Span, service string) {
			if span.TraceID() == t.id && index < maxSpansOrdered {
				visit(index, span, service)
				index++
			}
		})
	})
}

func (t *traceReader) find() (found []foundSpan, err error) {
	err = t.each(func(_ int, span ptrace.Span, _ string) {
		found = append(found, foundSpan{span.SpanID(), span.ParentSpanID(), uint64(span.StartTimestamp())})
	})
	return found, err
}

func (t *traceReader) describe(
	rows []spanRow, sums map[pcommon.SpanID]store.Sum, origin uint64, omissions *answer.Omissions,
) ([]spanAnswer, error) {
	byIndex := make(map[int]int, len(rows))
	for i, row := range rows {
		byIndex[row.index] = i
	}
	out := make([]spanAnswer, len(rows))
	err := t.each(func(index int, span ptrace.Span, service string) {
		if i, shown := byIndex[index]; shown {
			texts := answer.PerEntry(answer.MaxTexts*3/4, len(rows), omissions)
			out[i] = describeSpan(span, service, origin, &texts)
			sum := sums[span.SpanID()]
			out[i].Depth, out[i].Samples, out[i].Weight = rows[i].depth, sum.Samples, sum.Weight
		}
	})
	return out, err
}

func describeSpan(span ptrace.Span, service string, origin uint64, texts *answer.Budget) spanAnswer {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	out := spanAnswer{
		ID: hexSpan(span.SpanID()), Name: texts.Text(span.Name()), Service: texts.Text(service), Kind: span.Kind().String(),
		Start: offset(start, origin), Duration: end - min(start, end),
		Error: span.Status().Code() == ptrace.StatusCodeError, Status: texts.Text(span.Status().Message()),
	}
	if parent := span.ParentSpanID(); !parent.IsEmpty() {
		out.Parent = hexSpan(parent)
	}
	return out
}
