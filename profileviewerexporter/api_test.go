// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/answer"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/catalog"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/records"
)

// The span is of the trace with the same number in profiles of timelinetest.
const span7 = "trace=00000000000000000000000000000007&span=0000000000000007"

var shop = []timelinetest.Sample{
	{Thread: 1, Stack: "main;handle;libquery", Span: 7, At: []time.Duration{0, 10 * ms, 30 * ms}},
	{Thread: 1, Stack: "main;handle", At: []time.Duration{20 * ms}},
	{Thread: 1, At: []time.Duration{40 * ms}},
	{Thread: 2, Stack: "poll", At: []time.Duration{0, 40 * ms}},
}

func TestOverview(t *testing.T) {
	h := start(t, nil)
	assert.Equal(t, []catalog.ServiceAnswer{}, get[overviewAnswer](h, "overview").Services)

	h.addProfile("shop", shop...)
	h.addProfile("cart", shop[0])
	h.addSpans("shop", 7, testSpan{7, 9, "query", 5, 10}, testSpan{9, 0, "GET /", 0, 40})
	h.addLog("shop", "boom", 7, 7)
	h.addLog("mail", "sent", 0, 0)

	all := get[overviewAnswer](h, "overview")
	var services []string
	for _, s := range all.Services {
		services = append(services, fmt.Sprintln(s.Name, s.Profiles, "profiles", s.Traces, "traces", s.Errors, "errors", s.Logs, "logs"))
	}
	assert.Equal(t, "cart 1 profiles 0 traces 0 errors 0 logs\nmail 0 profiles 0 traces 0 errors 1 logs\nshop 1 profiles 1 traces 0 errors 1 logs\n", strings.Join(services, ""))
	require.Len(t, all.Profiles, 2)
	assert.Equal(t, "cart", all.Profiles[0].Service, "the newest first")
	p := all.Profiles[1]
	assert.Equal(t, fmt.Sprint(uint64(timelinetest.Start)), p.Start)
	assert.Equal(t, uint64(50*ms), p.Duration)
	assert.Equal(t, []int64{2, 7, int64(100 * ms), 1}, []int64{int64(p.Threads), p.Samples, p.Weight, int64(p.Spans)})
	assert.Equal(t, []string{"GET /"}, p.Traces)
	require.Len(t, all.Traces, 1)
	trace := all.Traces[0]
	assert.Equal(t, "GET /", trace.Name)
	assert.Equal(t, []int{2, 1, 2}, []int{trace.Spans, trace.Logs, trace.Profiles})
	assert.Equal(t, uint64(40*ms), trace.Duration)

	cart := get[overviewAnswer](h, "overview?service=cart")
	assert.Len(t, cart.Profiles, 1)
	assert.Empty(t, cart.Traces)
	assert.Len(t, cart.Services, 3, "to change to another")
}

// The page asks all the time, and nothing is sent when nothing has changed.
func TestOverviewIsSentWhenSomethingChanged(t *testing.T) {
	h := start(t, nil)
	first, _ := h.request("/api/overview")
	tag := first.Header.Get("ETag")
	require.NotEmpty(t, tag)
	same, body := h.request("/api/overview", "If-None-Match", tag)
	assert.Equal(t, http.StatusNotModified, same.StatusCode)
	assert.Empty(t, body)
	other, _ := h.request("/api/overview?service=x", "If-None-Match", tag)
	assert.Equal(t, http.StatusOK, other.StatusCode, "another question")
	h.addProfile("shop", shop...)
	changed, _ := h.request("/api/overview", "If-None-Match", tag)
	assert.Equal(t, http.StatusOK, changed.StatusCode)
	assert.NotEqual(t, tag, changed.Header.Get("ETag"))
}

