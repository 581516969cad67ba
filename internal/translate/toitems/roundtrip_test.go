// SPDX-License-Identifier: Apache-2.0

package toitems

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

const receivedNano = 1_795_225_000_000_000_000

var options = tosentry.ExportOptions{SDK: sentry.ClientSDK{Name: "otelcol-test", Version: "1.2.3"}, ReceivedNano: receivedNano}

// TestItemsThereAndBack takes every item of the cases that becomes log records to OTLP and back,
// and compares the text. The differences that docs/mapping.md lists are applied to what was sent.
func TestItemsThereAndBack(t *testing.T) {
	counts := map[string]int{}
	for _, c := range golden.Cases(t) {
		if c.Envelope != nil {
			envelopeThereAndBack(t, c.Name, c.Envelope, counts)
		}
	}
	t.Log("cases", counts)
	require.Greater(t, counts["event"], 15)
}

func TestCorpusItemsThereAndBack(t *testing.T) {
	counts := map[string]int{}
	for _, request := range golden.Corpus(t) {
		if strings.HasSuffix(request.Path, "/store/") {
			itemThereAndBack(t, request.Name, sentry.Item{Header: sentry.ItemHeader{Type: sentry.ItemEvent}, Payload: request.Event(t)}, fromsentry.Source{ProjectID: "1", IncludePII: true, ReceivedNano: receivedNano}, counts)
			continue
		}
		envelopeThereAndBack(t, request.Name, request.Decoded(t), counts)
	}
	t.Log("corpus", counts)
	require.Equal(t, map[string]int{"log": 30, "event": 72, "feedback": 10, "check_in": 44}, counts)
}

func envelopeThereAndBack(t *testing.T, name string, body []byte, counts map[string]int) {
	envelope, err := sentry.ReadEnvelope(body)
	if envelope == nil || err != nil && len(envelope.Items) == 0 {
		return
	}
	src := fromsentry.Source{ProjectID: "1", EventID: envelope.Header.EventID, IncludePII: true, ReceivedNano: receivedNano}
	for _, item := range envelope.Items {
		itemThereAndBack(t, name, item, src, counts)
	}
}

func itemThereAndBack(t *testing.T, name string, item sentry.Item, src fromsentry.Source, counts map[string]int) {
	var want, got []string
	switch item.Header.Type {
	case sentry.ItemLog:
		sent, err := event.DecodeLogs(item.Payload, item.Header.ItemCount)
		if err != nil {
			return
		}
		back := FromLogs(fromsentry.LogsToLogs(sent, src), LogOptions{ExportOptions: options})
		for i := range back.Items {
			c, err := event.DecodeLogs(back.Items[i].Payload, back.Items[i].Header.ItemCount)
			require.NoError(t, err, name)
			require.Empty(t, c.Flaws, name)
			got = append(got, logLines(c.Logs)...)
		}
		require.Empty(t, back.Lost, name)
		want = logLines(expectedLogs(sent.Logs))
	case sentry.ItemEvent, sentry.ItemFeedback:
		sent, err := event.DecodeEvent(item.Payload)
		if err != nil {
			return
		}
		logs := fromsentry.EventToLogs(sent, src)
		if item.Header.Type == sentry.ItemFeedback {
			logs = fromsentry.FeedbackToLogs(sent, src)
		}
		back := FromLogs(logs, LogOptions{ExportOptions: options})
		require.Equal(t, new(logExporter).export(logs, LogOptions{ExportOptions: options}), back, "%s: not with the memory of other messages", name)
		require.Empty(t, back.Lost, name)
		require.Len(t, back.Items, 1, name)
		require.Equal(t, item.Header.Type, back.Items[0].Header.Type, name)
		returned, err := event.DecodeEvent(back.Items[0].Payload)
		require.NoError(t, err, name)
		require.Empty(t, returned.Flaws, name)
		want, got = eventLines(expectedEvent(sent, item.Header.Type, src)), eventLines(returned)
	case sentry.ItemCheckIn:
		sent, err := event.DecodeCheckIn(item.Payload)
		if err != nil {
			return
		}
		back := FromLogs(fromsentry.CheckInToLogs(sent, src), LogOptions{ExportOptions: options})
		require.Len(t, back.Items, 1, name)
		requireStored(t, name, back)
		returned, err := event.DecodeCheckIn(back.Items[0].Payload)
		require.NoError(t, err, name)
		sent.Flaws, sent.Timestamp.WholeSeconds = nil, false
		if sent.SDK == (sentry.ClientSDK{}) {
			sent.SDK = options.SDK
		}
		sent.Config = []byte(golden.PlainJSON(sent.Config))
		returned.Config = []byte(golden.PlainJSON(returned.Config))
		require.Equal(t, sent, returned, name)
	case sentry.ItemUserReport:
		sent, err := event.DecodeUserReport(item.Payload)
		if err != nil {
			return
		}
		back := FromLogs(fromsentry.UserReportToLogs(sent, src), LogOptions{ExportOptions: options})
		require.Len(t, back.Items, 1, name)
		requireStored(t, name, back)
		returned, err := event.DecodeUserReport(back.Items[0].Payload)
		require.NoError(t, err, name)
		sent.Flaws, sent.EventID = nil, attr.FirstText(sent.EventID, src.EventID)
		require.Equal(t, sent, returned, name)
	default:
		return
	}
	counts[string(item.Header.Type)]++
	slices.Sort(want)
	slices.Sort(got)
	assert.Equal(t, without(want, got), without(got, want), "%s: lines that were sent and did not come back, and vice versa", name)
	assert.Len(t, got, len(want), name)
}

