// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/stacktext"
)

const chain = `[
	{"type":"KeyError","value":"'SKU'","stacktrace":{"frames":[
		{"function":"load","filename":"shop/stock.py","lineno":3},
		{"function":"reserve","filename":"shop/stock.py","lineno":9,"in_app":true,"vars":{"sku":"'SKU'"}}]}},
	null,
	{"type":"CheckoutError","value":"order A-17 failed","module":"shop","thread_id":7,
	 "mechanism":{"type":"chained","handled":false,"exception_id":0,"data":{"code":1}},"stacktrace":{"frames":[
		{"function":"handle","filename":"shop/web.py","lineno":17},
		{"function":"checkout","filename":"shop/orders.py","lineno":42,"colno":5}]}}]`

// TestExceptionChain: Sentry has the cause first and the innermost frame last; a reader wants both
// the other way round.
func TestExceptionChain(t *testing.T) {
	for name, exception := range map[string]string{"flat list": chain, "values": `{"values":` + chain + `}`} {
		record := eventRecord(t, `{"platform":"python","exception":`+exception+`}`, Source{})
		require.Equal(t, "CheckoutError: order A-17 failed", record.Body().Str(), name)
		require.Equal(t, "CheckoutError", attributeText(record, "exception.type"), name)
		require.Equal(t, "order A-17 failed", attributeText(record, "exception.message"), name)
		require.Equal(t, strings.Join([]string{
			"CheckoutError: order A-17 failed",
			"    at checkout (shop/orders.py:42:5)",
			"    at handle (shop/web.py:17)",
			"Caused by: KeyError: 'SKU'",
			"    at reserve (shop/stock.py:9)",
			"    at load (shop/stock.py:3)",
		}, "\n"), attributeText(record, "exception.stacktrace"), name)

		list, _ := record.Attributes().Get("sentry.exceptions")
		require.Equal(t, []any{
			map[string]any{"type": "KeyError", "value": "'SKU'", "stacktrace": map[string]any{"frames": []any{
				map[string]any{"function": "reserve", "filename": "shop/stock.py", "lineno": int64(9), "in_app": true, "vars": map[string]any{"sku": "'SKU'"}},
				map[string]any{"function": "load", "filename": "shop/stock.py", "lineno": int64(3)},
			}}},
			map[string]any{"type": "CheckoutError", "value": "order A-17 failed", "module": "shop", "thread_id": int64(7),
				"mechanism": map[string]any{"type": "chained", "handled": false, "exception_id": int64(0), "data": map[string]any{"code": int64(1)}},
				"stacktrace": map[string]any{"frames": []any{
					map[string]any{"function": "checkout", "filename": "shop/orders.py", "lineno": int64(42), "colno": int64(5)},
					map[string]any{"function": "handle", "filename": "shop/web.py", "lineno": int64(17)},
				}}},
		}, list.Slice().AsRaw(), name)
	}
}

