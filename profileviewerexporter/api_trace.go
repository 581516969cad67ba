// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"net/http"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/spanname"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/waterfall"
)

const (
	// maxRecordsShown is the maximum number of log records of a trace.
	maxRecordsShown = 500
	// maxSpansShown is the maximum number of spans in the response about a trace. The page requests
	// the rows of all spans instead.
	maxSpansShown = 2000
)

// traceAnswer is a trace, with its spans in the order of display: each after its parent, siblings
// by start time.
type traceAnswer struct {
	answer.Omissions
	catalog.TraceListing
	SpanList []spanAnswer     `json:"span_list,omitempty"` // absent with spans=0
	LogList  []records.Answer `json:"log_list"`
	Origin   string           `json:"origin"` // start of the earliest span; offsets are relative to it
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
	Start    uint64 `json:"start"` // offset in nanoseconds
	Duration uint64 `json:"duration"`
	Error    bool   `json:"error"`
	Status   string `json:"status,omitempty"`
	Samples  int64  `json:"samples"` // number of samples linked to the span
	Weight   int64  `json:"weight"`
}

// readTrace returns the reader of the trace in the path.
func (v *viewer) readTrace(r *http.Request) (*waterfall.Reader, error) {
	id, err := parseTrace(r.PathValue("trace"))
	if err != nil {
		return nil, err
	}
	reader := &waterfall.Reader{Trace: id, Fragments: v.store.Trace(id)}
	if len(reader.Fragments) == 0 {
		return nil, gone("trace " + r.PathValue("trace"))
	}
	return reader, nil
}

func (v *viewer) traceDetail(r *http.Request) (any, error) {
	reader, err := v.readTrace(r)
	if err != nil {
		return nil, err
	}
	out := traceAnswer{TraceListing: catalog.ListTrace(store.Combine(reader.Fragments))}
	out.Profiles = v.store.LinkedCount(reader.Trace)
	// Spans use three quarters of the response, log records an eighth, the trace itself the rest.
	if out.LogList, err = listTraceRecords(reader.Fragments, reader.Trace, &out.Omissions); err != nil {
		return nil, err
	}
	found, origin, err := reader.Spans()
	if err != nil {
		return nil, err
	}
	out.Origin = answer.Nanos(origin)
	if r.URL.Query().Get("spans") != "0" {
		rows := waterfall.Order(found)
		rows = rows[:min(len(rows), maxSpansShown)]
		if out.SpanList, err = describeSpans(reader, rows, v.store.SpanSums(reader.Trace), origin, &out.Omissions); err != nil {
			return nil, err
		}
	}
	texts := answer.PerEntry(answer.MaxTexts/8, 1, &out.Omissions)
	out.Clip(&texts)
	return out, nil
}

// traceRows returns all rows of a trace in a compact form.
func (v *viewer) traceRows(r *http.Request) (any, error) {
	reader, err := v.readTrace(r)
	if err != nil {
		return nil, err
	}
	return reader.Rows(v.store.SpanSums(reader.Trace))
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

func describeSpans(
	reader *waterfall.Reader, rows []waterfall.Row, sums map[pcommon.SpanID]store.Sum, origin uint64, omissions *answer.Omissions,
) ([]spanAnswer, error) {
	byIndex := make(map[int]int, len(rows))
	for i, row := range rows {
		byIndex[row.Index] = i
	}
	out := make([]spanAnswer, len(rows))
	err := reader.Each(func(index int, span ptrace.Span, service string) {
		if i, shown := byIndex[index]; shown {
			texts := answer.PerEntry(answer.MaxTexts*3/4, len(rows), omissions)
			out[i] = describeSpan(span, service, origin, &texts)
			sum := sums[span.SpanID()]
			out[i].Depth, out[i].Samples, out[i].Weight = rows[i].Depth, sum.Samples, sum.Weight
		}
	})
	return out, err
}

func describeSpan(span ptrace.Span, service string, origin uint64, texts *answer.Budget) spanAnswer {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	out := spanAnswer{
		ID: hexSpan(span.SpanID()), Name: texts.Text(spanname.Of(span)), Service: texts.Text(service), Kind: span.Kind().String(),
		Start: offset(start, origin), Duration: end - min(start, end),
		Error: span.Status().Code() == ptrace.StatusCodeError, Status: texts.Text(span.Status().Message()),
	}
	if parent := span.ParentSpanID(); !parent.IsEmpty() {
		out.Parent = hexSpan(parent)
	}
	return out
}
