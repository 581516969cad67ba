// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/exceptions"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/spanname"
)

// rawSpan is a span as it arrived, with the project's service.
type rawSpan struct {
	ptrace.Span
	service string
	again   bool // a span with the same ID arrived before: that one represents it in the tree
}

func (s rawSpan) duration() uint64 {
	return uint64(s.EndTimestamp() - min(s.StartTimestamp(), s.EndTimestamp()))
}

func (s rawSpan) isRoot() bool {
	return s.Kind() == ptrace.SpanKindServer || s.Kind() == ptrace.SpanKindConsumer
}

func (s rawSpan) has(prefixes ...string) bool {
	for key := range s.Attributes().All() {
		if slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) }) {
			return true
		}
	}
	return false
}

// recordedSpans returns the transactions of all recordings, one message each.
func recordedSpans(t *testing.T) (messages []ptrace.Traces) {
	for _, request := range golden.Corpus(t) {
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		if err != nil {
			continue // it is of another endpoint
		}
		for _, item := range envelope.Items {
			if !bytes.HasPrefix(bytes.TrimSpace(item.Payload), []byte("{")) || !bytes.Contains(item.Payload, []byte(`"start_timestamp"`)) {
				continue
			}
			if transaction, err := event.DecodeTransaction(item.Payload); err == nil && len(transaction.Lost) == 0 {
				messages = append(messages, fromsentry.TransactionToTraces(transaction, fromsentry.Source{ProjectID: "1"}))
			}
		}
	}
	return messages
}

// TestOperationsOfRecordings: the figures are those of a program that reads the spans of all
// recordings at once.
func TestOperationsOfRecordings(t *testing.T) {
	h := start(t, func(c *Config) { c.MaxBytes = 1 << 30 })
	var spans []rawSpan
	arrived := map[string]bool{}
	for _, message := range recordedSpans(t) {
		for _, resource := range message.ResourceSpans().All() {
			service, _ := resource.Resource().Attributes().Get("service.name")
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					id := span.TraceID().String() + span.SpanID().String()
					spans = append(spans, rawSpan{span, service.AsString(), arrived[id]})
					arrived[id] = true
				}
			}
		}
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), message))
	}
	require.Greater(t, len(spans), 3000)

	type key struct{ trace, span string }
	children := map[key][]rawSpan{}
	for _, s := range spans {
		parent := key{s.TraceID().String(), s.ParentSpanID().String()}
		children[parent] = append(children[parent], s)
	}
	// spent returns the time of a span in calls to databases and services.
	var spent func(rawSpan) (database, remote uint64)
	spent = func(s rawSpan) (database, remote uint64) {
		switch {
		case !s.isRoot() && s.has("db.system"):
			return s.duration(), 0
		case s.Kind() == ptrace.SpanKindClient && s.has("http.request.method", "http.method", "rpc.system"):
			return 0, s.duration()
		case s.again:
			return 0, 0
		}
		for _, c := range children[key{s.TraceID().String(), s.SpanID().String()}] {
			if !c.isRoot() {
				d, r := spent(c)
				database, remote = database+d, remote+r
			}
		}
		return database, remote
	}
	wanted := map[string]catalog.OperationAnswer{} // by service, name and kind
	durations := map[string][]uint64{}
	for _, s := range spans {
		id := s.service + "|" + spanname.Of(s.Span) + "|" + s.Kind().String()
		w := wanted[id]
		w.Count++
		if s.Status().Code() == ptrace.StatusCodeError {
			w.Errors++
		}
		w.Total += s.duration()
		database, remote := spent(s)
		w.Database, w.Remote = w.Database+database, w.Remote+remote
		wanted[id], durations[id] = w, append(durations[id], s.duration())
	}
	services, checked, withCalls := map[string]bool{}, 0, 0
	for _, s := range spans {
		services[s.service] = true
	}
	for service := range services {
		for offset := 0; ; offset += 200 {
			page := get[catalog.OperationsAnswer](h, fmt.Sprintf("operations?service=%s&offset=%d", url.QueryEscape(service), offset))
			for _, got := range page.Operations {
				id := service + "|" + got.Name + "|" + got.Kind
				w, list := wanted[id], durations[id]
				assert.Equal(t, []uint64{uint64(w.Count), uint64(w.Errors), w.Total, w.Database, w.Remote},
					[]uint64{uint64(got.Count), uint64(got.Errors), got.Total, got.Database, got.Remote}, id)
				slices.Sort(list)
				for i, percentile := range []uint64{got.P50, got.P95, got.P99} {
					want := list[max(1, int(math.Ceil([]float64{0.5, 0.95, 0.99}[i]*float64(len(list)))))-1]
					assert.InDelta(t, float64(want), float64(percentile), 0.01*float64(want), id)
				}
				assert.Equal(t, list[len(list)-1], got.Slowest[0].Duration, id)
				checked++
				if got.Database+got.Remote > 0 {
					withCalls++
				}
			}
			if len(page.Operations) == 0 {
				break
			}
		}
	}
	assert.Len(t, wanted, checked)
	assert.Greater(t, withCalls, 10)
}

