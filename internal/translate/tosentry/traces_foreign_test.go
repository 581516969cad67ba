// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// otelTraces returns spans of an OpenTelemetry SDK: a request, a query in it, and a span with a
// remote parent.
func otelTraces() ptrace.Traces {
	out := ptrace.NewTraces()
	resource := out.ResourceSpans().AppendEmpty()
	for key, value := range map[string]string{
		"service.name": "shop", "service.version": "1.2", "deployment.environment.name": "prod", "telemetry.sdk.name": "opentelemetry",
		"telemetry.sdk.version": "1.40", "telemetry.sdk.language": "go", "os.name": "Linux", "host.arch": "amd64", "k8s.pod.name": "shop-1",
	} {
		resource.Resource().Attributes().PutStr(key, value)
	}
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	add := func(id, parent byte, name string, kind ptrace.SpanKind) ptrace.Span {
		s := spans.AppendEmpty()
		s.SetTraceID(pcommon.TraceID{1})
		s.SetSpanID(pcommon.SpanID{id})
		if parent != 0 {
			s.SetParentSpanID(pcommon.SpanID{parent})
		}
		s.SetName(name)
		s.SetKind(kind)
		s.SetStartTimestamp(someTime)
		s.SetEndTimestamp(someTime + 250_000_000)
		return s
	}
	query := add(2, 1, "SELECT cart", ptrace.SpanKindClient)
	query.Attributes().PutStr("db.system.name", "postgresql")
	query.Attributes().PutStr("db.query.text", "SELECT * FROM cart")
	query.Status().SetCode(ptrace.StatusCodeError)
	query.Status().SetMessage("connection reset")
	event := query.Events().AppendEmpty()
	event.SetName("exception")
	event.SetTimestamp(someTime + 1_000_000)
	event.Attributes().PutStr("exception.type", "*net.OpError")
	event.Attributes().PutStr("exception.message", "reset")

	root := add(1, 9, "GET /cart/{id}", ptrace.SpanKindServer) // its parent is in the browser
	root.Attributes().PutStr("http.request.method", "GET")
	root.Attributes().PutStr("http.route", "/cart/{id}")
	root.Attributes().PutStr("url.full", "http://shop/cart/7")
	root.Attributes().PutInt("http.response.status_code", 404)
	root.Attributes().PutStr("user.id", "42")
	root.Attributes().PutInt("thread.id", 7)
	link := root.Links().AppendEmpty()
	link.SetTraceID(pcommon.TraceID{3})
	link.SetSpanID(pcommon.SpanID{4})

	add(5, 8, "late", ptrace.SpanKindInternal).Attributes().PutDouble("ratio", 1)
	return out
}

