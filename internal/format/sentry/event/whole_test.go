// SPDX-License-Identifier: Apache-2.0

package event

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

const (
	wholeTraceID = "0af7651916cd43dd8448eb211c80319c"
	wholeSpanID  = "b7ad6b7169203331"
	wholeEventID = "9c591ba7112441251a254ccbe6cd23c4"

	wholeFrame = `{"function":"f","raw_function":"_f","module":"m","filename":"f.c","abs_path":"/f.c","package":"lib","platform":"native","instruction_addr":"0x10",` +
		`"symbol_addr":"0x8","lineno":3,"colno":4,"in_app":true,"native":false,"pre_context":["a"],"post_context":["b"],"context_line":"c","vars":{"x":1},"later":1}`
	wholeStack = `{"frames":[` + wholeFrame + `],"registers":{"pc":"0x1"},"snapshot":true,"later":1}`
	wholeTrace = `{"trace_id":"` + wholeTraceID + `","span_id":"` + wholeSpanID + `","parent_span_id":"00f067aa0ba902b7","op":"http.server","origin":"auto","status":"ok","data":{"k":1},"later":1}`
)

func wholeStacktrace() *Stacktrace {
	return &Stacktrace{
		Rest: []NamedValue{{"registers", []byte(`{"pc":"0x1"}`)}, {"snapshot", []byte("true")}},
		Frames: []EventFrame{{
			Function: "f", Module: "m", Filename: "f.c", AbsPath: "/f.c", Package: "lib", Platform: "native",
			InstructionAddr: jsonscan.Address{Value: 0x10, Set: true}, Line: 3, Column: 4, InApp: jsonscan.Some(true), Native: jsonscan.Some(false),
			PreContext: []string{"a"}, PostContext: []string{"b"}, ContextLine: "c",
			Rest: []NamedValue{{"raw_function", []byte(`"_f"`)}, {"symbol_addr", []byte(`"0x8"`)}, {"vars", []byte(`{"x":1}`)}},
		}},
	}
}