// requireStored checks that ingest stores each item.
func requireStored(t *testing.T, name string, back tosentry.Export) {
	t.Helper()
	for _, item := range back.Items {
		envelope := &sentry.Envelope{Header: sentry.EnvelopeHeader{EventID: item.EventID, Trace: item.Trace}, Items: []sentry.Item{item.Item}}
		require.Empty(t, fakesentry.Verdict(envelope), "%s: %s", name, item.Payload)
	}
}

func without(lines, others []string) (only []string) {
	for _, line := range lines {
		if _, found := slices.BinarySearch(others, line); !found {
			only = append(only, line)
		}
	}
	return only
}

func logLines(logs []event.Log) (lines []string) {
	for i, l := range logs {
		line := func(format string, args ...any) {
			lines = append(lines, fmt.Sprint(i, " ")+fmt.Sprintf(format, args...))
		}
		if slices.ContainsFunc(l.Attributes, func(a event.Attribute) bool { return a.Key == semconv.SentryTraceIDSynthetic }) {
			l.TraceID = ""
		}
		line("%d %s %s %q %v %q", l.Timestamp.UnixNano, l.TraceID, l.SpanID, l.Level, l.SeverityNumber, l.Body)
		for _, a := range l.Attributes {
			if a.Key == semconv.SentryPlatform { // added for Sentry
				continue
			}
			line("%q is %s %s %q", a.Key, a.Type, golden.PlainJSON(a.Value), a.Unit)
		}
	}
	return lines
}