func TestStacktraceText(t *testing.T) {
	for _, c := range []struct{ name, event, want string }{
		{"java has classes", `{"platform":"java","exception":[{"type":"E","stacktrace":{"frames":[
			{"function":"run","module":"java.lang.Thread","filename":"Thread.java","lineno":840}]}}]}`,
			"E\n    at java.lang.Thread.run (Thread.java:840)"},
		{"native has addresses", `{"platform":"native","exception":[{"value":"v","stacktrace":{"frames":[
			{"instruction_addr":"0x55ddbd2ef281","package":"/usr/lib/libc.so"},{"instruction_addr":4096}]}}]}`,
			"v\n    at 0x1000\n    at 0x55ddbd2ef281 (/usr/lib/libc.so)"},
		{"offsets in .NET's functions are no addresses", `{"platform":"csharp","exception":[{"type":"E","stacktrace":{"frames":[
			{"instruction_addr":"0x105","addr_mode":"rel:0","function_id":"0x6000012","package":"Shop.Core"},{"instruction_addr":"0x1f","addr_mode":"abs"}]}}]}`,
			"E\n    at 0x1f\n    at rel:0+0x105 (Shop.Core)"},
		{"no frames", `{"exception":[{"type":"E","value":"v","stacktrace":{"frames":[]}}]}`, ""},
		{"frames of the thread that crashed", `{"exception":[{"type":"E"}],"threads":[{"id":1,"stacktrace":{"frames":[{"function":"idle"}]}},
			{"id":"2","crashed":true,"stacktrace":{"frames":[{"function":"main"},{"function":"crash"}]}}]}`,
			"E\n    at crash\n    at main"},
		{"frames of the thread it names", `{"exception":[{"type":"E","thread_id":1}],"threads":[{"id":1,"stacktrace":{"frames":[{"function":"f"}]}},
			{"id":2,"crashed":true,"stacktrace":{"frames":[{"function":"crash"}]}}]}`, "E\n    at f"},
		{"wrong types", `{"exception":[{"type":5,"value":{"a":1},"stacktrace":{"frames":[7,null,{"function":[],"lineno":"x"},{"lineno":"3","filename":"f"}]}}]}`,
			"5: {\"a\":1}\n    at <unknown> (f:3)\n    at <unknown>"},
	} {
		require.Equal(t, c.want, attributeText(eventRecord(t, c.event, Source{}), "exception.stacktrace"), c.name)
	}
}

func TestEventBodyLevelTraceTime(t *testing.T) {
	const trace, span = "53295a878b574a5665399b12b6f1d7fb", "65b086720141d1a8"
	for _, c := range []struct {
		name, event string
		body        string
		level       plog.SeverityNumber
		trace, span string
		nanos       uint64
	}{
		{"message as text", `{"message":"hello","level":"warning"}`, "hello", plog.SeverityNumberWarn, "", "", 0},
		{"message as object", `{"message":{"formatted":"a 1","message":"a %s","params":[1]}}`, "a 1", plog.SeverityNumberError, "", "", 0},
		{"logentry", `{"logentry":{"message":"a %s","params":["x"]},"level":"info"}`, "a x", plog.SeverityNumberInfo, "", "", 0},
		{"logentry before empty message", `{"logentry":{"message":"a"},"message":""}`, "a", plog.SeverityNumberError, "", "", 0},
		{"message before exception", `{"message":"m","exception":[{"type":"E"}]}`, "m", plog.SeverityNumberError, "", "", 0},
		{"exception without value", `{"exception":[{"type":"E"}],"level":"fatal"}`, "E", plog.SeverityNumberFatal, "", "", 0},
		{"a level of one's own", `{"level":"hmm"}`, "", plog.SeverityNumberUnspecified, "", "", 0},
		{"null all over", `{"message":null,"exception":null,"level":null,"tags":null,"contexts":null,"threads":{"values":null},"user":null,"request":null,"breadcrumbs":null}`,
			"", plog.SeverityNumberError, "", "", 0},
		{"trace", `{"event_id":"e67d4007893140eab8663ade16bf2a0b","contexts":{"trace":{"trace_id":"` + trace + `","span_id":"` + span + `"}}}`,
			"", plog.SeverityNumberError, trace, span, 0},
		{"trace in capitals, with hyphens", `{"contexts":{"trace":{"trace_id":"53295A87-8B57-4A56-6539-9B12B6F1D7FB","span_id":"` + strings.ToUpper(span) + `"}}}`,
			"", plog.SeverityNumberError, trace, span, 0},
		{"event id is no trace id", `{"event_id":"e67d4007893140eab8663ade16bf2a0b"}`, "", plog.SeverityNumberError, "", "", 0},
		{"trace id too short", `{"contexts":{"trace":{"trace_id":"53295a87","span_id":"` + span + `"}}}`, "", plog.SeverityNumberError, "", "", 0},
		{"trace id of zeros", `{"contexts":{"trace":{"trace_id":"00000000000000000000000000000000","span_id":"` + span + `"}}}`, "", plog.SeverityNumberError, "", "", 0},
		{"trace id no hex", `{"contexts":{"trace":{"trace_id":"z3295a878b574a5665399b12b6f1d7fb"}}}`, "", plog.SeverityNumberError, "", "", 0},
		{"span id too long", `{"contexts":{"trace":{"trace_id":"` + trace + `","span_id":"` + span + `00"}}}`, "", plog.SeverityNumberError, trace, "", 0},
		{"seconds", `{"timestamp":1724777211.5037799}`, "", plog.SeverityNumberError, "", "", 1724777211_503779900},
		{"RFC 3339 of go", `{"timestamp":"2026-11-21T01:20:39.271273354Z"}`, "", plog.SeverityNumberError, "", "", 1795224039_271273354},
		{"with a zone", `{"timestamp":"2026-11-21T02:20:39+01:00"}`, "", plog.SeverityNumberError, "", "", 1795224039_000000000},
		{"raven: without a zone", `{"timestamp":"2026-11-21T01:20:39"}`, "", plog.SeverityNumberError, "", "", 1795224039_000000000},
		{"no time", `{"timestamp":"yesterday"}`, "", plog.SeverityNumberError, "", "", 0},
	} {
		record := eventRecord(t, c.event, Source{ReceivedNano: 77})
		require.Equal(t, c.body, record.Body().AsString(), c.name)
		require.Equal(t, c.level, record.SeverityNumber(), c.name)
		require.Equal(t, c.trace, hexOf(record.TraceID()), c.name)
		require.Equal(t, c.span, spanHexOf(record.SpanID()), c.name)
		require.Equal(t, c.nanos, uint64(record.Timestamp()), c.name)
		require.Equal(t, uint64(77), uint64(record.ObservedTimestamp()), c.name)
	}
}