func TestOTelSpansInWords(t *testing.T) {
	o := exportOptions
	o.Profiled = true
	out := TracesToTransactions(otelTraces(), o)
	require.Empty(t, out.Lost)
	require.Len(t, out.Items, 2)
	for i := range out.Items {
		require.Empty(t, ingestSpansVerdict(&out.Items[i]))
	}
	profiler := attr.ProfilerSession(otelTraces().ResourceSpans().At(0).Resource().Attributes(), nil, true)
	transaction, container := &out.Items[0], &out.Items[1]
	requireMembers(t, `{"type":"transaction","event_id":"`+transaction.EventID+`","transaction":"GET /cart/{id}","transaction_info":{"source":"route"},
		"start_timestamp":1777629600,"timestamp":1777629600.25,"platform":"go","release":"shop@1.2","environment":"prod",
		"sdk":{"name":"opentelemetry","version":"1.40"},"user":{"id":"42"},"request":{"url":"http://shop/cart/7","method":"GET"},
		"breadcrumbs":{"values":[{"timestamp":1777629600.001,"type":"error","category":"exception","level":"error","message":"*net.OpError: reset",
			"data":{"exception.type":"*net.OpError","exception.message":"reset","span_id":"0200000000000000"}}]},
		"contexts":{"trace":{"trace_id":"01000000000000000000000000000000","span_id":"0100000000000000","parent_span_id":"0900000000000000",
			"op":"http.server","status":"not_found","origin":"auto.otel",
			"data":{"http.request.method":"GET","http.route":"/cart/{id}","url.full":"http://shop/cart/7","http.response.status_code":404,
				"sentry.kind":"server","thread.id":"7"},
			"links":[{"trace_id":"03000000000000000000000000000000","span_id":"0400000000000000","sampled":false}]},
			"profile":{"profiler_id":"`+profiler+`"},"device":{"arch":"amd64"},"os":{"name":"Linux"},
			"otel":{"resource":{"service.name":"shop","service.version":"1.2","deployment.environment.name":"prod","telemetry.sdk.language":"go","k8s.pod.name":"shop-1"}}},
		"spans":[{"start_timestamp":1777629600,"timestamp":1777629600.25,"trace_id":"01000000000000000000000000000000","span_id":"0200000000000000",
			"parent_span_id":"0100000000000000","op":"db","description":"SELECT * FROM cart","status":"internal_error","origin":"auto.otel",
			"data":{"db.system.name":"postgresql","db.query.text":"SELECT * FROM cart","sentry.kind":"client","sentry.status.message":"connection reset",
				"sentry.name":"SELECT cart","thread.id":"0"}}]}`, string(transaction.Payload))

	require.Equal(t, "01000000000000000000000000000000", container.Trace.TraceID)
	requireMembers(t, `{"items":[{"trace_id":"01000000000000000000000000000000","span_id":"0500000000000000","parent_span_id":"0800000000000000",
		"name":"late","status":"ok","is_segment":false,"start_timestamp":1777629600,"end_timestamp":1777629600.25,"attributes":{
			"ratio":{"type":"double","value":1.0},"sentry.profiler_id":{"type":"string","value":"`+profiler+`"},
			"thread.id":{"type":"string","value":"0"},"sentry.op":{"type":"string","value":"default"},"sentry.origin":{"type":"string","value":"auto.otel"},
			"sentry.kind":{"type":"string","value":"internal"},"sentry.release":{"type":"string","value":"shop@1.2"},
			"sentry.environment":{"type":"string","value":"prod"},"sentry.platform":{"type":"string","value":"go"},
			"sentry.sdk.name":{"type":"string","value":"opentelemetry"},"sentry.sdk.version":{"type":"string","value":"1.40"}}}]}`, string(container.Payload))
}

// requireMembers fails if a JSON document lacks a value. Its objects may have further members, so
// that a new field does not change the tests of the others.
func requireMembers(t *testing.T, want, got string) {
	t.Helper()
	var w, g any
	require.NoError(t, json.Unmarshal([]byte(want), &w))
	require.NoError(t, json.Unmarshal([]byte(got), &g))
	compareMembers(t, "", w, g)
}

func compareMembers(t *testing.T, path string, want, got any) {
	t.Helper()
	switch w := want.(type) {
	case map[string]any:
		g, _ := got.(map[string]any)
		for name, member := range w {
			require.Contains(t, g, name, path)
			compareMembers(t, path+"/"+name, member, g[name])
		}
	case []any:
		g, _ := got.([]any)
		require.Len(t, g, len(w), path)
		for i := range w {
			compareMembers(t, fmt.Sprint(path, "/", i), w[i], g[i])
		}
	default:
		require.Equal(t, want, got, path)
	}
}