func TestProfileDetail(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{7, 0, "query", 0, 10})
	p := get[profileAnswer](h, "profiles/1")
	assert.Equal(t, []answer.Attribute{{Key: "service.name", Value: "shop"}}, p.Resource)
	assert.Equal(t, []spanSamples{{
		Trace: "00000000000000000000000000000007", Span: "0000000000000007", Name: "query", Samples: 3, Weight: int64(30 * ms),
		Start: fmt.Sprint(uint64(timelinetest.Start)), Duration: uint64(10 * ms),
	}}, p.SpanList)
	require.Len(t, p.ThreadList, 2)
	main, worker := p.ThreadList[0], p.ThreadList[1]
	assert.Equal(t, "1 main", main.ID+" "+main.Name, "it ran a span")
	assert.Equal(t, []int64{int64(50 * ms), 0}, []int64{worker.Busy, worker.Idle})
	assert.Equal(t, []int64{int64(40 * ms), int64(10 * ms)}, []int64{main.Busy, main.Idle})
	var busy float64
	for _, step := range main.Activity {
		busy += float64(step) * float64(p.Duration) / activitySteps
	}
	assert.InDelta(t, float64(40*ms), busy, float64(time.Microsecond), "the activity is the busy time")

	status, text := h.fails("profiles/99")
	assert.Equal(t, http.StatusGone, status)
	assert.Contains(t, text, "no longer stored")
	status, _ = h.fails("profiles/x")
	assert.Equal(t, http.StatusBadRequest, status)
}

// draw writes boxes as depth, name, weight, self.
func draw(g graphAnswer) (list []string) {
	for _, b := range g.Boxes {
		name := map[int64]string{-1: "all", -2: "idle"}[b[3]]
		if b[3] >= 0 {
			name = g.Frames[b[3]].Name
		}
		list = append(list, fmt.Sprint(b[0], " ", name, " ", b[4]/1e6, " ", b[5]/1e6))
	}
	return list
}

func TestFlame(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)

	all := get[flameAnswer](h, "flame?profile=1")
	assert.Equal(t, []string{"0 all 90 0", "1 poll 50 50", "1 main 40 0", "2 handle 40 10", "3 libquery 30 30"}, draw(all.graphAnswer))
	assert.Equal(t, []int64{int64(90 * ms), int64(10 * ms), 6}, []int64{all.Total, all.Idle, all.Samples})
	assert.Equal(t, catalog.MeasureAnswer{Type: "wall", Unit: "nanoseconds"}, all.Measure)
	assert.False(t, *all.Frames[3].InApp)
	assert.Equal(t, "poll", all.Top[0].Name)
	assert.Equal(t, []int64{int64(50 * ms), int64(50 * ms)}, []int64{all.Top[0].Self, all.Top[0].Total})

	assert.Equal(t, []threadShare{{"2", "worker", int64(50 * ms)}, {"1", "main", int64(40 * ms)}}, all.Threads)

	main := get[flameAnswer](h, "flame?profile=1&thread=1")
	assert.Empty(t, main.Threads)
	assert.Equal(t, []string{"0 all 40 0", "1 main 40 0", "2 handle 40 10", "3 libquery 30 30"}, draw(main.graphAnswer))
	part := get[flameAnswer](h, "flame?profile=1&left=50000000&right=60000000")
	assert.Equal(t, []string{"0 all 90 0", "1 main 40 0", "2 handle 40 10", "3 libquery 30 30"}, draw(part.graphAnswer))
	assert.Equal(t, int64(50*ms), part.Boxes[1][1])
	assert.Empty(t, part.Top, "the page has them")
	coarse := get[flameAnswer](h, "flame?profile=1&pixels=2&q=LIBQ")
	assert.Equal(t, []string{"0 all 90 0", "1 poll 50 50", "1 main 40 40"}, draw(coarse.graphAnswer))
	assert.Equal(t, []int64{1, 1}, coarse.Boxes[2][6:8], "one function, in which something matches")
	assert.Equal(t, int64(30*ms), *coarse.Matched)

	late := get[flameAnswer](h, "flame?profile=1&thread=1&from=20000000&to=30000000")
	assert.Equal(t, int64(10*ms), late.Total)
	assert.Empty(t, get[flameAnswer](h, "flame?profile=1&thread=5").Top)

	for path, want := range map[string]string{
		"flame":                          "profile: is missing",
		"flame?profile=1&left=-1":        "left: \"-1\" is not a position",
		"flame?profile=1&left=2&right=1": "right: 1 must be greater than left, 2",
		"flame?profile=1&pixels=x":       "pixels:",
		"flame?profile=1&from=x":         "from:",
		"flame?profile=1&span=abc":       "trace:",
		"ordered?profile=1":              "thread: is missing",
		"frame?profile=1&frame=99":       "frame:",
	} {
		status, text := h.fails(path)
		assert.Equal(t, http.StatusBadRequest, status, path)
		assert.Contains(t, text, want, path)
	}
}