// TestOperations: the samples of an operation are those of its spans and of the spans below, in
// figures, graphs and downloads.
func TestOperations(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop",
		timelinetest.Sample{Thread: 1, Stack: "main;handle;libquery", Span: 7, At: []time.Duration{0, 10 * ms}},
		timelinetest.Sample{Thread: 1, Stack: "main;other", Span: 8, At: []time.Duration{20 * ms}},
		timelinetest.Sample{Thread: 1, Stack: "main;idle", At: []time.Duration{30 * ms}},
	)
	h.addProfile("shop", timelinetest.Sample{Thread: 1, Stack: "unlinked", At: []time.Duration{0}})
	spans := spansOf("shop", 7, testSpan{7, 9, "query", 5, 15}, testSpan{9, 0, "GET /", 0, 40})
	spans.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).SetKind(ptrace.SpanKindServer)
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), spans))
	h.addSpans("shop", 8, testSpan{8, 0, "POST /", 0, 20})
	list := get[catalog.OperationsAnswer](h, "operations?service=shop&sort=-p95")
	require.Len(t, list.Operations, 3)
	first := list.Operations[0]
	assert.Equal(t, []any{"GET /", "Server", 1, int64(2)}, []any{first.Name, first.Kind, first.Count, first.Samples})
	assert.InDelta(t, 25, first.Rate, 0.01, "one in 40 ms")
	assert.Equal(t, []uint64{uint64(40 * ms), uint64(10 * ms), uint64(30 * ms)}, []uint64{first.Total, first.Database, first.Own})
	assert.Equal(t, []catalog.SlowAnswer{{Trace: "00000000000000000000000000000007", Span: "0000000000000009", Duration: uint64(40 * ms)}}, first.Slowest)
	assert.Equal(t, 1, get[catalog.OperationsAnswer](h, "operations?service=shop&q=post").Count)

	graph := get[flameAnswer](h, "flame?service=shop&operation=GET+%2F")
	assert.Equal(t, int64(2), graph.Samples)
	assert.Equal(t, []string{"1"}, graph.Profiles, "only those with samples of it")
	assert.Equal(t, int64(1), get[flameAnswer](h, "flame?service=shop&operation=POST+%2F").Samples)
	_, stacks := h.request("/api/download/collapsed?service=shop&operation=GET+%2F&kind=Server")
	assert.Equal(t, 1, strings.Count(string(stacks), "\n"))

	for path, want := range map[string]int{
		"operations": http.StatusBadRequest, "operations?service=shop&sort=x": http.StatusBadRequest,
		"flame?service=shop&operation=none": http.StatusNotFound, "flame?service=shop&operation=GET+%2F&kind=Client": http.StatusNotFound,
	} {
		status, _ := h.fails(path)
		assert.Equal(t, want, status, path)
	}
}

// TestLinked: linked=1 selects the samples with a span.
func TestLinked(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	assert.Equal(t, int64(3), get[flameAnswer](h, "flame?profile=1&linked=1").Samples)
	assert.Equal(t, int64(3), get[flameAnswer](h, "flame?service=shop&linked=1&active=1").Samples)
	_, stacks := h.request("/api/download/collapsed?profile=1&linked=1")
	assert.Equal(t, 1, strings.Count(string(stacks), "\n"), "%s", stacks)
}

// TestDisplayNames: lists, traces and spans have the name that tells a span from others.
func TestDisplayNames(t *testing.T) {
	h := start(t, nil)
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	span := resource.ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetName("GET")
	span.SetKind(ptrace.SpanKindServer)
	span.SetTraceID(timelinetest.Trace(7))
	span.SetSpanID(timelinetest.Span(7))
	span.SetEndTimestamp(pcommon.Timestamp(timelinetest.Start))
	span.Attributes().PutStr("http.request.method", "GET")
	span.Attributes().PutStr("url.path", "/orders/42")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	h.addProfile("shop", shop...)

	const id, want = "00000000000000000000000000000007", "GET /orders/{id}"
	assert.Equal(t, want, get[catalog.TracesAnswer](h, "traces").Traces[0].Name)
	trace := get[traceAnswer](h, "traces/"+id)
	assert.Equal(t, []string{want, want}, []string{trace.Name, trace.SpanList[0].Name})
	detail := get[spanDetailAnswer](h, "traces/"+id+"/spans/0000000000000007")
	assert.Equal(t, []string{want, "GET"}, []string{detail.Name, detail.Reported})
	assert.Equal(t, want, get[profileAnswer](h, "profiles/1").SpanList[0].Name)
	assert.Equal(t, want, get[catalog.OperationsAnswer](h, "operations?service=shop").Operations[0].Name)
}