// TestStatusNames: all statuses that ingest stores, and no others.
func TestStatusNames(t *testing.T) {
	for _, test := range []struct {
		code          ptrace.StatusCode
		message       string
		http, grpc    int64
		foreign, sent string // from a span of OpenTelemetry, and from one of Sentry
	}{
		{ptrace.StatusCodeUnset, "", 0, 0, "ok", ""},
		{ptrace.StatusCodeUnset, "", 404, 0, "not_found", ""},
		{ptrace.StatusCodeOk, "", 500, 0, "ok", "ok"},
		{ptrace.StatusCodeError, "unknown", 0, 0, "unknown", "unknown"},
		{ptrace.StatusCodeError, "deadline_exceeded", 500, 0, "deadline_exceeded", "deadline_exceeded"},
		{ptrace.StatusCodeError, "boom", 503, 0, "unavailable", "unavailable"},
		{ptrace.StatusCodeError, "boom", 418, 0, "invalid_argument", "invalid_argument"},
		{ptrace.StatusCodeError, "", 0, 2, "unknown", "unknown"},
		{ptrace.StatusCodeError, "boom", 0, 0, "internal_error", "internal_error"},
	} {
		s := ptrace.NewSpan()
		s.Status().SetCode(test.code)
		s.Status().SetMessage(test.message)
		if test.http != 0 {
			s.Attributes().PutInt("http.response.status_code", test.http)
		}
		if test.grpc != 0 {
			s.Attributes().PutInt("rpc.grpc.status_code", test.grpc)
		}
		require.Equal(t, test.foreign, StatusName(s, false), test)
		require.Equal(t, test.sent, StatusName(s, true), test)
	}
}

// TestValuesThereAndBack: values keep their types, and values that JSON cannot represent become
// text.
func TestValuesThereAndBack(t *testing.T) {
	for text, want := range map[string]string{
		`"a\"b"`: `"a\"b"`, `true`: `true`, `1`: `1`, `1.0`: `1.0`, `-2.5e-9`: `-2.5e-09`, `1e300`: `1e+300`, `[1,"x",[]]`: `[1,"x",[]]`,
		`{"b":1,"a":{}}`: `{"b":1,"a":{}}`, `null`: `null`, `18446744073709551616`: `"18446744073709551616"`,
	} {
		value := pcommon.NewValueEmpty()
		attr.SetJSON(value, []byte(text))
		require.Equal(t, want, string(attr.JsonOf(value)))
		again := pcommon.NewValueEmpty()
		attr.SetJSON(again, attr.JsonOf(value))
		require.True(t, value.Equal(again), text)
	}
	require.Equal(t, `"NaN"`, string(attr.JsonOf(pcommon.NewValueDouble(math.NaN()))))
	deep := pcommon.NewValueEmpty()
	at := deep
	for range 100 {
		at = at.SetEmptySlice().AppendEmpty()
	}
	require.JSONEq(t, strings.Repeat("[", attr.MaxValueDepth)+"null"+strings.Repeat("]", attr.MaxValueDepth), string(attr.JsonOf(deep)))
}

// TestOneProfilerForBoth: profiles and traces of a process get the same profiler ID, although they
// are exported separately.
func TestOneProfilerForBoth(t *testing.T) {
	traces := otelTraces()
	for _, clock := range []string{"cpu", "wall"} {
		f := newForeign("samples", "count", clock, 10_000_000)
		f.ResourceProfiles().At(0).Resource().Attributes().PutStr("k8s.pod.name", "shop-1")
		f.sample("go", "main.a", "", 7, []uint64{0, 10_000_000}, nil)
		f.b.Finish()
		for _, attributes := range [][]string{nil, {"service.name", "service.version"}} {
			o := exportOptions
			o.Profiled, o.ProfilerIDAttributes, o.WallSessions = true, attributes, clock == "wall"
			profiles := ProfilesToChunks(f.Profiles, o)
			require.Equal(t, attr.Clocks{CPU: clock == "cpu", Wall: clock == "wall"}, profiles.Clocks)
			profiler := sessionsOf(profiles)[0]
			require.NotEmpty(t, profiler)
			require.Contains(t, string(TracesToTransactions(traces, o).Items[0].Payload), `"profile":{"profiler_id":"`+profiler+`"}`)
		}
	}
	require.NotContains(t, string(TracesToTransactions(traces, exportOptions).Items[0].Payload), "profiler_id", "no profiles, no link to them")
}

// sessionsOf returns the profiler IDs of the chunks of an export.
func sessionsOf(out Export) (ids []string) {
	for _, item := range out.Items {
		ids = append(ids, fakesentry.ID.FindString(strings.Split(strings.Split(string(item.Payload), `"profiler_id":"`)[1], `"`)[0]))
	}
	return ids
}