// The samples of a span, over all profiles that have some, and nothing else.
func TestViewsOfAGraph(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	inverted := get[flameAnswer](h, "flame?profile=1&view=inverted")
	assert.Equal(t, []string{"0 all 90 0", "1 poll 50 0", "1 libquery 30 0", "2 handle 30 0", "3 main 30 0", "1 handle 10 0", "2 main 10 0"},
		draw(inverted.graphAnswer))
	assert.Empty(t, inverted.Top, "the page has the lists of the selection")

	handle := -1
	for _, f := range get[flameAnswer](h, "flame?profile=1").Top {
		if f.Name == "handle" {
			handle = int(f.Number)
		}
	}
	callers := get[flameAnswer](h, fmt.Sprint("flame?profile=1&view=callers&function=", handle))
	assert.Equal(t, []string{"0 all 40 0", "1 handle 40 0", "2 main 40 0"}, draw(callers.graphAnswer))
	callees := get[flameAnswer](h, fmt.Sprint("flame?profile=1&view=callees&function=", handle))
	assert.Equal(t, []string{"0 all 40 0", "1 handle 40 10", "2 libquery 30 30"}, draw(callees.graphAnswer))
	none := get[flameAnswer](h, fmt.Sprint("flame?profile=1&thread=2&view=callees&function=", handle))
	assert.Zero(t, none.Total, "the thread does not call the function, but its number is the same")

	for query, want := range map[string]string{"view=upward": "use inverted, callers or callees", "view=callers&function=99": "is not a number below"} {
		status, text := h.fails("flame?profile=1&" + query)
		assert.Equal(t, http.StatusBadRequest, status)
		assert.Contains(t, text, want)
	}
}

// TestActive: active=1 omits the samples of threads that wait outside of spans, in graphs and
// downloads, and states how much they are.
func TestActive(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop",
		timelinetest.Sample{Thread: 1, Stack: "main;handle", At: []time.Duration{0}},
		timelinetest.Sample{Thread: 1, Stack: "main;libthreading.Condition.wait", Span: 7, At: []time.Duration{10 * ms, 20 * ms}},
		timelinetest.Sample{Thread: 2, Stack: "worker;java.lang.Object.wait", At: []time.Duration{0, 10 * ms, 20 * ms}},
		timelinetest.Sample{Thread: 3, Stack: "loop;wait", At: []time.Duration{0}},
	)
	all, active := get[flameAnswer](h, "flame?profile=1"), get[flameAnswer](h, "flame?profile=1&active=1")
	assert.Equal(t, int64(30*ms), active.Waiting)
	assert.Equal(t, all.Total-active.Waiting, active.Total)
	assert.Equal(t, all.Waiting, active.Waiting, "also where it is shown")
	assert.Len(t, active.Threads, 2)
	assert.Zero(t, get[flameAnswer](h, "flame?"+span7).Waiting, "a wait of a span is part of its time")

	_, stacks := h.request("/api/download/collapsed?profile=1&active=1")
	assert.NotContains(t, string(stacks), "java.lang.Object.wait")
	assert.Contains(t, string(stacks), "loop;wait", "a function of the application")
}

