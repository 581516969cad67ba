package profileviewerexporter

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	// maxSpansShown of a trace: a window has room for some hundred.
	maxSpansShown = 2000
	// maxEventsShown of a span.
	maxEventsShown = 250
	// maxRecordsShown of the log records of a trace, and of the latest.
	maxRecordsShown = 500
)

// traceAnswer is a trace, its spans in the order in which they are drawn: each after its parent, siblings by time.
type traceAnswer struct {
	traceListing
	SpanList []spanAnswer   `json:"span_list"`
	LogList  []recordAnswer `json:"log_list"`
	// Origin is what offsets count from.
	Origin string `json:"origin"`
}

type spanAnswer struct {
	ID         string            `json:"id"`
	Parent     string            `json:"parent,omitempty"`
	Depth      int               `json:"depth"`
	Name       string            `json:"name"`
	Service    string            `json:"service"`
	Kind       string            `json:"kind"`
	Start      uint64            `json:"start"` // nanoseconds after the origin
	Duration   uint64            `json:"duration"`
	Error      bool              `json:"error"`
	Status     string            `json:"status,omitempty"`
	Samples    int64             `json:"samples"` // that are linked to it
	Weight     int64             `json:"weight"`
	Attributes []attributeAnswer `json:"attributes"`
	Events     []eventAnswer     `json:"events"`
}

type eventAnswer struct {
	Name       string            `json:"name"`
	At         uint64            `json:"at"` // nanoseconds after the origin
	Attributes []attributeAnswer `json:"attributes"`
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
	out.Profiles, out.Origin = len(v.store.linkedTo(id)), out.Start
	var found []foundSpan
	err = eachMessage(shares, func(m *message) error {
		if m.signal == signalLogs {
			return eachRecord(m, func(record plog.LogRecord, service string) {
				if record.TraceID() == id && len(out.LogList) < maxRecordsShown {
					out.LogList = append(out.LogList, describeRecord(record, service))
				}
			})
		}
		return eachSpan(m, func(span ptrace.Span, service string) {
			if span.TraceID() == id {
				found = append(found, foundSpan{span, service})
			}
		})
	})
	if err != nil {
		return nil, err
	}
	v.describeSpans(&out, id, found)
	slices.SortStableFunc(out.LogList, func(a, b recordAnswer) int { return cmp.Compare(a.Time, b.Time) })
	return out, nil
}

// foundSpan is a span and whose.
type foundSpan struct {
	ptrace.Span
	service string
}

func (v *viewer) describeSpans(out *traceAnswer, id pcommon.TraceID, found []foundSpan) {
	var origin uint64
	for i, span := range found {
		if start := uint64(span.StartTimestamp()); i == 0 || start < origin {
			origin = start
		}
	}
	samples := v.store.spansOf(id)
	for _, at := range arrange(found) {
		span := found[at.index]
		ids := span.SpanID()
		answer := describeSpan(span, origin)
		answer.Depth, answer.Samples, answer.Weight = at.depth, samples[ids].samples, samples[ids].weight
		if out.SpanList = append(out.SpanList, answer); len(out.SpanList) == maxSpansShown {
			break
		}
	}
	out.Origin = nanos(origin)
}

func describeSpan(span foundSpan, origin uint64) spanAnswer {
	start, end := uint64(span.StartTimestamp()), uint64(span.EndTimestamp())
	out := spanAnswer{
		ID: hexSpan(span.SpanID()), Name: shorten(span.Name()), Service: span.service, Kind: span.Kind().String(),
		Start: offset(start, origin), Duration: end - min(start, end),
		Error: span.Status().Code() == ptrace.StatusCodeError, Status: shorten(span.Status().Message()),
		Attributes: listMap(span.Attributes()), Events: []eventAnswer{},
	}
	if parent := span.ParentSpanID(); !parent.IsEmpty() {
		out.Parent = hexSpan(parent)
	}
	for i, event := range span.Events().All() {
		if i == maxEventsShown {
			out.Events = append(out.Events, eventAnswer{Name: "… " + strconv.Itoa(span.Events().Len()-i) + " more", Attributes: []attributeAnswer{}})
			break
		}
		out.Events = append(out.Events, eventAnswer{
			Name: shorten(event.Name()), At: offset(uint64(event.Timestamp()), origin), Attributes: listMap(event.Attributes()),
		})
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
		byID[found[i].SpanID()] = i
	}
	const root = -1
	children := map[int][]int{}
	for i := range found {
		parent, known := byID[found[i].ParentSpanID()]
		if !known || parent == i {
			parent = root
		}
		children[parent] = append(children[parent], i)
	}
	earlier := func(a, b int) int {
		return cmp.Or(cmp.Compare(found[a].StartTimestamp(), found[b].StartTimestamp()), cmp.Compare(a, b))
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

func eachSpan(m *message, do func(ptrace.Span, string)) error {
	traces, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(m.otlp)
	if err != nil {
		return err
	}
	for _, resource := range traces.ResourceSpans().All() {
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

func describeRecord(record plog.LogRecord, service string) recordAnswer {
	out := recordAnswer{
		Time: nanos(uint64(recordTime(record))), Service: service, Body: shorten(record.Body().AsString()),
		Severity: shorten(cmp.Or(record.SeverityText(), record.SeverityNumber().String())), Attributes: listMap(record.Attributes()),
	}
	if trace, span := record.TraceID(), record.SpanID(); !trace.IsEmpty() {
		out.Trace, out.Span = hex.EncodeToString(trace[:]), hexSpan(span)
	}
	return out
}

// logList lists the latest log records; the query may name a service.
func (v *viewer) logList(r *http.Request) (any, error) {
	service := r.URL.Query().Get("service")
	out := []recordAnswer{}
	_, _, messages := v.store.all()
	for _, m := range messages {
		if len(out) >= maxRecordsShown {
			break
		}
		err := eachMessage([]kept{{message: m}}, func(m *message) error {
			return eachRecord(m, func(record plog.LogRecord, of string) {
				if (service == "" || service == of) && len(out) < maxRecordsShown {
					out = append(out, describeRecord(record, of))
				}
			})
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(out, func(a, b recordAnswer) int { return cmp.Compare(b.Time, a.Time) })
	return out, nil
}

// spanNames finds the names of spans by their ids, as far as they are kept.
func (v *viewer) spanNames(spans []spanSamples) map[string]string {
	names := map[string]string{}
	wanted := map[string][]string{} // spans by trace
	for _, s := range spans {
		wanted[s.Trace] = append(wanted[s.Trace], s.Span)
	}
	for trace, ids := range wanted {
		id, err := parseTrace(trace)
		if err != nil {
			continue
		}
		_ = eachMessage(v.store.sharesOf(id), func(m *message) error {
			if m.signal != signalTraces || !mentions(m, ids) {
				return nil
			}
			return eachSpan(m, func(span ptrace.Span, _ string) {
				if text := hexSpan(span.SpanID()); slices.Contains(ids, text) {
					names[text] = shorten(span.Name())
				}
			})
		})
	}
	return names
}

// mentions spares decoding messages in which no such id is.
func mentions(m *message, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool {
		raw, err := hex.DecodeString(id)
		return err == nil && bytes.Contains(m.otlp, raw)
	})
}

func hexSpan(id pcommon.SpanID) string { return hex.EncodeToString(id[:]) }