// TestSessionsOfProcesses: different processes, services or replicas never share a profiler
// session, and neither do the CPU and wall-clock profiles of one process.
func TestSessionsOfProcesses(t *testing.T) {
	of := func(clock string, attributes ...string) string {
		f := newForeign("samples", "count", clock, 10_000_000)
		resource := f.ResourceProfiles().At(0).Resource().Attributes()
		for i := 0; i < len(attributes); i += 2 {
			resource.PutStr(attributes[i], attributes[i+1])
		}
		f.sample("go", "main.a", "", 7, []uint64{0, 10_000_000}, nil)
		f.b.Finish()
		return sessionsOf(ProfilesToChunks(f.Profiles, exportOptions))[0]
	}
	one := []string{"host.name", "a", "process.pid", "1", "process.executable.name", "shop"}
	require.Equal(t, of("cpu", one...), of("cpu", append(one, "telemetry.sdk.language", "go")...), "what says nothing of the process")
	seen := map[string][]string{}
	for _, attributes := range [][]string{
		nil, one,
		{"host.name", "b", "process.pid", "1", "process.executable.name", "shop"},
		{"host.name", "a", "process.pid", "2", "process.executable.name", "shop"},
		{"host.name", "a", "process.pid", "1", "process.executable.name", "cart"},
		{"host.name", "a", "process.pid", "1", "process.executable.name", "shop", "service.name", "cart"},
		{"host.name", "a", "process.pid", "1", "process.executable.name", "shop", "service.namespace", "test"},
		{"host.name", "a", "process.pid", "1", "process.executable.name", "shop", "container.id", "c"},
		{"host.name", "a", "process.pid", "1", "process.executable.name", "shop", "container.id", "d"},
		{"k8s.pod.name", "shop-1"}, {"k8s.pod.name", "shop-2"}, {"k8s.pod.uid", "1"}, {"host.id", "1"}, {"process.executable.path", "/shop"},
		{"service.instance.id", "1"}, {"service.instance.id", "2"},
	} {
		for _, clock := range []string{"cpu", "wall"} {
			id := of(clock, attributes...)
			require.Empty(t, seen[id], "%s of %v", clock, attributes)
			seen[id] = append([]string{clock}, attributes...)
		}
	}
	require.Equal(t, of("cpu", "service.instance.id", "1", "host.name", "a"), of("cpu", "service.instance.id", "1", "host.name", "b"),
		"an instance is a process, wherever it runs")
}

// TestV1IsASession: a V1 profile and its transaction are correlated by the ID of the profile.
func TestV1IsASession(t *testing.T) {
	d := profile.AcquireDecoder()
	defer d.Release()
	p, err := d.Profile(golden.Payload(t, "sdk-python-v1", sentry.ItemProfile))
	require.NoError(t, err)
	sent, err := event.DecodeTransaction(golden.Payload(t, "sdk-python-v1", sentry.ItemTransaction))
	require.NoError(t, err)
	src := fromsentry.Source{ProjectID: "1", PeriodType: "wall", ProfileID: p.EventID}
	chunk := ProfilesToChunks(fromsentry.ProfileToProfiles(p, src), exportOptions).Items[0]
	transaction := TracesToTransactions(fromsentry.TransactionToTraces(sent, src), exportOptions).Items[0]
	require.Contains(t, string(chunk.Payload), `"profiler_id":"`+p.EventID+`"`)
	require.Contains(t, string(transaction.Payload), `"profile":{"profiler_id":"`+p.EventID+`"}`)
}

