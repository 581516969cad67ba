// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	// maxSpansShown of a trace: a window has room for some hundred.
	maxSpansShown = 2000
	// maxSpansArranged of a trace: the earliest to arrive. The largest traces of our recordings have some hundred.
	maxSpansArranged = 100_000
	// maxEventsShown of a span.
	maxEventsShown = 250
)

// traceAnswer is a trace, its spans in the order in which they are drawn: each after its parent, siblings by time.
type traceAnswer struct {
	omissions
	traceListing
	SpanList []spanAnswer   `json:"span_list"`
	LogList  []recordAnswer `json:"log_list"`
	// Origin is what offsets count from.
	Origin string `json:"origin"`
}

// spanAnswer is a row of a trace. Its attributes and events are in a response of their own; see spanDetailAnswer.
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
	Samples  int64  `json:"samples"` // that are linked to it
	Weight   int64  `json:"weight"`
}

type recordAnswer struct {
	Time       string            `json:"time"`
	Service    string            `json:"service"`
	Severity   string            `json:"severity"`
	Body       string            `json:"body"`
	Trace      string            `json:"trace,omitempty"`
	Span       string            `json:"span,omitempty"`
	Attributes []attributeAnswer `json:"attributes"`
}

func (v *viewer) traceDetail(r *http.Request) (any, error) {
	id, err := parseTrace(r.PathValue("trace"))
	if err != nil {
		return nil, err
	}
	shares := v.store.sharesOf(id)
	if len(shares) == 0 {
		return nil, gone("trace " + r.PathValue("trace"))
	}
	out := traceAnswer{traceListing: listTrace(shares), SpanList: []spanAnswer{}, LogList: []recordAnswer{}}
	out.Profiles = v.store.linkedCount(id)
	// Three quarters of the response are for spans, the rest for log records.
	if out.LogList, err = listTraceRecords(shares, id, &out.omissions); err != nil {
		return nil, err
	}
	decode := &spanDecoder{}
	found, err := findSpans(shares, id, decode)
	if err != nil {
		return nil, err
	}
	var origin uint64
	for i := range found {
		if start := found[i].start; i == 0 || start < origin {
			origin = start
		}
	}
	out.Origin = nanos(origin)
	shown := arrange(found)
	shown = shown[:min(len(shown), maxSpansShown)]
	if out.SpanList, err = v.describeSpans(shares, id, decode, found, shown, origin, &out.omissions); err != nil {
		return nil, err
	}
	texts := perEntry(maxTexts/8, 1, &out.omissions)
	out.traceListing.clip(&texts)
	return out, nil
}

func listTraceRecords(shares []kept, id pcommon.TraceID, omissions *omissions) ([]recordAnswer, error) {
	all := 0
	for _, k := range shares {
		all += k.share.logs
	}
	out := []recordAnswer{}
	err := eachMessage(shares, func(m *message) error {
		if m.signal != signalLogs || len(out) == maxRecordsShown {
			return nil
		}
		return eachRecord(m, func(record plog.LogRecord, service string) {
			if record.TraceID() == id && len(out) < maxRecordsShown {
				texts := perEntry(maxTexts/8, min(all, maxRecordsShown), omissions)
				out = append(out, describeRecord(record, service, &texts))
			}
		})
	})
	slices.SortStableFunc(out, func(a, b recordAnswer) int { return cmp.Compare(a.Time, b.Time) })
	return out, err
}

// foundSpan is what places a span of a trace among the others.
type foundSpan struct {
	id, parent pcommon.SpanID
	start      uint64
}

// findSpans reads the spans of a trace. One message after the other is decoded, and of its spans so much is kept.
func findSpans(shares []kept, id pcommon.TraceID, decode *spanDecoder) (found []foundSpan, err error) {
	err = eachMessage(shares, func(m *message) error {
		if m.signal != signalTraces || len(found) == maxSpansArranged {
			return nil
		}
		return decode.eachSpan(m, func(span ptrace.Span, _ string) {
			if span.TraceID() == id && len(found) < maxSpansArranged {
				found = append(found, foundSpan{span.SpanID(), span.ParentSpanID(), uint64(span.StartTimestamp())})
			}
		})
	})
	return found, err
}

// describeSpans reads the messages again, for the spans that are shown.
func (v *viewer) describeSpans(
	shares []kept, id pcommon.TraceID, decode *spanDecoder, found []foundSpan, shown []placed, origin uint64, omissions *omissions,
) ([]spanAnswer, error) {
	rows := make(map[int]int, len(shown)) // by position in found
	for row, at := range shown {
		rows[at.index] = row
	}
	samples := v.store.spansOf(id)
	out := make([]spanAnswer, len(shown))
	position := 0
	err := eachMessage(shares, func(m *message) error {
		if m.signal != signalTraces || position >= len(found) {
			return nil
		}
		return decode.eachSpan(m, func(span ptrace.Span, service string) {
			if span.TraceID() != id {
				return
			}
			if row, isShown := rows[position]; isShown {
				texts := perEntry(maxTexts*3/4, len(shown), omissions)
				out[row] = describeSpan(span, service, origin, &texts)
				sums := samples[span.SpanID()]
				out[row].Depth, out[row].Samples, out[row].Weight = shown[row].depth, sums.samples, sums.weight
			}
			position++
		})
	})
	return out, err
}

