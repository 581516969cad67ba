// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/base64"
	"fmt"
	"maps"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromandroid"
)

// shortest are payloads of very many elements that say as little as they may: of the memory that an
// item takes they need the most.
func shortest(n int) map[string]struct {
	item    sentry.ItemType
	payload string
} {
	type item = struct {
		item    sentry.ItemType
		payload string
	}
	many := func(element string) string { return strings.Repeat(element+",", n-1) + element }
	numbered := func(format string) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	log := func(value string) item {
		return item{sentry.ItemLog, `{"items":[{"body":"x","attributes":{"k":` + value + `}}]}`}
	}
	event := func(members string) item { return item{sentry.ItemEvent, `{` + members + `}`} }
	v1 := func(profile, rest string) item {
		return item{sentry.ItemProfile, `{"version":"1","profile":{` + profile + `}` + rest + `}`}
	}
	const sample = `"samples":[{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":0}],"stacks":[[]]`
	indices := numbered("%d")
	return map[string]item{
		"lists":             log(`[` + many(`[]`) + `]`),
		"objects":           log(`[` + many(`{}`) + `]`),
		"objects of one":    log(`[` + many(`{"":0}`) + `]`),
		"numbers":           log(`[` + many(`0`) + `]`),
		"texts":             log(`[` + many(`""`) + `]`),
		"logs":              {sentry.ItemLog, `{"items":[` + many(`{"body":0}`) + `]}`},
		"attributes":        {sentry.ItemLog, `{"items":[` + many(`{"body":0,"attributes":{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0}}`) + `]}`},
		"spans":             {sentry.ItemSpan, `{"items":[` + many(`{"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8","start_timestamp":0}`) + `]}`},
		"spans of one":      {sentry.ItemTransaction, `{"contexts":{"profile":{"profiler_id":"x"}},"spans":[` + many(`{"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8","timestamp":0}`) + `]}`},
		"links":             {sentry.ItemSpan, `{"items":[{"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8","start_timestamp":0,"links":[` + many(`{"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8"}`) + `]}]}`},
		"gauges":            {sentry.ItemTraceMetric, `{"items":[` + many(`{"name":0,"type":"gauge","value":0}`) + `]}`},
		"counters":          {sentry.ItemTraceMetric, `{"items":[` + numbered(`{"name":%d,"type":"counter","value":0}`) + `]}`},
		"distributions":     {sentry.ItemTraceMetric, `{"items":[` + numbered(`{"name":%d,"type":"distribution","value":1}`) + `]}`},
		"aggregates":        {sentry.ItemSessions, `{"aggregates":[` + numbered(`{"started":%d,"exited":1}`) + `]}`},
		"lost events":       {sentry.ItemClientReport, `{"discarded_events":[` + numbered(`{"reason":%d,"quantity":1}`) + `]}`},
		"exceptions":        event(`"exception":[` + many(`{"type":0}`) + `]`),
		"frames of events":  event(`"exception":[{"stacktrace":{"frames":[` + many(`{}`) + `]}}]`),
		"threads of events": event(`"threads":[` + many(`{}`) + `]`),
		"breadcrumbs":       event(`"breadcrumbs":[` + many(`{}`) + `]`),
		"fingerprint":       event(`"fingerprint":[` + many(`""`) + `]`),
		"samples":           v1(`"samples":[`+many(`{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":0}`)+`],"stacks":[[]]`, ``),
		"threads":           v1(`"samples":[`+numbered(`{"elapsed_since_start_ns":1,"thread_id":"%d","stack_id":0}`)+`],"stacks":[[]]`, ``),
		"frames":            v1(`"samples":[{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":0}],"stacks":[[`+indices+`]],"frames":[`+numbered(`{"line":%d}`)+`]`, ``),
		"functions":         v1(`"samples":[{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":0}],"stacks":[[`+indices+`]],"frames":[`+numbered(`{"name":"%d"}`)+`]`, ``),
		"images":            v1(sample, `,"debug_meta":{"images":[`+strings.Repeat(`{"id":"a"},`, min(n, sentry.MaxImages)-1)+`{"id":"a"}]}`),
		"measurements":      v1(sample, `,"measurements":{"m":{"values":[`+many(`{"value":1}`)+`]}}`),
		"stacks":            v1(`"samples":[`+numbered(`{"elapsed_since_start_ns":1,"thread_id":"1","stack_id":%d}`)+`],"stacks":[`+numbered(`[%d,0]`)+`],"frames":[`+numbered(`{"line":%d}`)+`]`, ``),
	}
}