// TestLargeTransaction: spans that exceed the limit of a transaction are sent in containers, and
// nothing is lost.
func TestLargeTransaction(t *testing.T) {
	traces := otelTraces()
	spans := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := range 2400 {
		s := spans.AppendEmpty()
		spans.At(0).CopyTo(s)
		s.SetSpanID(pcommon.SpanID{7, byte(i >> 8), byte(i)})
		s.Events().RemoveIf(func(ptrace.SpanEvent) bool { return true })
		s.Attributes().PutStr("long", strings.Repeat("x", 1000))
	}
	out := TracesToTransactions(traces, exportOptions)
	require.Empty(t, out.Lost)
	seen := map[spanInItem]bool{}
	for i := range out.Items {
		require.Empty(t, ingestSpansVerdict(&out.Items[i]))
		for _, span := range spansIn(&out.Items[i]) {
			require.False(t, seen[span], "sent twice")
			seen[span] = true
		}
	}
	require.Len(t, seen, 2403)
	require.Greater(t, out.Items[0].Count, 450)
	require.Len(t, out.Items, 3, "a transaction, and two containers: of 1000 spans at most")
}

// randomTraces returns spans in all kinds of relations: roots, children, cycles, duplicate IDs, and
// missing IDs and times.
func randomTraces(r *rand.Rand) ptrace.Traces {
	out := ptrace.NewTraces()
	for range 1 + r.IntN(2) {
		resource := out.ResourceSpans().AppendEmpty()
		maybe(r, func() { resource.Resource().Attributes().PutStr(pick(r, "service.name", "sentry.project_id"), "x") })
		for range 1 + r.IntN(2) {
			scope := resource.ScopeSpans().AppendEmpty()
			for range r.IntN(8) {
				randomSpan(r, scope.Spans().AppendEmpty())
			}
		}
	}
	return out
}

func randomSpan(r *rand.Rand, s ptrace.Span) {
	s.SetTraceID(pcommon.TraceID{15: byte(r.IntN(3))})
	s.SetSpanID(pcommon.SpanID{7: byte(r.IntN(6))})
	s.SetParentSpanID(pcommon.SpanID{7: byte(r.IntN(6))})
	s.SetFlags(pick[uint32](r, 0, 1, 0x100, 0x301))
	s.SetKind(ptrace.SpanKind(r.IntN(7)))
	s.SetName(pick(r, "", "GET", "\xff\x00"))
	s.SetStartTimestamp(pick[pcommon.Timestamp](r, 0, someTime, someTime+5, 1<<63))
	s.SetEndTimestamp(pick[pcommon.Timestamp](r, 0, someTime, someTime+1))
	s.Status().SetCode(ptrace.StatusCode(r.IntN(4)))
	for _, key := range []string{
		semconv.SentryOp, semconv.SentryOrigin, semconv.SentryKind, semconv.SentryIsSegment, semconv.SentrySegmentID, semconv.SentryMeasurements, semconv.SentryTags, semconv.ThreadID, semconv.SentryProfilerID, semconv.SentryTransactionID, semconv.SentryBreadcrumbs,
		semconv.SentryFingerprint, semconv.SentryModules, semconv.SentryExtra, semconv.ServerAddress, "http.response.status_code", "db.statement", "sentry.context.os", "sentry.context.",
		"user.id", "http.request.header.x", "url.query", "", semconv.SentryExclusiveTime,
		semconv.SentryDSCSampleRate, semconv.SentryDSCSampleRand, semconv.SentryDSCSampled, semconv.SentryDSCReplayID, semconv.SentryDSCTransaction,
	} {
		if r.IntN(4) == 0 {
			randomValue(r, s.Attributes().PutEmpty(key), 0)
		}
	}
	for range r.IntN(3) {
		event := s.Events().AppendEmpty()
		event.SetTimestamp(pick[pcommon.Timestamp](r, 0, someTime, 1<<63))
		randomValue(r, event.Attributes().PutEmpty("exception.type"), 0)
		link := s.Links().AppendEmpty()
		link.SetSpanID(pcommon.SpanID{byte(r.IntN(2))})
		link.SetTraceID(pcommon.TraceID{byte(r.IntN(2))})
	}
}

