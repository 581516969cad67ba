// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

// causesOf returns the causes of a graph as text.
func causesOf(h *harness, query string) (list []string) {
	for _, c := range get[flameAnswer](h, "flame?active=1&"+query).Causes {
		text := fmt.Sprint(c.Kind, " ", c.Name)
		if c.Wait != "" {
			text += " in " + c.Wait
		}
		if c.Estimated {
			text += " ≈"
		}
		list = append(list, fmt.Sprint(text, " ", time.Duration(c.Weight), " ", c.Operation))
	}
	return list
}

// TestCauses: a function counts with the library functions that it calls, a wait with the function
// that waits, and a call to a database or a service with all samples in it. Calls without samples
// count, too.
func TestCauses(t *testing.T) {
	h := start(t, nil)
	at := func(from, count int) (times []time.Duration) {
		for i := range count {
			times = append(times, time.Duration(from+i)*10*ms)
		}
		return times
	}
	h.addProfile("shop",
		timelinetest.Sample{Thread: 1, Stack: "main;hog;libjson", Span: 7, At: at(0, 30)},
		timelinetest.Sample{Thread: 1, Stack: "main;hog", Span: 7, At: at(30, 10)},
		timelinetest.Sample{Thread: 1, Stack: "main;load;libdriver", Span: 9, At: at(40, 25)},
		timelinetest.Sample{Thread: 1, Stack: "main;reserve;java.util.concurrent.locks.LockSupport.park", Span: 7, At: at(65, 20)},
		timelinetest.Sample{Thread: 2, Stack: "main;java.lang.Object.wait", At: at(0, 90)},
		timelinetest.Sample{Thread: 1, Stack: "liblonely", At: at(85, 5)},
		timelinetest.Sample{Thread: 3, Stack: "read_input", At: at(0, 90)},
	)
	span := func(id, parent byte, name string, kind ptrace.SpanKind, from, to uint64, key string) {
		spans := spansOf("shop", 7, testSpan{id, parent, name, from, to})
		one := spans.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		one.SetKind(kind)
		one.SetTraceID(timelinetest.Trace(id))
		if parent != 0 {
			one.SetTraceID(timelinetest.Trace(parent))
		}
		one.Attributes().Clear()
		if key != "" {
			one.Attributes().PutStr(key, "x")
		}
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), spans))
	}
	span(7, 0, "GET /", ptrace.SpanKindServer, 0, 900, "")
	span(9, 0, "SELECT orders", ptrace.SpanKindClient, 400, 650, "db.system")
	span(8, 7, "bank.Charge/Pay", ptrace.SpanKindClient, 0, 300, "rpc.system")
	assert.Equal(t, []string{
		"function hog 400ms GET /",
		"remote bank.Charge/Pay ≈ 300ms GET /",
		"database SELECT orders 250ms ",
		"wait reserve in java.util.concurrent.locks.LockSupport.park 200ms GET /",
		"function read_input 900ms ",
		"function liblonely 50ms ",
	}, causesOf(h, "service=shop"))
	assert.Equal(t, []string{
		"function hog 400ms GET /", "wait reserve in java.util.concurrent.locks.LockSupport.park 200ms GET /",
	}, causesOf(h, "service=shop&operation=GET+/"), "the samples of the operation")
	assert.Empty(t, causesOf(h, "service=shop&hide=0"))

	graph := get[flameAnswer](h, "flame?service=shop")
	for _, c := range graph.Causes {
		if c.Name == "hog" {
			detail := get[detailAnswer](h, fmt.Sprint("frame?service=shop&frame=", *c.Number))
			assert.Equal(t, []any{"hog", int64(20)}, []any{detail.Name, c.Line})
		}
	}
}