// TestEventAttributes: what an event says beside its headline, with its shapes.
func TestEventAttributes(t *testing.T) {
	for _, c := range []struct {
		name, event string
		want        map[string]any // beside sentry.item.type
	}{
		{"tags as object", `{"tags":{"region":"eu","n":5,"gone":null,"url":""}}`, map[string]any{"region": "eu", "n": "5", "sentry.tags": []any{"region", "n"}}},
		{"tags as pairs", `{"tags":[["region","eu"],["n",5],["gone",null],["short"],7]}`, map[string]any{"region": "eu", "n": "5", "sentry.tags": []any{"region", "n"}}},
		{"a tag yields to the event", `{"logger":"root","tags":{"sentry.logger":"mine"}}`, map[string]any{"sentry.logger": "root"}},
		{"ids", `{"event_id":"E67D4007-8931-40EA-B866-3ADE16BF2A0B","contexts":{"profile":{"profiler_id":"C2913E86DA334E0ABCF19A5C8DE007B8"},"replay":{"replay_id":"x"}}}`,
			map[string]any{"sentry.event.id": "e67d4007893140eab8663ade16bf2a0b", "sentry.profiler_id": "c2913e86da334e0abcf19a5c8de007b8", "sentry.replay_id": "x"}},
		{"message parameters", `{"logentry":{"message":"%s %s","formatted":"a 2","params":["a",2]}}`,
			map[string]any{"sentry.message.template": "%s %s", "sentry.message.parameter.0": "a", "sentry.message.parameter.1": int64(2)}},
		{"named parameters", `{"logentry":{"message":"%(x)s","formatted":"a","params":{"x":true}}}`,
			map[string]any{"sentry.message.template": "%(x)s", "sentry.message.parameter.x": true}},
		{"threads", `{"threads":{"values":[{"id":15,"name":"pool","state":"WAITING","crashed":false},{"id":"t","current":true}]}}`,
			map[string]any{"sentry.threads": []any{
				map[string]any{"id": int64(15), "name": "pool", "state": "WAITING", "crashed": false}, map[string]any{"id": "t", "current": true}}}},
		{"breadcrumbs", `{"breadcrumbs":[{"timestamp":1.5,"category":"c","data":{"n":1.0,"l":[1,null]}},3]}`,
			map[string]any{"sentry.breadcrumbs": []any{
				map[string]any{"time_unix_nano": int64(1_500_000_000), "category": "c", "data": map[string]any{"n": 1.0, "l": []any{int64(1), nil}}}}}},
		{"thread of the trace", `{"contexts":{"trace":{"op":"task","data":{"thread.id":"1","thread.name":"main","profiler_id":"p"}}}}`,
			map[string]any{"sentry.op": "task", "thread.id": int64(1), "thread.name": "main", "sentry.profiler_id": "p"}},
		{"contexts", `{"contexts":{"order":{"id":17,"big":18446744073709551615},"device":{"arch":"x64","memory_size":1},"state":"s","response":{"status_code":500}}}`,
			map[string]any{"sentry.context.order": map[string]any{"id": int64(17), "big": "18446744073709551615"}, "sentry.context.device": map[string]any{"memory_size": int64(1)},
				"sentry.context.state": "s", "http.response.status_code": int64(500)}},
		{"extra, modules, fingerprint", `{"extra":{"a":[1]},"modules":{"p":"1"},"fingerprint":["a",5]}`,
			map[string]any{"sentry.extra": map[string]any{"a": []any{int64(1)}}, "sentry.modules": map[string]any{"p": "1"}, "sentry.fingerprint": []any{"a", "5"}}},
		{"query as object", `{"request":{"query_string":{"q":"1"},"headers":[["Accept","x"]]}}`,
			map[string]any{"sentry.request.query_string": map[string]any{"q": "1"}, "http.request.header.accept": []any{"x"}}},
	} {
		got := eventRecord(t, c.event, Source{}).Attributes().AsRaw()
		require.Equal(t, "event", got["sentry.item.type"])
		delete(got, "sentry.item.type")
		require.Subset(t, got, c.want, c.name)
		for _, dropped := range []string{"gone", "url", "short"} { // tags without a value
			require.NotContains(t, got, dropped, c.name)
		}
	}
}