func randomValue(r *rand.Rand, v pcommon.Value, depth int) {
	switch r.IntN(8) {
	case 0:
		v.SetStr(pick(r, "", "http.server", strings.Repeat("ä", 200), "\xff", "0000000000000001"))
	case 1:
		v.SetBool(r.IntN(2) == 0)
	case 2:
		v.SetInt(pick[int64](r, 0, -1, 404, 1<<62))
	case 3:
		v.SetDouble(pick(r, 0, 1.5, math.Inf(1), math.NaN()))
	case 4:
		v.SetEmptyBytes().Append(1, 2)
	case 5:
		list := v.SetEmptySlice()
		for range r.IntN(3) * (3 - min(3, depth)) {
			randomValue(r, list.AppendEmpty(), depth+1)
		}
	case 6:
		m := v.SetEmptyMap()
		for range r.IntN(3) * (3 - min(3, depth)) {
			randomValue(r, m.PutEmpty(pick(r, "a", "value", "unit", "time_unix_nano")), depth+1)
		}
	}
}

// spanInItem is the identity of a span in an item.
type spanInItem struct {
	TraceID string `json:"trace_id"`
	SpanID  string `json:"span_id"`
}

// spansIn returns the spans in the payload of a transaction or container.
func spansIn(item *Outgoing) []spanInItem {
	var payload struct {
		Contexts struct {
			Trace *spanInItem `json:"trace"`
		} `json:"contexts"`
		Spans []spanInItem `json:"spans"`
		Items []spanInItem `json:"items"`
	}
	if json.Unmarshal(item.Payload, &payload) != nil {
		return nil
	}
	all := append(payload.Items, payload.Spans...)
	if root := payload.Contexts.Trace; root != nil {
		all = append(all, *root)
	}
	return all
}

// checkTraces checks that every span is sent once or lost with a reason, that the result is
// deterministic, and that the message stays unchanged.
func checkTraces(t testing.TB, traces ptrace.Traces, o ExportOptions) {
	t.Helper()
	before, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	require.NoError(t, err)
	out := TracesToTransactions(traces, o)
	after, err := new(ptrace.ProtoMarshaler).MarshalTraces(traces)
	require.NoError(t, err)
	require.Equal(t, before, after, "the message was changed")
	require.Equal(t, out, TracesToTransactions(traces, o), "not the same again")
	left := map[spanInItem]int{}
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, span := range scope.Spans().All() {
				left[spanInItem{attr.TraceText(span.TraceID()), attr.SpanText(span.SpanID())}]++
			}
		}
	}
	spans := 0
	for i := range out.Items {
		require.Empty(t, ingestSpansVerdict(&out.Items[i]), string(out.Items[i].Payload))
		for _, span := range spansIn(&out.Items[i]) {
			require.Positive(t, left[span], "sent twice, or never there")
			left[span]--
			spans++
		}
	}
	lost := lossOf(out.Lost)
	delete(lost, ReasonSpanEvent)
	for _, count := range lost {
		spans += count
	}
	require.Equal(t, traces.SpanCount(), spans)
}

func TestAnyTraces(t *testing.T) {
	t.Parallel()
	seeds := uint64(2000)
	if !testsize.Full() {
		seeds = 300
	}
	for seed := range seeds {
		o := exportOptions
		o.Profiled, o.SpansOnly = seed%2 == 0, seed%5 == 0
		checkTraces(t, randomTraces(rand.New(rand.NewPCG(seed, 4))), o)
	}
}

// FuzzTracesToTransactions starts with spans of all kinds.
func FuzzTracesToTransactions(f *testing.F) {
	for seed := range uint64(40) {
		encoded, err := new(ptrace.ProtoMarshaler).MarshalTraces(randomTraces(rand.New(rand.NewPCG(seed, 5))))
		require.NoError(f, err)
		f.Add(encoded)
	}
	f.Fuzz(func(t *testing.T, encoded []byte) {
		traces, err := new(ptrace.ProtoUnmarshaler).UnmarshalTraces(encoded)
		if err == nil {
			checkTraces(t, traces, exportOptions)
		}
	})
}