// TestWholeEvent: every field of an event has its place, and those that are not known cost nothing.
func TestWholeEvent(t *testing.T) {
	got, err := DecodeEvent([]byte(`{"event_id":"9C591BA7-1124-4125-1A25-4CCBE6CD23C4","timestamp":2,"platform":"c","level":"fatal","logger":"l","type":"error","transaction":"tx",` +
		`"server_name":"host","release":"r","dist":"d","environment":"e","sdk":{"name":"sdk","version":"1","later":1},"logentry":{"message":"%s","formatted":"m","params":["m"],"later":1},` +
		`"exception":{"values":[{"type":"T","value":"V","module":"M","thread_id":7,"stacktrace":` + wholeStack + `,"later":1,"mechanism":{"type":"signal","description":"D","help_link":"H",` +
		`"source":"S","handled":false,"synthetic":true,"is_exception_group":false,"exception_id":1,"parent_id":2,"meta":{"a":1},"data":{"b":2},"later":1}}]},` +
		`"threads":{"values":[{"id":7,"name":"main","state":"RUNNABLE","priority":5,"crashed":true,"current":false,"main":true,"daemon":false,"held_locks":{"l":1},"stacktrace":` + wholeStack + `,"later":1}]},` +
		`"breadcrumbs":[{"timestamp":1,"type":"http","category":"c","level":"info","message":"m","event_id":"` + wholeEventID + `","data":{"url":"u"},"later":1}],` +
		`"fingerprint":["fp"],"modules":{"a":"1"},"tags":{"k":"v"},"extra":{"x":1},"user":{"id":"1"},"contexts":{"os":{"name":"Linux"},"trace":` + wholeTrace + `},` +
		`"request":{"url":"u","method":"GET","query_string":"q","fragment":"#f","headers":{"h":"v"},"cookies":"c","env":{"E":"1"},"data":{"d":1},"later":1},"later":1}`))
	require.NoError(t, err)
	assert.Equal(t, &ErrorEvent{
		EventID: wholeEventID, Timestamp: jsonscan.Timestamp{UnixNano: 2e9, Set: true}, Platform: "c", Level: "fatal", Logger: "l", Type: "error", Transaction: "tx",
		ServerName: "host", Release: "r", Dist: "d", Environment: "e", SDK: SDK{ClientSDK: sentry.ClientSDK{Name: "sdk", Version: "1"}},
		Message: Message{Formatted: "m", Template: "%s", Params: []byte(`["m"]`)},
		Exceptions: []Exception{{Type: "T", Value: "V", Module: "M", ThreadID: "7", Stacktrace: wholeStacktrace(), Mechanism: &Mechanism{
			Type: "signal", Source: "S", Handled: jsonscan.Some(false), Group: jsonscan.Some(false), ExceptionID: jsonscan.Some(int64(1)), ParentID: jsonscan.Some(int64(2)),
			Rest: []NamedValue{{"description", []byte(`"D"`)}, {"help_link", []byte(`"H"`)}, {"synthetic", []byte("true")}, {"meta", []byte(`{"a":1}`)}, {"data", []byte(`{"b":2}`)}},
		}}},
		Threads: []EventThread{{ID: "7", Crashed: jsonscan.Some(true), Stacktrace: wholeStacktrace(), Rest: []NamedValue{
			{"name", []byte(`"main"`)}, {"state", []byte(`"RUNNABLE"`)}, {"priority", []byte("5")}, {"current", []byte("false")}, {"main", []byte("true")}, {"daemon", []byte("false")}, {"held_locks", []byte(`{"l":1}`)},
		}}},
		Breadcrumbs: []Breadcrumb{{Timestamp: jsonscan.Timestamp{UnixNano: 1e9, Set: true}, Type: "http", Category: "c", Level: "info", Message: "m", Data: []byte(`{"url":"u"}`), Rest: []NamedValue{{"event_id", []byte(`"` + wholeEventID + `"`)}}}},
		Fingerprint: []string{"fp"}, Modules: []byte(`{"a":"1"}`), Tags: []Tag{{"k", "v"}}, Extra: []byte(`{"x":1}`), User: []NamedValue{{"id", []byte(`"1"`)}},
		Contexts: []NamedValue{{"os", []byte(`{"name":"Linux"}`)}},
		Trace: TraceContext{TraceID: wholeTraceID, SpanID: wholeSpanID, ParentSpanID: "00f067aa0ba902b7", Op: "http.server", Origin: "auto", Status: "ok",
			Data: []NamedValue{{"k", []byte(`1`)}}, Rest: []NamedValue{{"later", []byte("1")}}},
		Request: &HTTPRequest{URL: "u", Method: "GET", QueryString: []byte(`"q"`), Fragment: "#f", Headers: []Tag{{"h", "v"}}, Cookies: []byte(`"c"`), Env: []byte(`{"E":"1"}`), Data: []byte(`{"d":1}`)},
		Tally:   discard.Tally{Flaws: []discard.Flaw{{Field: FieldUnmapped, Count: 12, Keys: "sdk.later, logentry.later, frame.later, stacktrace.later, exception.later, mechanism.later, threads.later, breadcrumbs.later, request.later, later"}}},
	}, got)
}

func TestWholeCheckIn(t *testing.T) {
	got, err := DecodeCheckIn([]byte(`{"check_in_id":"` + wholeEventID + `","monitor_slug":"nightly","status":"ok","duration":1.5,"timestamp":2,"platform":"python","release":"r","environment":"e",` +
		`"server_name":"host","sdk":{"name":"sdk","version":"1"},"monitor_config":{"schedule":{}},"contexts":{"os":{},"trace":{"trace_id":"` + wholeTraceID + `","span_id":"` + wholeSpanID + `","op":"x"}},"later":1}`))
	require.NoError(t, err)
	assert.Equal(t, &CheckIn{
		ID: wholeEventID, MonitorSlug: "nightly", Status: "ok", Duration: jsonscan.Some(1.5), Timestamp: jsonscan.Timestamp{UnixNano: 2e9, Set: true}, Platform: "python", Release: "r", Environment: "e",
		ServerName: "host", SDK: sentry.ClientSDK{Name: "sdk", Version: "1"}, Config: []byte(`{"schedule":{}}`), TraceID: wholeTraceID, SpanID: wholeSpanID,
		Flaws: []discard.Flaw{{Field: FieldUnmapped, Count: 1, Keys: "later"}},
	}, got)
	got, err = DecodeCheckIn([]byte(`{"monitor_slug":"nightly","duration":"long"}`))
	require.NoError(t, err)
	assert.Equal(t, &CheckIn{MonitorSlug: "nightly", Flaws: []discard.Flaw{{Field: "duration", Count: 1}}}, got)
	_, err = DecodeCheckIn([]byte(`{"check_in_id":"` + wholeEventID + `"}`))
	assert.ErrorContains(t, err, string(jsonscan.ReasonNothingUsable))
	_, err = DecodeCheckIn([]byte(`[]`))
	assert.ErrorContains(t, err, string(jsonscan.ReasonMalformed))
}