// TestMinified: graphs have the class of JVM methods, and state the weight of functions whose names
// a minifier assigned.
func TestMinified(t *testing.T) {
	h := start(t, nil)
	message := timelinetest.Message("shop", timelinetest.Wall, timelinetest.Sample{Thread: 1, Stack: "main;a", At: []time.Duration{0, 10 * ms}})
	d := message.Dictionary()
	attribute := func(key, value string) int32 {
		d.StringTable().Append(key)
		entry := d.AttributeTable().AppendEmpty()
		entry.SetKeyStrindex(int32(d.StringTable().Len() - 1))
		entry.Value().SetStr(value)
		return int32(d.AttributeTable().Len() - 1)
	}
	class, jvm := attribute("sentry.frame.module", "com.example.b"), attribute("profile.frame.type", "jvm")
	for _, location := range d.LocationTable().All() {
		location.AttributeIndices().Append(class, jvm)
	}
	h.consume(message)
	graph := get[flameAnswer](h, "flame?profile=1&q=b.a")
	var names []string
	for _, f := range graph.Frames {
		names = append(names, f.Name)
	}
	assert.ElementsMatch(t, []string{"b.main", "b.a"}, names)
	assert.Equal(t, graph.Total, graph.Minified)
	assert.Equal(t, graph.Total, *graph.Matched)
}

// TestOperationRecords: the errors and log records of an operation are those of its spans and of
// the spans below.
func TestOperationRecords(t *testing.T) {
	h := start(t, nil)
	h.addSpans("shop", 7, testSpan{9, 0, "GET /", 0, 40}, testSpan{7, 9, "query", 5, 15})
	h.addSpans("shop", 8, testSpan{8, 0, "POST /", 0, 20})
	h.addLog("shop", "below", 7, 7)
	h.addLog("shop", "other", 8, 8)
	h.addLog("shop", "no span", 0, 0)
	h.addLog("cart", "other service", 7, 7)
	failed := plog.NewLogs()
	for i, span := range []byte{7, 8} {
		resource := failed.ResourceLogs().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", "shop")
		record := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.Attributes().PutStr("exception.type", []string{"Below", "Other"}[i])
		record.SetTraceID(timelinetest.Trace(span))
		record.SetSpanID(timelinetest.Span(span))
	}
	require.NoError(t, h.logs.ConsumeLogs(t.Context(), failed))

	const get1 = "service=shop&operation=GET+/"
	errors := get[exceptions.ListAnswer](h, "errors?"+get1)
	require.Len(t, errors.Groups, 1)
	assert.Equal(t, "Below", errors.Groups[0].Type)
	logs := get[records.ListAnswer](h, "logs?"+get1)
	assert.Equal(t, 2, logs.Count, "with that of the error")
	assert.Equal(t, "below", logs.Records[0].Body)
	only := get[records.ListAnswer](h, "logs?entries=0&"+get1)
	assert.Equal(t, []int{2, 0}, []int{only.Count, len(only.Records)})
	list := get[catalog.OperationsAnswer](h, "operations?"+get1)
	require.Len(t, list.Operations, 1)
	assert.Equal(t, "GET /", list.Operations[0].Name)
	assert.Zero(t, get[records.ListAnswer](h, "logs?"+get1+"&kind=Client").Count)
}

// TestErrorOrigin: an error has its release, environment and SDK, the releases of its group, and
// the profile of its trace.
func TestErrorOrigin(t *testing.T) {
	h := start(t, nil)
	h.addRelease("shop", "2", "work", 7, 0)
	for i, release := range []string{"1", "2", "2"} {
		failed := plog.NewLogs()
		resource := failed.ResourceLogs().AppendEmpty()
		for key, value := range map[string]string{
			"service.name": "shop", "service.version": release, "deployment.environment.name": "test", "telemetry.sdk.name": "sentry.python", "telemetry.sdk.version": "2.75.0",
		} {
			resource.Resource().Attributes().PutStr(key, value)
		}
		record := resource.ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
		record.Attributes().PutStr("exception.type", "ValueError")
		record.SetTimestamp(pcommon.Timestamp(timelinetest.Start + 1000*i))
		record.SetTraceID(timelinetest.Trace(7))
		require.NoError(t, h.logs.ConsumeLogs(t.Context(), failed))
	}
	group := get[exceptions.ListAnswer](h, "errors").Groups[0].ID
	detail := get[exceptions.DetailAnswer](h, "errors/"+group)
	at := func(offset int) string { return fmt.Sprint(timelinetest.Start + offset) }
	assert.Equal(t, []exceptions.ReleaseErrorsAnswer{{Name: "2", Count: 2, First: at(1000), Last: at(2000)}, {Name: "1", Count: 1, First: at(0), Last: at(0)}}, detail.Releases)
	assert.Equal(t, []string{"2", "test", "sentry.python 2.75.0", "1"}, []string{detail.Error.Release, detail.Error.Environment, detail.Error.SDK, detail.Error.Profile})
}