func TestFlameOfASpan(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addProfile("shop", timelinetest.Sample{Thread: 1, Stack: "main;other", Span: 8, At: []time.Duration{0}})
	h.addProfile("shop", timelinetest.Sample{Thread: 3, Stack: "main;more", Span: 7, At: []time.Duration{0}})

	span := get[flameAnswer](h, "flame?"+span7)
	assert.Equal(t, []string{"1", "3"}, span.Profiles)
	assert.Equal(t, []string{"0 all 40 0", "1 main 40 0", "2 handle 30 0", "3 libquery 30 30", "2 more 10 10"}, draw(span.graphAnswer))
	one := get[flameAnswer](h, "flame?profile=3&"+span7)
	assert.Equal(t, int64(10*ms), one.Total)

	status, _ := h.fails("flame?trace=00000000000000000000000000000001&span=0000000000000001")
	assert.Equal(t, http.StatusNotFound, status)
}

func TestOrdered(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	o := get[orderedAnswer](h, "ordered?profile=1&thread=1")
	assert.Equal(t, []string{"0 all 40 0", "1 main 40 0", "2 handle 40 10", "3 libquery 20 20", "3 libquery 10 10", "1 idle 0 0"}, draw(o.graphAnswer))
	assert.Equal(t, []uint64{0, uint64(50 * ms)}, []uint64{o.From, o.To})
	zoomed := get[orderedAnswer](h, "ordered?profile=1&thread=1&from=30000000")
	assert.Equal(t, []string{"0 all 10 0", "1 main 10 0", "2 handle 10 0", "3 libquery 10 10", "1 idle 0 0"}, draw(zoomed.graphAnswer))
}

func TestFrameDetail(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{7, 0, "query", 0, 10})
	graph := get[flameAnswer](h, "flame?profile=1")
	for _, f := range graph.Frames {
		if f.Name != "handle" {
			continue
		}
		d := get[detailAnswer](h, fmt.Sprintf("frame?profile=1&frame=%d", f.Number))
		assert.Equal(t, "handle /app/handle.py", d.Name+" "+d.File)
		assert.Equal(t, []int64{int64(10 * ms), int64(40 * ms), 4, int64(10 * ms)}, []int64{d.Self, d.Total, d.Samples, d.Unlinked})
		assert.Equal(t, []lineAnswer{{Line: 20, Column: 3, Self: int64(10 * ms), Total: int64(40 * ms)}}, d.Lines)
		require.Len(t, d.Spans, 1)
		assert.Equal(t, "query", d.Spans[0].Name)
		assert.Equal(t, int64(30*ms), d.Spans[0].Weight)
		assert.Equal(t, []valuesAnswer{{Key: "sentry.frame.in_app", Values: []string{"true"}}}, d.Attributes)
		return
	}
	t.Fatal("no such frame")
}