func TestWholeUserReport(t *testing.T) {
	got, err := DecodeUserReport([]byte(`{"event_id":"` + wholeEventID + `","name":"n","email":"e","comments":"c","later":1}`))
	require.NoError(t, err)
	assert.Equal(t, &UserReport{EventID: wholeEventID, Name: "n", Email: "e", Comments: "c", Flaws: []discard.Flaw{{Field: FieldUnmapped, Count: 1, Keys: "later"}}}, got)
	got, err = DecodeUserReport([]byte(`{"comments":"c","name":7}`))
	require.NoError(t, err)
	assert.Equal(t, &UserReport{Comments: "c", Name: "7", Flaws: []discard.Flaw{{Field: "name", Count: 1}}}, got)
	_, err = DecodeUserReport([]byte(`{"name":"n"}`))
	assert.ErrorContains(t, err, string(jsonscan.ReasonNothingUsable))
	_, err = DecodeUserReport([]byte(`7`))
	assert.ErrorContains(t, err, string(jsonscan.ReasonMalformed))
}

const wholeSpan = `"trace_id":"` + wholeTraceID + `","span_id":"` + wholeSpanID + `","parent_span_id":"00f067aa0ba902b7","op":"db","description":"SELECT","status":5,"origin":"auto",` +
	`"kind":"client","platform":"php","exclusive_time":0.5,"is_segment":true,"is_remote":false,"segment_id":"00f067aa0ba902b8","profile_id":"` + wholeEventID + `","profiler_id":"` + wholeEventID + `",` +
	`"data":{"a":1},"tags":{"k":"v"},"measurements":{"lcp":{"value":80,"unit":"millisecond","later":1},"":{"value":1},"none":{}},` +
	`"links":[{"trace_id":"` + wholeTraceID + `","span_id":"00f067aa0ba902b9","sampled":true,"attributes":{"l":1},"later":1},{"span_id":"00f067aa0ba902b9"}],"later":1`

func wholeSpanDecoded() Span {
	return Span{
		TraceID: wholeTraceID, SpanID: wholeSpanID, ParentSpanID: "00f067aa0ba902b7", Start: jsonscan.Timestamp{UnixNano: 1e9, Set: true}, End: jsonscan.Timestamp{UnixNano: 2e9, Set: true},
		Op: "db", Description: "SELECT", Status: "5", Origin: "auto", Kind: "client", Platform: "php", ExclusiveTime: jsonscan.Some(0.5), IsSegment: jsonscan.Some(true), IsRemote: jsonscan.Some(false),
		SegmentID: "00f067aa0ba902b8", ProfileID: wholeEventID, ProfilerID: wholeEventID, Data: []NamedValue{{"a", []byte(`1`)}}, Tags: []Tag{{"k", "v"}},
		Measurements: []NamedMeasure{{"lcp", 80, "millisecond"}},
		Links:        []SpanLink{{TraceID: wholeTraceID, SpanID: "00f067aa0ba902b9", Sampled: jsonscan.Some(true), Attributes: []Attribute{{Key: "l", Value: []byte(`1`)}}}},
	}
}