func describeSpan(span ptrace.Span, service string, origin uint64, texts *budget) spanAnswer {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	out := spanAnswer{
		ID: hexSpan(span.SpanID()), Name: texts.text(span.Name()), Service: texts.text(service), Kind: span.Kind().String(),
		Start: offset(start, origin), Duration: end - min(start, end),
		Error: span.Status().Code() == ptrace.StatusCodeError, Status: texts.text(span.Status().Message()),
	}
	if parent := span.ParentSpanID(); !parent.IsEmpty() {
		out.Parent = hexSpan(parent)
	}
	return out
}

// placed is a span in the order of drawing.
type placed struct{ index, depth int }

// arrange puts each span after its parent and siblings in the order of time. A span whose parent is not there is drawn as a
// root, and so is one of those that are, against all rules, each other's parents.
func arrange(found []foundSpan) (list []placed) {
	byID := make(map[pcommon.SpanID]int, len(found))
	for i := range found {
		byID[found[i].id] = i
	}
	const root = -1
	children := map[int][]int{}
	for i := range found {
		parent, known := byID[found[i].parent]
		if !known || parent == i {
			parent = root
		}
		children[parent] = append(children[parent], i)
	}
	earlier := func(a, b int) int {
		return cmp.Or(cmp.Compare(found[a].start, found[b].start), cmp.Compare(a, b))
	}
	seen := make([]bool, len(found))
	stack := []placed{}
	push := func(parent, depth int) {
		slices.SortFunc(children[parent], earlier)
		for _, child := range slices.Backward(children[parent]) {
			stack = append(stack, placed{child, depth})
		}
	}
	visit := func() {
		for len(stack) > 0 {
			at := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[at.index] {
				continue
			}
			seen[at.index] = true
			list = append(list, at)
			push(at.index, at.depth+1)
		}
	}
	push(root, 0)
	visit()
	for i := range found { // what is left is in circles
		if !seen[i] {
			stack = append(stack, placed{i, 0})
			visit()
		}
	}
	return list
}

// eachMessage visits the messages of shares, each once.
func eachMessage(shares []kept, do func(*message) error) error {
	var last *message
	for _, k := range shares {
		if k.message == last {
			continue // several services in one message
		}
		last = k.message
		if err := do(k.message); err != nil {
			return fmt.Errorf("cannot decode what was kept: %w", err)
		}
	}
	return nil
}

// spanDecoder holds the last message that it decoded: most traces are in one.
type spanDecoder struct {
	last   *message
	traces ptrace.Traces
}

func (d *spanDecoder) eachSpan(m *message, do func(ptrace.Span, string)) (err error) {
	if d.last != m {
		d.last, d.traces = nil, ptrace.Traces{}
		if d.traces, err = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(m.otlp); err != nil {
			return err
		}
		d.last = m
	}
	for _, resource := range d.traces.ResourceSpans().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				do(span, service)
			}
		}
	}
	return nil
}

func eachRecord(m *message, do func(plog.LogRecord, string)) error {
	logs, err := (&plog.ProtoUnmarshaler{}).UnmarshalLogs(m.otlp)
	if err != nil {
		return err
	}
	for _, resource := range logs.ResourceLogs().All() {
		service := serviceName(resource.Resource())
		for _, scope := range resource.ScopeLogs().All() {
			for _, record := range scope.LogRecords().All() {
				do(record, service)
			}
		}
	}
	return nil
}

func describeRecord(record plog.LogRecord, service string, texts *budget) recordAnswer {
	out := recordAnswer{
		Time: nanos(uint64(recordTime(record))), Service: texts.text(service), Body: texts.text(record.Body().AsString()),
		Severity: texts.text(cmp.Or(record.SeverityText(), record.SeverityNumber().String())),
	}
	out.Attributes = texts.mapEntries(record.Attributes())
	if trace, span := record.TraceID(), record.SpanID(); !trace.IsEmpty() {
		out.Trace, out.Span = hex.EncodeToString(trace[:]), hexSpan(span)
	}
	return out
}

// maxNamingBytes of messages are searched for the names of spans: a name is missing in a list sooner than the list is.
const maxNamingBytes = 32 << 20

// spanNames finds the names of spans by their ids, as far as they are kept. Each message is decoded once, for all of them.
func (v *viewer) spanNames(spans []spanSamples) map[string]string {
	wanted := map[string]bool{}
	traces := map[string]bool{}
	for _, s := range spans {
		wanted[s.Trace+s.Span], traces[s.Trace] = true, true
	}
	names, searched, bytes, decode := map[string]string{}, map[*message]bool{}, 0, &spanDecoder{}
	for _, s := range spans {
		if !traces[s.Trace] {
			continue
		}
		delete(traces, s.Trace)
		id, err := parseTrace(s.Trace)
		if err != nil {
			continue
		}
		_ = eachMessage(v.store.sharesOf(id), func(m *message) error {
			if m.signal != signalTraces || searched[m] || bytes+len(m.otlp) > maxNamingBytes || len(names) == len(wanted) {
				return nil
			}
			searched[m], bytes = true, bytes+len(m.otlp)
			return decode.eachSpan(m, func(span ptrace.Span, _ string) {
				trace := span.TraceID()
				if key := hex.EncodeToString(trace[:]) + hexSpan(span.SpanID()); wanted[key] {
					names[key] = shorten(span.Name())
				}
			})
		})
	}
	return names
}