// translateAny decodes and translates a payload, and returns all that lives until it is delivered,
// and is the most that lives before.
func translateAny(t *testing.T, item sentry.ItemType, payload []byte) (alive []any) {
	keep := func(decoded any, err error, out ...any) {
		require.NoError(t, err)
		alive = append(append(alive, decoded), out...)
	}
	src := boundSource()
	switch item {
	case sentry.ItemLog:
		c, err := event.DecodeLogs(payload, jsonscan.Optional[int]{})
		keep(c, err, LogsToLogs(c, src))
	case sentry.ItemSpan:
		c, err := event.DecodeSpans(payload, jsonscan.Optional[int]{})
		keep(c, err, SpansToTraces(c, src))
	case sentry.ItemTransaction:
		transaction, err := event.DecodeTransaction(payload)
		keep(transaction, err, TransactionToTraces(transaction, src))
	case sentry.ItemTraceMetric:
		c, err := event.DecodeTraceMetrics(payload, jsonscan.Optional[int]{})
		keep(c, err, traceMetrics(c, src))
	case sentry.ItemSessions:
		s, err := event.DecodeSessions(payload)
		keep(s, err, SessionsToMetrics(s, src))
	case sentry.ItemClientReport:
		r, err := event.DecodeClientReport(payload)
		keep(r, err, ClientReportToMetrics(r, src))
	case sentry.ItemEvent:
		e, err := event.DecodeEvent(payload)
		keep(e, err, EventToLogs(e, src))
	case sentry.ItemProfile:
		d := new(profile.Decoder)
		p, err := d.Profile(payload)
		require.NoError(t, err)
		keep([]any{d, p}, err, ProfileToProfiles(p, src), ProfileMeasurementsToMetrics(p, src))
	}
	return alive
}

func itemOf(item sentry.ItemType, payload []byte) *sentry.Item {
	return &sentry.Item{Header: sentry.ItemHeader{Type: item}, Payload: payload}
}

// TestWeightOfTraces: no trace of Android takes more than three and a half times its weight, even
// if it has short records, short lines or no observations but those that are spare.
func TestWeightOfTraces(t *testing.T) {
	trace := arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: 66 * time.Second}
	lines := trace
	var calls, waits []arttrace.Event
	records := uint32(10_000)
	if testsize.Full() {
		records = 100_000
	}
	for i := range records {
		calls = append(calls, arttrace.Event{Thread: uint16(i % 7), Method: 4 * (i / 14 % 999), Action: arttrace.Action(i / 7 % 2), Wall: i * 600})
		lines.Methods = append(lines.Methods, arttrace.Method{ID: 4 * i, Class: "c"})
	}
	for i := range uint16(50) {
		waits = append(waits, arttrace.Event{Thread: i, Method: 4})
	}
	traces := map[string][]byte{
		"records": arttracetest.File(trace, calls), "lines": arttracetest.File(lines, waits), "spare": arttracetest.File(trace, waits),
	}
	if testsize.Full() {
		maps.Copy(traces, golden.AndroidTraces(t))
	}
	for name, data := range traces {
		payload := []byte(`{"platform":"android","sampled_profile":"` + base64.RawStdEncoding.EncodeToString(data) + `"}`)
		var before, after runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&before)
		c, err := new(profile.Decoder).Chunk(payload)
		require.NoError(t, err)
		read, err := fromandroid.MethodTrace(c.Android.MethodTrace, profile.NominalPeriod, attr.SpareObservations)
		require.NoError(t, err)
		out, _ := AndroidChunkToProfiles(c, read, Source{})
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&after)
		took, weight := int64(after.HeapAlloc)-int64(before.HeapAlloc), Weight(itemOf(sentry.ItemProfileChunk, payload))
		t.Logf("%s: %d bytes take %.1f times as many, %.2f times the weight", name, len(payload), float64(took)/float64(len(payload)), float64(took)/float64(weight))
		assert.LessOrEqual(t, took, 7*weight/2, name)
		runtime.KeepAlive([]any{c, read, out})
	}
}

// TestOrdinaryWeight: recorded items weigh a few times their payload, so that the budget of the
// receiver holds many of them.
func TestOrdinaryWeight(t *testing.T) {
	size, weight := map[sentry.ItemType]int64{}, map[sentry.ItemType]int64{}
	heaviest, most := "", int64(0)
	for name, item := range recordedItems(t) {
		kind, claim := item.Header.Type, claimOf(t, &item)
		size[kind] += int64(len(item.Payload))
		weight[kind] += claim - messageBytes
		if claim > most {
			heaviest, most = fmt.Sprintf("%s of %d bytes in %s", kind, len(item.Payload), name), claim
		}
	}
	for item := range size {
		t.Logf("%s: %.1f", item, float64(weight[item])/float64(size[item]))
		assert.LessOrEqual(t, weight[item], 30*size[item], item)
	}
	t.Logf("heaviest: %s, %d MiB", heaviest, most>>20)
}

// TestWeightOfEscapedTrace: a trace has the same weight with any spelling of its key that the
// decoder accepts.
func TestWeightOfEscapedTrace(t *testing.T) {
	const trace = `":"U0xPVw"}`
	plain := []byte(`{"sampled_profile` + trace)
	for _, key := range []string{`sampled\u005fprofile`, `\u0073ampled_profile`, `sampled_pro\u0066ile`, `sampled_profil\u0065`} {
		payload := []byte(`{"` + key + trace)
		chunk, err := new(profile.Decoder).Chunk(payload)
		require.NoError(t, err)
		require.Equal(t, "SLOW", string(chunk.Android.MethodTrace))
		difference := Weight(itemOf(sentry.ItemProfileChunk, payload)) - Weight(itemOf(sentry.ItemProfileChunk, plain))
		assert.Equal(t, fromandroid.Weight(int64(len(payload)))-fromandroid.Weight(int64(len(plain))), difference, key)
	}
	for _, ordinary := range []string{`{"profile":{}}`, `{"a":"sampled_profile, \u00e9"}`, `{"file":1}`} {
		assert.Less(t, Weight(itemOf(sentry.ItemProfileChunk, []byte(ordinary))), fromandroid.Weight(0), ordinary)
	}
}