func TestWholeSpan(t *testing.T) {
	got, flaws, err := DecodeSpan([]byte(`{"start_timestamp":1,"timestamp":2,` + wholeSpan + `}`))
	require.NoError(t, err)
	want := wholeSpanDecoded()
	assert.Equal(t, &want, got)
	assert.Equal(t, []discard.Flaw{{Field: FieldUnmapped, Count: 3, Keys: "span.measurements.later, links.later, span.later"}, {Field: "span.links", Count: 1}}, flaws)

	// One instant is enough, and no length is negative.
	second := jsonscan.Timestamp{UnixNano: 2e9, Set: true}
	for times, flaw := range map[string]string{`"start_timestamp":2`: "end_timestamp_missing", `"timestamp":2`: "start_timestamp_missing", `"start_timestamp":2,"timestamp":1`: "end_before_start"} {
		got, flaws, err := DecodeSpan([]byte(`{"trace_id":"` + wholeTraceID + `","span_id":"` + wholeSpanID + `",` + times + `}`))
		require.NoError(t, err)
		assert.Equal(t, &Span{TraceID: wholeTraceID, SpanID: wholeSpanID, Start: second, End: second, Repaired: true}, got, times)
		assert.Equal(t, []discard.Flaw{{Field: flaw, Count: 1}}, flaws)
	}
	got, flaws, err = DecodeSpan([]byte(`{"trace_id":"` + wholeTraceID + `","span_id":"` + wholeSpanID + `","start_timestamp":2,"timestamp":2}`))
	require.NoError(t, err)
	assert.False(t, got.Repaired)
	assert.Empty(t, flaws)
	for payload, want := range map[string]discard.Reason{
		`{"span_id":"` + wholeSpanID + `","timestamp":2}`: ReasonSpanInvalidID, `{"trace_id":"` + wholeTraceID + `","timestamp":2}`: ReasonSpanInvalidID,
		`{"trace_id":"` + wholeTraceID + `","span_id":"` + wholeSpanID + `"}`: ReasonSpanNoTime, `[]`: jsonscan.ReasonMalformed,
	} {
		_, _, err := DecodeSpan([]byte(payload))
		assert.ErrorContains(t, err, string(want), payload)
	}
}

func TestWholeTransaction(t *testing.T) {
	got, err := DecodeTransaction([]byte(`{"event_id":"` + wholeEventID + `","transaction":"tx","start_timestamp":1,"timestamp":2,"transaction_info":{"later":1,"source":"route"},` +
		`"contexts":{"trace":{` + wholeSpan + `},"profile":{"profile_id":"` + wholeEventID + `","profiler_id":"` + wholeEventID + `","later":1},"os":{"name":"Linux"},"none":null},` +
		`"spans":[{"start_timestamp":1,"timestamp":2,` + wholeSpan + `},7,{}],"measurements":{"fcp":{"value":1,"unit":"second"}}}`))
	require.NoError(t, err)
	root := wholeSpanDecoded()
	root.Rest = []NamedValue{{"later", []byte("1")}}
	assert.Equal(t, &Transaction{
		ErrorEvent: ErrorEvent{EventID: wholeEventID, Transaction: "tx", Timestamp: jsonscan.Timestamp{UnixNano: 2e9, Set: true}, Info: TransactionInfo{Source: "route"}, Contexts: []NamedValue{{"os", []byte(`{"name":"Linux"}`)}},
			Tally: discard.Tally{
				Flaws: []discard.Flaw{{Field: FieldUnmapped, Count: 7, Keys: "transaction_info.later, contexts.trace.measurements.later, links.later, contexts.profile.later, spans.measurements.later, spans.later"}, {Field: "contexts.trace.links", Count: 1}, {Field: "spans.links", Count: 1}, {Field: "spans", Count: 1}},
				Lost:  []discard.Loss{{Reason: ReasonSpanNoObject, Count: 1}, {Reason: ReasonSpanInvalidID, Count: 1}},
			}},
		Root: &root, Spans: []Span{wholeSpanDecoded()}, Measurements: []NamedMeasure{{"fcp", 1, "second"}}, ProfileID: wholeEventID, ProfilerID: wholeEventID,
	}, got)

	_, err = DecodeTransaction([]byte(`{"timestamp":2}`))
	assert.ErrorContains(t, err, string(ReasonSpanInvalidID))
	assert.Equal(t, uint64(1e9), ReadHead([]byte(`{"start_timestamp":1,"timestamp":2}`)).Start.UnixNano)
	assert.False(t, ReadHead([]byte(`[]`)).Start.Set)
}