// TestPersonal: default PII is passed on only where asked for, wherever it stands.
func TestPersonal(t *testing.T) {
	const event = `{
		"user":{"id":"42","username":"jane","email":"SECRET","ip_address":"SECRET","geo":{"city":"Wien"}},
		"request":{"url":"http://shop/","method":"GET","query_string":"q=1","cookies":{"a":"SECRET"},"env":{"REMOTE_ADDR":"SECRET"},
			"headers":{"Cookie":"SECRET","Authorization":"SECRET","X-Forwarded-For":"SECRET","X-Real-Ip":["SECRET"],"User-Agent":"curl"}},
		"contexts":{"response":{"cookies":{"a":"SECRET"},"headers":{"Set-Cookie":"SECRET","Via":"1.1"}},"feedback":{"contact_email":"SECRET","message":"hi"},
			"trace":{"data":{"http.client_ip":"SECRET","http.request.header.forwarded":"SECRET"}}},
		"tags":{"Set-Cookie":"SECRET"},
		"extra":{"environ":{"HTTP_COOKIE":"SECRET","REMOTE_ADDR":"SECRET","PATH":"/"}},
		"exception":[{"type":"E","stacktrace":{"frames":[{"function":"f","vars":{"headers":[{"authorization":"SECRET"}]}}]}}],
		"stacktrace":{"frames":[{"function":"f","vars":{"HTTP_COOKIE":"SECRET"}}]}}`
	for _, translate := range []func(*sentryevent.ErrorEvent, Source) plog.Logs{EventToLogs, FeedbackToLogs} {
		e, err := sentryevent.DecodeEvent([]byte(event))
		require.NoError(t, err)
		kept := logText(t, translate(e, Source{}))
		require.NotContains(t, kept, "SECRET")
		for _, there := range []string{"user.id", "jane", "Wien", "http://shop/", "curl", "1.1", "q=1", "PATH"} {
			require.Contains(t, kept, there)
		}
		require.Equal(t, strings.Count(event, "SECRET"), strings.Count(logText(t, translate(e, Source{IncludePII: true})), "SECRET"))
	}

	report := &sentryevent.UserReport{EventID: "e", Email: "SECRET", Name: "Jane", Comments: "slow"}
	require.NotContains(t, logText(t, UserReportToLogs(report, Source{})), "SECRET")
	require.Contains(t, logText(t, UserReportToLogs(report, Source{IncludePII: true})), "SECRET")

	c, err := sentryevent.DecodeLogs([]byte(`{"items":[{"body":"b","attributes":{"user.email":{"type":"string","value":"SECRET"},
		"client.address":{"type":"string","value":"SECRET"},"user.id":{"type":"string","value":"42"}}}]}`), jsonscan.Optional[int]{})
	require.NoError(t, err)
	require.NotContains(t, logText(t, LogsToLogs(c, Source{})), "SECRET")
	require.Contains(t, logText(t, LogsToLogs(c, Source{})), "42")
	require.Equal(t, 2, strings.Count(logText(t, LogsToLogs(c, Source{IncludePII: true})), "SECRET"))
}