// TestTraceHeader: the trace header of each item has the members that its spans state; spans
// without any have those of their segment.
func TestTraceHeader(t *testing.T) {
	const replay = "0123456789abcdef0123456789abcdef"
	for _, c := range []struct{ sent, want attr.TraceHeader }{
		{
			attr.TraceHeader{SampleRate: "0.25", SampleRand: "0.125", Sampled: "false", ReplayID: replay, Transaction: "GET /"},
			attr.TraceHeader{SampleRate: "0.25", SampleRand: "0.125", Sampled: "false", ReplayID: replay, Transaction: "GET /"},
		},
		{attr.TraceHeader{SampleRate: "1", SampleRand: "2", Transaction: "GET /"}, attr.TraceHeader{SampleRate: "1", Sampled: "true", Transaction: "GET /"}},
		{attr.TraceHeader{SampleRate: "NaN", SampleRand: "-1", Transaction: "GET /"}, attr.TraceHeader{Sampled: "true", Transaction: "GET /"}},
		{attr.TraceHeader{SampleRate: "0x1p-2", SampleRand: "half", Sampled: "yes", ReplayID: "1", Transaction: "GET /"}, attr.TraceHeader{Sampled: "true", Transaction: "GET /"}},
		{attr.TraceHeader{SampleRate: "0." + strings.Repeat("1", attr.MaxIDBytes), Transaction: "GET /"}, attr.TraceHeader{Sampled: "true", Transaction: "GET /"}},
	} {
		for _, spansOnly := range []bool{false, true} {
			traces, o := otelTraces(), exportOptions
			o.SpansOnly = spansOnly
			spans := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans() // a child, its segment, and a span of another segment
			for key, text := range map[string]string{
				semconv.SentryDSCSampleRate: c.sent.SampleRate, semconv.SentryDSCSampleRand: c.sent.SampleRand, semconv.SentryDSCSampled: c.sent.Sampled,
				semconv.SentryDSCReplayID: c.sent.ReplayID, semconv.SentryDSCTransaction: c.sent.Transaction,
			} {
				spans.At(1).Attributes().PutStr(key, text)
			}
			spans.At(2).Attributes().PutStr(semconv.SentryDSCTransaction, "GET /cart")
			items := TracesToTransactions(traces, o).Items
			require.Len(t, items, 2)
			for i, want := range []attr.TraceHeader{c.want, {Sampled: "true", Transaction: "GET /cart"}} {
				require.Empty(t, ingestSpansVerdict(&items[i]))
				h := items[i].Trace
				got := attr.TraceHeader{SampleRate: h.SampleRate, SampleRand: h.SampleRand, Sampled: h.Sampled, ReplayID: h.ReplayID, Transaction: h.Transaction}
				require.Equal(t, want, got)
				require.NotContains(t, string(items[i].Payload), "sentry.dsc")
			}
			require.Equal(t, spansOnly, items[0].Count == 2 && items[0].Item.Header.Type == sentry.ItemSpan)
		}
	}
}

// TestRepeatedHeaders: each value of a header of a request comes back, in the request of the
// transaction and in the data of its span.
func TestRepeatedHeaders(t *testing.T) {
	traces := otelTraces()
	root := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
	list := root.Attributes().PutEmptySlice("http.request.header.x-trace")
	list.AppendEmpty().SetStr("1")
	list.AppendEmpty().SetStr("2")
	root.Attributes().PutEmptySlice("http.request.header.accept").AppendEmpty().SetStr("a")
	out := TracesToTransactions(traces, exportOptions)
	require.Empty(t, ingestSpansVerdict(&out.Items[0]))
	payload := string(out.Items[0].Payload)
	require.Contains(t, payload, `"headers":[["x-trace","1"],["x-trace","2"],["accept","a"]]`)
	require.NotContains(t, payload, `"http.request.header.x-trace"`, "ingest stores no lists in data")

	sent, err := event.DecodeTransaction(out.Items[0].Payload)
	require.NoError(t, err)
	again := TracesToTransactions(fromsentry.TransactionToTraces(sent, fromsentry.Source{ProjectID: "1", IncludePII: true}), exportOptions)
	require.Contains(t, string(again.Items[0].Payload), `"headers":[["x-trace","1"],["x-trace","2"],["accept","a"]]`)
}