// expectedLogs is what was sent, with the listed differences.
func expectedLogs(sent []event.Log) []event.Log {
	shared := map[string]event.Attribute{}
	for _, a := range sent[0].Attributes {
		if slices.Contains([]string{semconv.SentryRelease, semconv.SentryEnvironment, semconv.SentrySDKName, semconv.SentrySDKVersion}, a.Key) {
			shared[a.Key] = a
		}
	}
	if _, ok := shared[semconv.SentrySDKName]; !ok {
		shared[semconv.SentrySDKName] = event.Attribute{Key: semconv.SentrySDKName, Type: "string", Value: attr.JsonString(options.SDK.Name)}
		shared[semconv.SentrySDKVersion] = event.Attribute{Key: semconv.SentrySDKVersion, Type: "string", Value: attr.JsonString(options.SDK.Version)}
	}
	var all []event.Log
	for _, l := range sent {
		if l.Level == "" {
			l.Level = "info"
		}
		if !l.SeverityNumber.Set || l.SeverityNumber.Value < 1 || l.SeverityNumber.Value > 24 {
			number, _ := attr.Severity(l.Level)
			l.SeverityNumber = jsonscan.Optional[int64]{Value: int64(number), Set: number != 0}
		}
		if !l.Timestamp.Set {
			l.Timestamp = jsonscan.Timestamp{UnixNano: receivedNano, Set: true}
		}
		own := map[string]bool{}
		var attributes []event.Attribute
		for _, a := range l.Attributes {
			if number, ok := strings.CutPrefix(a.Key, semconv.SentryMessageParametersPrefix); ok {
				a.Key = semconv.SentryMessageParameterPrefix + number
			}
			if a.Key == semconv.SentryServerAddress {
				a.Key = semconv.ServerAddress
			}
			if a.Key == semconv.SentryTraceParentSpanID && l.SpanID == "" && l.TraceID != "" {
				l.SpanID = attr.JsonText(a.Value)
			}
			a.Type, a.Value, a.Unit = expectedType(a)
			own[a.Key] = true
			attributes = append(attributes, a)
		}
		for key, a := range shared {
			if !own[key] {
				attributes = append(attributes, a)
			}
		}
		if l.TraceID == "" {
			l.SpanID = ""
			attributes = append(attributes, flag(semconv.SentryTraceIDSynthetic))
		}
		l.Attributes = attributes
		all = append(all, l)
	}
	return all
}

// expectedType: an attribute has the type of its value; objects are text; units are not kept.
func expectedType(a event.Attribute) (kind string, value []byte, unit string) {
	switch a.Value[0] {
	case '"':
		if _, whole := attr.CanonicalInt(attr.JsonText(a.Value)); whole && (a.Type == "integer" || a.Key == semconv.ThreadID) {
			return "integer", []byte(attr.JsonText(a.Value)), ""
		}
		return "string", a.Value, ""
	case 't', 'f':
		return "boolean", a.Value, ""
	case '[':
		return "array", a.Value, ""
	case '{':
		return "string", attr.JsonString(string(a.Value)), ""
	}
	if a.Type == "double" || strings.ContainsAny(string(a.Value), ".eE") {
		return "double", a.Value, ""
	}
	if _, whole := attr.CanonicalInt(string(a.Value)); !whole {
		return "string", attr.JsonString(string(a.Value)), ""
	}
	return "integer", a.Value, ""
}

func eventLines(e *event.ErrorEvent) []string { return golden.JSONLines(event.Events.Append(nil, e)) }

// expectedEvent is what was sent, with the listed differences.
func expectedEvent(sent *event.ErrorEvent, item sentry.ItemType, src fromsentry.Source) *event.ErrorEvent {
	e := *sent
	e.EventID = attr.FirstText(e.EventID, src.EventID)
	e.Platform = attr.FirstText(e.Platform, "other")
	if e.Message.Text() != e.Message.Template { // what ingest would make of the parameters
		e.Message.Formatted = e.Message.Text()
	}
	e.Type = ""
	if item == sentry.ItemFeedback {
		e.Type, e.Message = "feedback", event.Message{}
	}
	if e.Level == "" {
		e.Level = map[sentry.ItemType]string{sentry.ItemEvent: "error", sentry.ItemFeedback: "info"}[item]
	}
	e.SDK.Rest = slices.Clone(e.SDK.Rest)
	e.SDK.NeverInferIP()
	if e.SDK.ClientSDK == (sentry.ClientSDK{}) {
		e.SDK.ClientSDK = options.SDK
	}
	if !e.Timestamp.Set {
		e.Timestamp = jsonscan.Timestamp{UnixNano: receivedNano, Set: true}
	}
	expectContexts(&e)
	expectRequest(&e)
	return &e
}