// Symbolicated functions are shown with their names, or as the profiler reported them.
func TestRawNames(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	assert.False(t, get[flameAnswer](h, "flame?profile=1").Symbolicated)

	message := timelinetest.Message("shop", timelinetest.Wall, shop...)
	b := dictionary.NewEditor(message.Dictionary())
	for _, l := range message.Dictionary().LocationTable().All() {
		if l.Lines().Len() > 0 { // each has a function of its own
			f := message.Dictionary().FunctionTable().At(int(l.Lines().At(0).FunctionIndex()))
			if name := message.Dictionary().StringTable().At(int(f.NameStrindex())); name == "handle" {
				l.AttributeIndices().Append(int32(b.AttrString("symbolication.status", "ok")), int32(b.AttrString("sentry.frame.raw_function", "h")),
					int32(b.AttrInt("sentry.frame.raw_column", 17)))
			}
		}
	}
	h.consume(message)
	named, raw := get[flameAnswer](h, "flame?profile=2"), get[flameAnswer](h, "flame?profile=2&raw=1")
	assert.True(t, named.Symbolicated)
	assert.True(t, raw.Symbolicated)
	assert.Equal(t, []string{"0 all 90 0", "1 poll 50 50", "1 main 40 0", "2 handle 40 10", "3 libquery 30 30"}, draw(named.graphAnswer))
	assert.Equal(t, []string{"0 all 90 0", "1 poll 50 50", "1 main 40 0", "2 h 40 10", "3 libquery 30 30"}, draw(raw.graphAnswer))
	for _, f := range raw.Frames {
		if f.Name == "h" {
			assert.Equal(t, int64(17), get[detailAnswer](h, fmt.Sprintf("frame?profile=2&raw=1&frame=%d", f.Number)).Lines[0].Column)
		}
	}
}

func TestTrace(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	h.addSpans("shop", 7, testSpan{2, 1, "second", 20, 30}, testSpan{7, 1, "query", 5, 10}, testSpan{1, 0, "GET /", 0, 40})
	h.addSpans("db", 7, testSpan{3, 7, "SELECT", 6, 9}, testSpan{4, 99, "lost", 7, 8})
	h.addSpans("shop", 8, testSpan{5, 0, "another trace", 0, 1})
	h.addLog("shop", "boom", 7, 7)
	const id = "00000000000000000000000000000007"

	trace := get[traceAnswer](h, "traces/"+id)
	var lines []string
	for _, s := range trace.SpanList {
		lines = append(lines, fmt.Sprint(s.Depth, " ", s.Name, " ", s.Service, " ", s.Start/1e6, "+", s.Duration/1e6, " ", s.Samples))
	}
	assert.Equal(t, []string{
		"0 GET / shop 0+40 0", "1 query shop 5+5 3", "2 SELECT db 6+3 0", "1 second shop 20+10 0", "0 lost db 7+1 0",
	}, lines)
	require.Len(t, trace.LogList, 1)
	assert.Equal(t, "boom ERROR 0000000000000007", trace.LogList[0].Body+" "+trace.LogList[0].Severity+" "+trace.LogList[0].Span)
	assert.Equal(t, []answer.Attribute{{Key: "db.system", Value: "sqlite"}}, get[spanDetailAnswer](h, "traces/"+id+"/spans/0000000000000007").Attributes)
	// What the waterfall says of a span is what its flame graph shows.
	assert.Equal(t, get[flameAnswer](h, "flame?"+span7).Total, trace.SpanList[1].Weight)

	_, body := h.request("/api/download/otlp?trace=" + id)
	traces, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(body)
	require.NoError(t, err)
	assert.Equal(t, 5, traces.SpanCount())
	assert.Len(t, get[records.ListAnswer](h, "logs").Records, 1)
	assert.Empty(t, get[records.ListAnswer](h, "logs?service=db").Records)
	for _, path := range []string{"traces/00000000000000000000000000000099", "traces/" + id + "/spans/0000000000000099"} {
		status, _ := h.fails(path)
		assert.Equal(t, http.StatusGone, status)
	}
}

// Spans that are each other's parents are drawn, once.
func TestTraceThatIsACircle(t *testing.T) {
	h := start(t, nil)
	h.addSpans("shop", 7, testSpan{1, 2, "a", 0, 1}, testSpan{2, 1, "b", 0, 1}, testSpan{3, 3, "c", 0, 1}, testSpan{1, 0, "a again", 0, 1})
	trace := get[traceAnswer](h, "traces/00000000000000000000000000000007")
	assert.Len(t, trace.SpanList, 4)
}