func TestLogs(t *testing.T) {
	c, err := sentryevent.DecodeLogs([]byte(`{"items":[
		{"timestamp":1.5,"level":"warn","body":"a 1","trace_id":"53295a878b574a5665399b12b6f1d7fb","attributes":{
			"sentry.release":{"type":"string","value":"shop@1.2"},"sentry.sdk.name":{"type":"string","value":"sentry.go"},
			"sentry.message.template":{"type":"string","value":"a %d"},"sentry.message.parameters.0":{"type":"integer","value":"1"},
			"sentry.trace.parent_span_id":{"type":"string","value":"65b086720141d1a8"},
			"thread.id":{"type":"string","value":"12"},"ratio":{"type":"double","value":2},"big":{"type":"integer","value":"9007199254740993"},
			"text":{"type":"string","value":"5"},"list":{"type":"array","value":["a",1]},"bare":true,"none":{"type":"string","value":null}}},
		{"level":"fatal","severity_number":22,"body":"b","attributes":{"sentry.release":{"type":"string","value":"shop@1.3"}}},
		{"level":"trace","severity_number":99,"body":"c"}]}`), jsonscan.Some(3))
	require.NoError(t, err)
	out := LogsToLogs(c, Source{ProjectID: "1", ReceivedNano: 9})
	resource := out.ResourceLogs().At(0)
	require.Subset(t, resource.Resource().Attributes().AsRaw(), map[string]any{"service.name": "shop", "service.version": "1.2", "sentry.release": "shop@1.2",
		"telemetry.sdk.name": "sentry.go", "sentry.project_id": "1"})
	require.Equal(t, "sentry.go", resource.ScopeLogs().At(0).Scope().Name())

	records := resource.ScopeLogs().At(0).LogRecords()
	first := records.At(0).Attributes().AsRaw()
	require.Subset(t, first, map[string]any{"sentry.message.template": "a %d", "sentry.message.parameter.0": int64(1),
		"sentry.trace.parent_span_id": "65b086720141d1a8", "thread.id": int64(12), "ratio": 2.0, "big": int64(9007199254740993),
		"text": "5", "list": []any{"a", int64(1)}, "bare": true})
	for _, elsewhere := range []string{"none", "sentry.release", "sentry.sdk.name", "sentry.message.parameters.0"} {
		require.NotContains(t, first, elsewhere)
	}
	require.Equal(t, "65b086720141d1a8", spanHexOf(records.At(0).SpanID()))
	require.Equal(t, plog.SeverityNumberWarn, records.At(0).SeverityNumber())
	require.Equal(t, "shop@1.3", records.At(1).Attributes().AsRaw()["sentry.release"], "what the resource does not say")
	require.Equal(t, plog.SeverityNumberFatal2, records.At(1).SeverityNumber())
	require.Equal(t, plog.SeverityNumberTrace, records.At(2).SeverityNumber(), "99 is no severity")
}