// expectContexts: IDs of profiles are in Sentry's form, header names in lower case, texts of the
// machine without white space around.
func expectContexts(e *event.ErrorEvent) {
	e.Contexts = slices.Clone(e.Contexts)
	for i := range e.Contexts {
		var members map[string]json.RawMessage
		if json.Unmarshal(e.Contexts[i].Value, &members) != nil {
			continue
		}
		for name, value := range members {
			if text := attr.JsonText(value); attr.MachineFields.KeyOf(e.Contexts[i].Name+"/"+name) != "" && text != "" {
				members[name] = attr.JsonString(strings.TrimSpace(text))
			}
			switch e.Contexts[i].Name + "." + name {
			case "profile.profile_id", "profile.profiler_id":
				members[name] = attr.JsonString(attr.SimpleID(attr.JsonText(value)))
			case "response.headers":
				var headers map[string]string
				if json.Unmarshal(value, &headers) != nil {
					break
				}
				lower := map[string]string{}
				for name, value := range headers {
					lower[strings.ToLower(name)] = value
				}
				members[name], _ = json.Marshal(lower)
			}
		}
		e.Contexts[i].Value, _ = json.Marshal(members)
	}
	var data []event.NamedValue
	hasProfile := slices.ContainsFunc(e.Contexts, func(c event.NamedValue) bool { return c.Name == "profile" })
	for _, member := range e.Trace.Data {
		if member.Name == semconv.ProfilerID && !hasProfile {
			e.Contexts = append(e.Contexts, event.NamedValue{Name: "profile", Value: []byte(`{"profiler_id":` + string(attr.JsonString(attr.SimpleID(attr.JsonText(member.Value)))) + "}")})
		}
		if member.Name == semconv.ThreadID {
			member.Value = attr.JsonString(attr.PlainText(member.Value))
		}
		if member.Name != semconv.ProfilerID && !inOtherField[member.Name] {
			data = append(data, member)
		}
	}
	e.Trace.Data = data
}

// inOtherField are keys of contexts.trace.data that are also the attributes of other fields.
var inOtherField = map[string]bool{
	semconv.HTTPRequestMethod: true, semconv.URLFull: true, semconv.SentryOp: true, semconv.SentryOrigin: true,
}

func expectRequest(e *event.ErrorEvent) {
	if e.Request == nil {
		return
	}
	request := *e.Request
	request.Headers = nil
	for _, header := range e.Request.Headers {
		request.Headers = append(request.Headers, event.Tag{Key: strings.ToLower(header.Key), Value: header.Value})
	}
	e.Request = &request
}

// backOf returns the payload of an event after OTLP.
func backOf(t *testing.T, payload string) string {
	sent, err := event.DecodeEvent([]byte(payload))
	require.NoError(t, err)
	back := FromLogs(fromsentry.EventToLogs(sent, fromsentry.Source{ProjectID: "1", IncludePII: true, ReceivedNano: receivedNano}), LogOptions{ExportOptions: options})
	require.Empty(t, back.Lost)
	require.Empty(t, back.Flaws)
	require.Len(t, back.Items, 1)
	return string(back.Items[0].Payload)
}

// members returns an object or a list of JSON with n elements.
func members(n int, element func(i int) string, brackets string) string {
	var all []string
	for i := range n {
		all = append(all, element(i))
	}
	return brackets[:1] + strings.Join(all, ",") + brackets[1:]
}