func TestDownloads(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)

	response, body := h.request("/api/download/pprof?" + span7)
	assert.Equal(t, `attachment; filename="shop-20231114T221320.pb.gz"`, response.Header.Get("Content-Disposition"))
	p, err := profile.ParseData(body)
	require.NoError(t, err)
	require.Len(t, p.Sample, 1)
	assert.Equal(t, []int64{3, int64(30 * ms)}, p.Sample[0].Value, "of the selection only")

	_, body = h.request("/api/download/speedscope?profile=1&thread=2")
	var scope struct {
		Profiles []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(body, &scope))
	require.Len(t, scope.Profiles, 1)
	assert.Equal(t, "worker (thread 2)", scope.Profiles[0].Name)

	_, body = h.request("/api/download/otlp?profile=1")
	sent, err := (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(body)
	require.NoError(t, err)
	assert.Equal(t, 4, sent.SampleCount())
	assert.True(t, bytes.Contains(body, []byte("libquery")))
	for selection, samples := range map[string]int{"profile=1&thread=2": 1, span7: 1, "service=shop": 4, "profile=1&from=0&to=10000000": 2} {
		_, body = h.request("/api/download/otlp?" + selection)
		sent, err := (&pprofile.JSONUnmarshaler{}).UnmarshalProfiles(body)
		require.NoError(t, err, "%s", body)
		assert.Equal(t, samples, sent.SampleCount(), selection)
		service, _ := sent.ResourceProfiles().At(0).Resource().Attributes().Get("service.name")
		assert.Equal(t, "shop", service.Str())
	}

	h.addSpans("shop", 7, testSpan{7, 0, "GET /orders/{id}", 0, 40})
	for path, want := range map[string]string{
		"pprof?" + span7:      "shop-GET-orders-id-20231114T221320.pb.gz",
		"collapsed?profile=1": "shop-GET-orders-id-20231114T221320.collapsed.txt",
		"firefox?service=shop&operation=GET+/orders/{id}": "shop-GET-orders-id-20231114T221320.firefox.json",
		"otlp?trace=00000000000000000000000000000007":     "shop-GET-orders-id-20231114T221320.otlp.json",
	} {
		response, body := h.request("/api/download/" + path)
		assert.Equal(t, fmt.Sprintf("attachment; filename=%q", want), response.Header.Get("Content-Disposition"), "%s", body)
	}
	assert.Equal(t, strings.Repeat("x", maxNamePart)+"-19700101T000000", nameOfFile("../../", strings.Repeat("x", 300), 0))

	status, _ := h.fails("download/perf?profile=1")
	assert.Equal(t, http.StatusNotFound, status)
}

// TestSharesOfASelection: parts of a selection are not larger than the selection, even where the
// profile has more: a thread that did not run the span, and a range of the time.
func TestSharesOfASelection(t *testing.T) {
	h := start(t, nil)
	h.addProfile("shop", shop...)
	for query, span := range map[string]time.Duration{"profile=1": 30 * ms, "profile=1&thread=1": 30 * ms, "profile=1&thread=2": 0,
		"profile=1&from=0&to=10000000": 10 * ms, "profile=1&from=20000000&to=30000000": 0} {
		graph := get[flameAnswer](h, "flame?"+query)
		all := graph.Total + graph.Idle
		var spans int64
		for _, s := range graph.Spans {
			spans += s.Weight
		}
		assert.Equal(t, int64(span), spans, query)
		assert.LessOrEqual(t, spans, all, query)
		for _, f := range graph.Top {
			assert.LessOrEqual(t, f.Total, graph.Total, query)
			d := get[detailAnswer](h, fmt.Sprintf("frame?%s&frame=%d", query, f.Number))
			assert.Equal(t, []int64{f.Self, f.Total, graph.Total}, []int64{d.Self, d.Total, d.Of}, query)
			for _, s := range d.Spans {
				assert.LessOrEqual(t, s.Weight, d.Total, query)
			}
		}
		for _, b := range graph.Boxes {
			assert.LessOrEqual(t, b[4], graph.Total, query)
		}
	}
}