func TestCheckInAndItems(t *testing.T) {
	c, err := sentryevent.DecodeCheckIn([]byte(`{"check_in_id":"3CBC5EF2-5BF4-4DB7-9AB3-3DB38F94C850","monitor_slug":"nightly","status":"error","duration":1.5,
		"release":"shop@1","monitor_config":{"schedule":{"type":"crontab","value":"15 3 * * *"}},
		"contexts":{"trace":{"trace_id":"11f0ee7e97b94fad905e518b83e20600"}}}`))
	require.NoError(t, err)
	record := onlyRecord(t, CheckInToLogs(c, Source{}))
	require.Equal(t, "check-in nightly: error", record.Body().Str())
	require.Equal(t, plog.SeverityNumberError, record.SeverityNumber())
	require.Equal(t, "11f0ee7e97b94fad905e518b83e20600", hexOf(record.TraceID()))
	require.Subset(t, record.Attributes().AsRaw(), map[string]any{"sentry.item.type": "check_in", "sentry.check_in.id": "3cbc5ef25bf44db79ab33db38f94c850", "sentry.monitor.slug": "nightly",
		"sentry.check_in.status": "error", "sentry.check_in.duration": 1.5,
		"sentry.monitor.config": map[string]any{"schedule": map[string]any{"type": "crontab", "value": "15 3 * * *"}}})

	out := ItemToLogs(sentry.ItemHeader{Type: sentry.ItemAttachment, Filename: "a.bin", ContentType: "text/plain"}, 7, Source{EventID: "e", Release: "shop@1"})
	require.Subset(t, onlyRecord(t, out).Attributes().AsRaw(), map[string]any{"sentry.item.type": "attachment", "sentry.item.size": int64(7), "sentry.item.content_type": "text/plain",
		"file.name": "a.bin", "sentry.attachment.type": "event.attachment", "sentry.event.id": "e"})
	service, _ := out.ResourceLogs().At(0).Resource().Attributes().Get("service.name")
	require.Equal(t, "shop", service.Str())
}

// TestHugeObject: an object with more members than a map should have is kept as text, and takes no
// quadratic time.
func TestHugeObject(t *testing.T) {
	var b strings.Builder
	for i := range 200_000 {
		b.WriteString(`"k`)
		b.WriteString(strings.Repeat("x", i%7))
		b.WriteString(`":1,`)
	}
	huge := "{" + strings.TrimSuffix(b.String(), ",") + "}"
	record := eventRecord(t, `{"extra":{"big":`+huge+`,"small":{"a":1}}}`, Source{})
	extra, _ := record.Attributes().Get("sentry.extra")
	big, _ := extra.Map().Get("big")
	require.True(t, huge == big.Str())
}

func eventRecord(t *testing.T, event string, src Source) plog.LogRecord {
	t.Helper()
	e, err := sentryevent.DecodeEvent([]byte(event))
	require.NoError(t, err)
	return onlyRecord(t, EventToLogs(e, src))
}

func logText(t *testing.T, out plog.Logs) string {
	t.Helper()
	text, err := (&plog.JSONMarshaler{}).MarshalLogs(out)
	require.NoError(t, err)
	return string(text)
}

// TestTreeText: the text of a call tree does not read as a stack.
func TestTreeText(t *testing.T) {
	record := eventRecord(t, `{"exception":[{"type":"MXHangDiagnostic","value":"2 sec","stacktrace":{"frames":[
		{"function":"main","package":"Shop","filename":"main.swift","lineno":3,"parent_index":-1,"sample_count":10},
		{"function":"load","package":"Shop","parent_index":0,"sample_count":7},
		{"function":"draw","package":"UIKitCore","parent_index":0}]}}]}`, Source{})
	text := attributeText(record, "exception.stacktrace")
	require.Equal(t, "MXHangDiagnostic: 2 sec\n    10 main (main.swift:3)\n      7 load (Shop)\n      draw (UIKitCore)", text)
	trace, ok := stacktext.Parse(text, stacktext.Unknown)
	require.False(t, ok, "%+v", trace)
}