// TestLargeObjectsThereAndBack: objects with more members than an attribute may have come back as
// objects. Only those inside other values become text; the receiver counts them.
func TestLargeObjectsThereAndBack(t *testing.T) {
	number := func(i int) string { return fmt.Sprintf(`"k%d":%d`, i, i) }
	version := func(i int) string { return fmt.Sprintf(`"package-%d":"1.%d"`, i, i) }
	for field, object := range map[string]string{
		"extra": members(600, number, "{}"), "modules": members(900, version, "{}"), "_meta": members(600, number, "{}"), "tags": members(900, version, "{}"),
	} {
		got := backOf(t, fmt.Sprintf(`{"event_id":"c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1","level":"error",%q:%s}`, field, object))
		require.True(t, strings.Contains(got, fmt.Sprintf(`%q:%s`, field, object)), field)
	}
	wide := members(600, number, "{}")
	for _, part := range []string{
		`"breadcrumbs":{"values":[{"message":"m","data":%s}]}`,
		`"vars":%s`,
		`"mechanism":{"type":"generic","data":%s}`,
		`"shop":%s`,
		`"device":%s`,
	} {
		part = fmt.Sprintf(part, wide)
		payload := `{"event_id":"c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1c1",` + part + `}`
		switch {
		case strings.HasPrefix(part, `"vars`):
			payload = `{"exception":{"values":[{"type":"E","stacktrace":{"frames":[{"function":"f",` + part + `}]}}]}}`
		case strings.HasPrefix(part, `"mechanism`):
			payload = `{"exception":{"values":[{"type":"E",` + part + `}]}}`
		case strings.HasPrefix(part, `"shop`), strings.HasPrefix(part, `"device`):
			payload = `{"contexts":{` + part + `,"os":{"name":"iOS"}}}`
		}
		require.True(t, strings.Contains(backOf(t, payload), part), part[:20])
	}

	sent, err := event.DecodeEvent([]byte(`{"extra":{"nested":` + wide + `}}`))
	require.NoError(t, err)
	require.Equal(t, 1, sent.Flaws[0].Count, "too_many_members")
}

// TestHeadersThereAndBack: each value of a repeated header comes back. Sentry's ingest keeps pairs,
// and joins the values of a list.
func TestHeadersThereAndBack(t *testing.T) {
	for _, sent := range []string{
		`[["accept","a"],["x-trace","1"],["x-trace","2"]]`,
		`{"accept":"a","x-trace":["1","2"]}`,
	} {
		got := backOf(t, fmt.Sprintf(`{"request":{"url":"http://shop/","headers":%s},"contexts":{"response":{"headers":%[1]s,"status_code":200}}}`, sent))
		const want = `"headers":[["accept","a"],["x-trace","1"],["x-trace","2"]]`
		require.Equal(t, 2, strings.Count(got, want), got)
	}
	got := backOf(t, `{"request":{"url":"http://shop/","headers":[["accept","a"]]},"contexts":{"response":{"headers":[["via","1.1"]]}}}`)
	require.Contains(t, got, `"headers":{"accept":"a"}`)
	require.Contains(t, got, `"headers":{"via":"1.1"}`)
}

// TestRelativeAddressThereAndBack: an address comes back with its mode, as .NET sends it.
func TestRelativeAddressThereAndBack(t *testing.T) {
	const frames = `"frames":[{"function":"Close","instruction_addr":"0x1f","addr_mode":"rel:0","function_id":"0x6000034"}]`
	got := backOf(t, `{"stacktrace":{`+frames+`},"exception":{"values":[{"type":"E","stacktrace":{`+frames+`}}]}}`)
	require.Equal(t, 2, strings.Count(got, frames), got)
}

// TestTreeThereAndBack: the frames of a call tree keep order and positions; a list in which only
// some frames have a parent is a stack.
func TestTreeThereAndBack(t *testing.T) {
	for _, frames := range []string{
		`[{"function":"main","parent_index":-1,"sample_count":3},{"function":"a","parent_index":0,"sample_count":1},{"function":"b","parent_index":0,"sample_count":2}]`,
		`[{"function":"main"},{"function":"a","parent_index":0},{"function":"b","parent_index":0}]`,
		`[{"function":"main","parent_index":-1},{"function":"a","parent_index":0},{"function":"b"}]`,
		`[{"function":"only","parent_index":-1}]`,
	} {
		got := backOf(t, `{"exception":{"values":[{"type":"MXHangDiagnostic","stacktrace":{"frames":`+frames+`}}]},"threads":{"values":[{"id":"0","stacktrace":{"frames":`+frames+`}}]}}`)
		require.Equal(t, 2, strings.Count(got, `"frames":`+frames), got)
	}
}
