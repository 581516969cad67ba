// SPDX-License-Identifier: Apache-2.0

package measure

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	androidAttributes = `{"installation_id":"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31","app_version":"2.4.0","app_build":"240","app_unique_id":"com.example.shop",` +
		`"measure_sdk_version":"0.19.0","os_name":"android","os_version":"34","network_type":"wifi","network_generation":"unknown","network_provider":"unknown"}`
	sessionID = `"9f2f5a0e-58f4-4a3c-8b53-0a1c7f1d2e3f"`
)

// event makes one of a type; id is its last digits.
func event(id int, eventType, payload string) string {
	return fmt.Sprintf(`{"id":"3c0a4e1e-7d51-4d7f-8f3e-%012d","session_id":%s,"timestamp":"2026-08-01T10:00:00.25000000Z","type":%q,%q:%s,"attribute":%s}`,
		id, sessionID, eventType, eventType, payload, androidAttributes)
}

func span(id, more string) string {
	return fmt.Sprintf(`{"name":"checkout","trace_id":"0af7651916cd43dd8448eb211c80319c","span_id":%q,"session_id":%s,"start_time":"2026-08-01T10:00:00Z",`+
		`"end_time":"2026-08-01T10:00:01Z","duration":1000,"status":1,"attributes":%s%s}`, id, sessionID, androidAttributes, more)
}

func batch(items ...string) string { return `{"events":[` + strings.Join(items, ",") + `]}` }

// judge gives the reason for which the only item of a batch is dropped, "" for none.
func judge(t *testing.T, body string, mode Validation) Reason {
	t.Helper()
	b, err := DecodeJSON([]byte(body), nil)
	require.NoError(t, err, body)
	if err := b.Validate(mode); err != nil {
		return err.(*Invalid).Reason
	}
	return ""
}

func TestDecodeWhatIsNoBatch(t *testing.T) {
	for body, want := range map[string]string{
		"":                            "EOF",
		"[]":                          "must be a JSON object",
		"{}":                          "at least one",
		`{"events":null,"spans":[]}`:  "at least one",
		`{"events":{}}`:               "must be a list",
		`{"events":[{"id":"`:          "unexpected EOF",
		`{"events":[` + "\x00" + `]}`: "invalid character",
	} {
		_, err := DecodeJSON([]byte(body), nil)
		assert.ErrorContains(t, err, want, body)
	}
	b, err := DecodeJSON([]byte(`{"EVENTS":[`+event(1, "custom", `{"name":"x"}`)+`],"other":[{}]} trailing`), nil)
	require.NoError(t, err)
	assert.Len(t, b.Events, 1)
}

// TestRules: each rule at its bound and one beyond.
func TestRules(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	for _, rule := range []struct {
		eventType  string
		good, over string // payloads
	}{
		{"custom", `{"name":` + text(64) + `}`, `{"name":` + text(65) + `}`},
		{"custom", `{"name":"a-b_1"}`, `{"name":"a.b"}`},
		{"screen_view", `{"name":` + text(1024) + `}`, `{"name":` + text(1025) + `}`},
		{"bug_report", `{"description":` + text(4000) + `}`, `{"description":` + text(4001) + `}`},
		{"log", `{"severity_text":"info","severity_number":12,"body":` + text(1000) + `}`, `{"severity_text":"info","severity_number":12,"body":` + text(1001) + `}`},
		{"log", `{"severity_text":"fatal","severity_number":24,"body":"x"}`, `{"severity_text":"fatal","severity_number":20,"body":"x"}`},
		{"string", `{"severity_text":` + text(10) + `,"string":"x"}`, `{"severity_text":` + text(11) + `,"string":"x"}`},
		{"app_exit", `{"reason":` + text(64) + `,"importance":` + text(32) + `,"process_name":"p"}`, `{"reason":` + text(65) + `,"importance":"x","process_name":"p"}`},
		{"gesture_click", `{"target":` + text(128) + `,"x":0,"y":0}`, `{"target":` + text(129) + `,"x":0,"y":0}`},
		{"gesture_click", `{"label":"` + strings.Repeat("ü", 32) + `"}`, `{"label":"` + strings.Repeat("ü", 33) + `"}`}, // characters
		{"gesture_click", `{"x":0.5}`, `{"x":-0.5}`},
		{"gesture_scroll", `{"direction":` + text(8) + `}`, `{"direction":` + text(9) + `}`},
		{"lifecycle_activity", `{"type":"created","class_name":` + text(128) + `}`, `{"type":"created","class_name":` + text(129) + `}`},
		{"lifecycle_activity", `{"type":"paused","class_name":"x"}`, `{"type":"stopped","class_name":"x"}`},
		{"lifecycle_fragment", `{"type":"detached","class_name":"x"}`, `{"type":"detached","class_name":""}`},
		{"lifecycle_view_controller", `{"type":"vcDeinit","class_name":` + text(256) + `}`, `{"type":"vcDeinit","class_name":` + text(257) + `}`},
		{"lifecycle_swift_ui", `{"type":"on_appear","class_name":"x"}`, `{"type":"appear","class_name":"x"}`},
		{"lifecycle_app", `{"type":"foreground"}`, `{"type":"terminated"}`}, // Apple only
		{"cold_launch", `{"process_start_uptime":1,"on_next_draw_uptime":2,"launched_activity":` + text(127) + `}`, `{"process_start_uptime":1,"on_next_draw_uptime":2,"launched_activity":` + text(128) + `}`},
		{"cold_launch", `{"content_provider_attach_uptime":1,"on_next_draw_uptime":2,"launched_activity":"x"}`, `{"on_next_draw_uptime":2,"launched_activity":"x"}`},
		{"warm_launch", `{"on_next_draw_uptime":1,"launched_activity":"x"}`, `{"on_next_draw_uptime":0,"launched_activity":"x"}`},
		{"hot_launch", `{"app_visible_uptime":1,"on_next_draw_uptime":1,"launched_activity":"x"}`, `{"on_next_draw_uptime":1,"launched_activity":"x"}`},
		{"network_change", `{"network_type":"vpn","previous_network_type":"wifi","network_generation":"5g","previous_network_generation":"2g","network_provider":` + text(63) + `}`,
			`{"network_type":"vpn","previous_network_type":"wifi","network_generation":"6g","previous_network_generation":"2g","network_provider":"x"}`},
		{"http", `{"url":"u","method":` + text(16) + `,"start_time":1,"end_time":1}`, `{"url":"u","method":"get","start_time":2,"end_time":1}`},
		{"trim_memory", `{"level":` + text(64) + `}`, `{"level":` + text(65) + `}`},
		{"cpu_usage", `{"num_cores":1,"clock_speed":1}`, `{"num_cores":0,"clock_speed":1}`},
		{"navigation", `{"to":` + text(128) + `}`, `{"to":` + text(129) + `}`},
		{"anr", `{"exceptions":[{}],"threads":[{}]}`, `{"exceptions":[{}]}`},
		{"exception", `{"exceptions":[{}],"threads":[{}]}`, `{"exceptions":[{}]}`}, // jvm by inference
		{"exception", `{"framework":"dart","exceptions":[{}],"binary_images":[{"arch":"a","base_addr":"b"}]}`, `{"framework":"dart","exceptions":[{}],"binary_images":[{"arch":"a"}]}`},
		{"exception", `{"framework":"js","exceptions":[{}]}`, `{"framework":"lua","exceptions":[{}]}`},
		{"exception", `{"framework":"js","exceptions":[{}],"severity":"handled"}`, `{"framework":"js","exceptions":[{}],"severity":"mild"}`},
		{"exception", `{"framework":"js","exceptions":[{}],"meta":{"a":` + text(4096-8) + `}}`, `{"framework":"js","exceptions":[{}],"meta":{"a":` + text(4097-8) + `}}`},
		{"exception", `{"framework":"js","exceptions":[{}]}`, `{"framework":"apple","exceptions":[{}],"threads":[{}]}`}, // on Android
		{"profile", `{}`, `null`},
		{"memory_usage", `{}`, `null`},
		{"session_start", `null`, ""},
	} {
		for _, mode := range []Validation{Lenient, Strict} {
			assert.Empty(t, judge(t, batch(event(1, rule.eventType, rule.good)), mode), "%s %.200s", rule.eventType, rule.good)
			if rule.over != "" {
				assert.Equal(t, ReasonPayload, judge(t, batch(event(1, rule.eventType, rule.over)), mode), "%s %.200s", rule.eventType, rule.over)
			}
		}
	}
}

// TestRulesOfFields: each field of a payload that has a rule, at its bound and one beyond, in a
// payload that is good otherwise.
func TestRulesOfFields(t *testing.T) {
	text := func(n int) string { return strings.Repeat("x", n) }
	type fields = map[string]any
	for _, rule := range []struct {
		eventType string
		good      fields
		field     string
		at, over  []any
	}{
		{"app_exit", fields{"reason": "r", "importance": "i", "process_name": "p"}, "reason", []any{text(1), text(64)}, []any{"", text(65)}},
		{"app_exit", fields{"reason": "r", "importance": "i", "process_name": "p"}, "importance", []any{text(1), text(32)}, []any{"", text(33)}},
		{"app_exit", fields{"reason": "r", "importance": "i", "process_name": "p"}, "process_name", []any{text(500)}, []any{""}},
		{"string", fields{"string": "s"}, "string", []any{text(5000)}, []any{""}},
		{"string", fields{"string": "s"}, "severity_text", []any{"", text(10)}, []any{text(11)}},
		{"log", fields{"severity_text": "info", "severity_number": 12, "body": "b"}, "body", []any{text(1), text(1000)}, []any{"", text(1001)}},
		{"log", fields{"severity_text": "info", "severity_number": 12, "body": "b"}, "severity_number", nil, []any{8, 13, nil}},
		{"log", fields{"severity_text": "info", "severity_number": 12, "body": "b"}, "severity_text", nil, []any{"", "debug", "INFO"}},
		{"gesture_click", fields{}, "target", []any{text(128)}, []any{text(129)}},
		{"gesture_click", fields{}, "target_id", []any{text(128)}, []any{text(129)}},
		{"gesture_long_click", fields{}, "label", []any{text(32)}, []any{text(33)}},
		{"gesture_long_click", fields{}, "semantic_label", []any{text(32)}, []any{text(33)}},
		{"gesture_scroll", fields{}, "x", []any{0}, []any{-1}},
		{"gesture_scroll", fields{}, "y", []any{0}, []any{-1}},
		{"gesture_scroll", fields{}, "end_x", []any{0}, []any{-1}},
		{"gesture_scroll", fields{}, "end_y", []any{0}, []any{-1}},
		{"gesture_scroll", fields{}, "direction", []any{text(8)}, []any{text(9)}},
		{"lifecycle_activity", fields{"type": "created", "class_name": "c"}, "type", []any{"created", "resumed", "paused", "destroyed"}, []any{"", "attached"}},
		{"lifecycle_activity", fields{"type": "created", "class_name": "c"}, "class_name", []any{text(1), text(128)}, []any{"", text(129)}},
		{"lifecycle_fragment", fields{"type": "attached", "class_name": "c"}, "type", []any{"attached", "resumed", "paused", "detached"}, []any{"", "created"}},
		{"lifecycle_fragment", fields{"type": "attached", "class_name": "c"}, "class_name", []any{text(1), text(128)}, []any{"", text(129)}},
		{"lifecycle_fragment", fields{"type": "attached", "class_name": "c"}, "parent_activity", []any{"", text(128)}, []any{text(129)}},
		{"lifecycle_fragment", fields{"type": "attached", "class_name": "c"}, "parent_fragment", []any{"", text(128)}, []any{text(129)}},
		{"lifecycle_view_controller", fields{"type": "loadView", "class_name": "c"}, "type", []any{"loadView", "viewDidLoad", "viewWillAppear", "viewDidAppear", "viewWillDisappear",
			"viewDidDisappear", "didReceiveMemoryWarning", "initWithNibName", "initWithCoder", "vcDeinit"}, []any{"", "created"}},
		{"lifecycle_view_controller", fields{"type": "loadView", "class_name": "c"}, "class_name", []any{text(1), text(256)}, []any{"", text(257)}},
		{"lifecycle_swift_ui", fields{"type": "on_appear", "class_name": "c"}, "type", []any{"on_appear", "on_disappear"}, []any{"", "created"}},
		{"lifecycle_swift_ui", fields{"type": "on_appear", "class_name": "c"}, "class_name", []any{text(1), text(128)}, []any{"", text(129)}},
		{"lifecycle_app", fields{"type": "background"}, "type", []any{"background", "foreground"}, []any{"", "terminated"}},
		{"cold_launch", fields{"process_start_requested_uptime": 1, "on_next_draw_uptime": 2, "launched_activity": "a"}, "process_start_requested_uptime", []any{1}, []any{0, nil}},
		{"cold_launch", fields{"process_start_uptime": 1, "on_next_draw_uptime": 2, "launched_activity": "a"}, "on_next_draw_uptime", []any{1}, []any{0}},
		{"warm_launch", fields{"on_next_draw_uptime": 2, "launched_activity": "a"}, "launched_activity", []any{text(1), text(127)}, []any{"", text(128)}},
		{"warm_launch", fields{"on_next_draw_uptime": 2, "launched_activity": "a"}, "on_next_draw_uptime", []any{1}, []any{0}},
		{"hot_launch", fields{"app_visible_uptime": 1, "on_next_draw_uptime": 2, "launched_activity": "a"}, "app_visible_uptime", []any{1}, []any{0}},
		{"hot_launch", fields{"app_visible_uptime": 1, "on_next_draw_uptime": 2, "launched_activity": "a"}, "launched_activity", []any{text(127)}, []any{text(128)}},
		{"http", fields{"url": "u", "method": "get"}, "url", []any{"u"}, []any{""}},
		{"http", fields{"url": "u", "method": "get"}, "method", []any{text(16)}, []any{"", text(17)}},
		{"http", fields{"url": "u", "method": "get"}, "client", []any{"", text(32)}, []any{text(33)}},
		{"http", fields{"url": "u", "method": "get", "start_time": 5}, "end_time", []any{5, 6}, []any{4}},
		{"trim_memory", fields{}, "level", []any{text(1), text(64)}, []any{"", text(65)}},
		{"cpu_usage", fields{"num_cores": 1, "clock_speed": 1}, "num_cores", []any{1}, []any{0}},
		{"cpu_usage", fields{"num_cores": 1, "clock_speed": 1}, "clock_speed", []any{1}, []any{0}},
		{"navigation", fields{}, "from", []any{"", text(128)}, []any{text(129)}},
		{"navigation", fields{}, "source", []any{"", text(128)}, []any{text(129)}},
		{"screen_view", fields{}, "name", []any{"", text(1024)}, []any{text(1025)}},
		{"bug_report", fields{}, "description", []any{"", text(4000)}, []any{text(4001)}},
		{"custom", fields{}, "name", []any{"aZ09_-", text(64)}, []any{"", "a b", "ä", text(65)}},
	} {
		try := func(value any) Reason {
			payload := maps.Clone(rule.good)
			payload[rule.field] = value
			body, err := json.Marshal(payload)
			require.NoError(t, err)
			return judge(t, batch(event(1, rule.eventType, string(body))), Lenient)
		}
		for _, value := range rule.at {
			assert.Empty(t, try(value), "%s.%s %v", rule.eventType, rule.field, value)
		}
		for _, value := range rule.over {
			assert.Equal(t, ReasonPayload, try(value), "%s.%s %v", rule.eventType, rule.field, value)
		}
	}
	network := fields{"network_type": "wifi", "previous_network_type": "wifi", "network_generation": "5g", "previous_network_generation": "5g", "network_provider": "p"}
	for field, bad := range map[string][]any{"network_type": {"", "lan"}, "previous_network_type": {"", "lan"}, "network_generation": {"", "6g"}, "previous_network_generation": {"", "6g"},
		"network_provider": {"", text(64)}} {
		for _, value := range bad {
			payload := maps.Clone(network)
			payload[field] = value
			body, err := json.Marshal(payload)
			require.NoError(t, err)
			assert.Equal(t, ReasonPayload, judge(t, batch(event(1, "network_change", string(body))), Lenient), "%s %v", field, value)
		}
	}
}

// TestScalars: what each kind of scalar takes, and what it marks.
func TestScalars(t *testing.T) {
	for text, want := range map[string]Text{`"4711"`: "4711", `4711`: "4711", `-1`: "-1", `0.5`: "0.5", `"x"`: "x", `null`: "", `true`: "", `[1]`: "", `{}`: ""} {
		got := Text("before")
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]Int{
		`7`: {7, true, false}, `-7`: {-7, true, false}, `0`: {0, true, false}, `null`: {}, `7.9`: {7, true, true}, `-7.9`: {-7, true, true}, `"7"`: {7, true, true}, `1e3`: {1000, true, true},
		`9223372036854775807`: {math.MaxInt64, true, false}, `9223372036854775808`: {0, false, true}, `1e400`: {0, false, true}, `true`: {0, false, true}, `"x"`: {0, false, true}, `[]`: {0, false, true},
	} {
		got := Int{1, true, true}
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]Float{`0.5`: {0.5, true, false}, `-3`: {-3, true, false}, `null`: {}, `"1"`: {0, false, true}, `true`: {0, false, true}, `1e400`: {0, false, true}} {
		got := Float{1, true, true}
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.Equal(t, want, got, text)
	}
	for text, want := range map[string]Time{
		`"2026-08-01T10:00:00.25Z"`: {1785578400250000000, true, false, false}, `"2026-08-01T12:00:00+02:00"`: {1785578400000000000, true, false, false},
		`"2026-08-01T10:00:00"`: {1785578400000000000, true, false, true}, `null`: {}, `"1970-01-01T00:00:01Z"`: {1e9, true, false, false},
		`"1970-01-01T00:00:00Z"`: {Bad: true}, `"1970-01-01T00:00:00"`: {Bad: true}, `"2262-04-11T23:47:15Z"`: {(maxSeconds - 1) * 1e9, true, false, false}, `"2262-04-11T23:47:16Z"`: {Bad: true},
		`""`: {Bad: true}, `7`: {Bad: true}, `"today"`: {Bad: true},
	} {
		got := Time{1, true, true, true}
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.Equal(t, want, got, text)
	}
	id := ID{UUID: uuid.MustParse("6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31")}
	for text, want := range map[string]ID{`"6E1F6B6E2F0A4C539D0A0B7F5B1F2C31"`: id, `"{6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31}"`: id, `null`: {}, `""`: {Empty: true}, `"x"`: {Bad: true}, `7`: {Bad: true}} {
		got := ID{Empty: true, Bad: true}
		require.NoError(t, got.UnmarshalJSON([]byte(text)))
		assert.Equal(t, want, got, text)
	}
	assert.Equal(t, "6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31", id.String())
	assert.Empty(t, ID{}.String())
}

func TestRulesOfTheEnvelope(t *testing.T) {
	good := event(1, "custom", `{"name":"x"}`)
	for _, rule := range []struct {
		old, new        string
		lenient, strict Reason
	}{
		{`"id":"3c0a4e1e-7d51-4d7f-8f3e-000000000001"`, `"id":null`, ReasonID, ReasonID},
		{`"id":"3c0a4e1e-7d51-4d7f-8f3e-000000000001"`, `"id":""`, "", ReasonFieldType},
		{`"id":"3c0a4e1e-7d51-4d7f-8f3e-000000000001"`, `"id":"{3C0A4E1E7D514D7F8F3E000000000001}"`, ReasonID, ReasonID},
		{`"id":"3c0a4e1e-7d51-4d7f-8f3e-000000000001"`, `"id":"{3C0A4E1E-7D51-4D7F-8F3E-000000000001}"`, "", ""},
		{`25000000Z"`, `25"`, "", ReasonFieldType},
		{`25000000Z"`, `25+05:30"`, "", ""},
		{`"2026-08-01T10:00:00.25000000Z"`, `"yesterday"`, ReasonTimestamp, ReasonTimestamp},
		{`"os_name":"android"`, `"os_name":"webos"`, ReasonOS, ReasonOS},
		{`"os_name":"android"`, `"os_name":"ANDROID"`, "", ""},
		{`"network_type":"wifi"`, `"network_type":""`, ReasonAttribute, ReasonAttribute},
		{`"app_version":"2.4.0"`, `"app_version":""`, ReasonAttribute, ReasonAttribute},
		{`"app_version":"2.4.0"`, `"app_version":24`, ReasonAttribute, ReasonAttribute},
		{`"os_version":"34"`, `"os_version":34`, "", ReasonFieldType},
		{`"os_version":"34"`, `"os_page_size":256`, ReasonAttribute, ReasonAttribute},
		{`"os_version":"34"`, `"os_page_size":4.5`, "", ReasonFieldType},
		{`"os_version":"34"`, `"session_start_time":"2026-08-01T10:00:01Z"`, ReasonAttribute, ReasonAttribute},
		{`"type":"custom","custom"`, `"user_defined_attribute":{"a.b":1},"type":"custom","custom"`, ReasonUserAttribute, ReasonUserAttribute},
		{`"type":"custom","custom"`, `"user_defined_attribute":{"a":null,"b":1},"type":"custom","custom"`, "", ReasonFieldType},
		{`"type":"custom","custom"`, `"attachments":[{"id":"3c0a4e1e-7d51-4d7f-8f3e-000000000009","type":"photo","name":"x"}],"type":"custom","custom"`, ReasonAttachment, ReasonAttachment},
		{`"type":"custom","custom"`, `"type":"hologram","hologram"`, "", ReasonType},
	} {
		changed := strings.Replace(good, rule.old, rule.new, 1)
		require.NotEqual(t, good, changed, rule.old)
		assert.Equal(t, rule.lenient, judge(t, batch(changed), Lenient), rule.new)
		want := rule.strict
		if got := judge(t, batch(changed), Strict); want != got && want != "" {
			assert.Contains(t, []Reason{want, ReasonFieldType}, got, rule.new) // whichever the backend finds first
		}
	}
}

// TestNeighborsSurvive: a bad item costs itself only, and a batch of bad ones is refused with the
// first reason.
func TestNeighborsSurvive(t *testing.T) {
	good, bad := event(1, "custom", `{"name":"x"}`), event(2, "custom", `{"name":""}`)
	b, err := DecodeJSON([]byte(`{"events":[{},7,`+bad+`,`+good+`,`+good+`],"spans":[`+span("b7ad6b7169203331", "")+`,`+span("b7ad6b7169203331", "")+`,"x"]}`), nil)
	require.NoError(t, err)
	require.NoError(t, b.Validate(Lenient))
	assert.Len(t, b.Events, 1)
	assert.Len(t, b.Spans, 1)
	lost := map[string]int{}
	for _, loss := range b.Lost {
		lost[loss.Label+" "+string(loss.Reason)] += loss.Count
	}
	assert.Equal(t, map[string]int{"unknown malformed": 1, "unknown os_name": 1, "custom payload": 1, "custom duplicate": 1, "span malformed": 1, "span duplicate": 1}, lost)

	b, err = DecodeJSON([]byte(batch(bad, `{}`)), nil)
	require.NoError(t, err)
	assert.ErrorContains(t, b.Validate(Lenient), "custom.name has 0 bytes")
}

func TestSpanRules(t *testing.T) {
	for more, want := range map[string]Reason{
		"": "", `,"status":2`: "", `,"status":3`: ReasonSpan, `,"end_time":"2026-08-01T09:59:59Z"`: ReasonSpan, `,"parent_id":null`: "",
		`,"checkpoints":[{"name":"` + strings.Repeat("x", 65) + `"}]`: ReasonSpan, `,"session_id":null`: ReasonID, `,"start_time":null`: ReasonTimestamp, `,"name":""`: ReasonSpan,
	} {
		assert.Equal(t, want, judge(t, `{"spans":[`+span("b7ad6b7169203331", more)+`]}`, Lenient), more)
	}
}

// TestAttributeRules: each rule for attributes at its bound and one beyond, of events and spans.
func TestAttributeRules(t *testing.T) {
	text := func(n int) string { return `"` + strings.Repeat("x", n) + `"` }
	type rule struct {
		field      string
		good, over string // JSON
	}
	both := []rule{
		{"os_name", `"iPadOS"`, `"webos"`}, {"network_type", `"vpn"`, `"satellite"`}, {"network_generation", `"5g"`, `"6g"`},
		{"installation_id", `"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31"`, `"00000000-0000-0000-0000-000000000000"`},
		{"app_version", text(1), `""`}, {"app_build", text(1), `""`}, {"app_unique_id", text(1), `""`}, {"measure_sdk_version", text(1), `""`},
		{"device_density_dpi", `65535`, `65536`}, {"device_width_px", `0`, `-1`}, {"device_height_px", `65535`, `65536`}, {"os_page_size", `255`, `256`},
	}
	for field, most := range map[string]int{
		"measure_sdk_version": 16, "app_version": 128, "app_build": 32, "app_unique_id": 128, "os_version": 32, "network_provider": 64, "device_name": 32,
		"device_model": 32, "device_type": 32, "device_locale": 64, "device_cpu_arch": 16, "thread_name": 128, "user_id": 128, "patch_version": 256,
		"expo_runtime_version": 128, "expo_automatic_update_policy": 32, "expo_execution_environment": 32, "expo_version": 32, "expo_sdk_version": 32, "expo_eas_project_id": 64,
	} {
		both = append(both, rule{field, text(most), text(most + 1)})
	}
	manufacturer := func(most int) rule { return rule{"device_manufacturer", text(most), text(most + 1)} }
	for body, rules := range map[string][]rule{
		batch(event(1, "custom", `{"name":"x"}`)):          slices.Concat(both, []rule{manufacturer(256)}),
		`{"spans":[` + span("b7ad6b7169203331", "") + `]}`: slices.Concat(both, []rule{manufacturer(32)}),
	} {
		for _, rule := range rules {
			with := func(value string) string { // the last member of a name counts
				return strings.Replace(body, `"network_provider":"unknown"}`, fmt.Sprintf(`"network_provider":"unknown",%q:%s}`, rule.field, value), 1)
			}
			want := ReasonAttribute
			if rule.field == "os_name" {
				want = ReasonOS
			}
			assert.Empty(t, judge(t, with(rule.good), Strict), "%s %s", rule.field, rule.good)
			assert.Equal(t, want, judge(t, with(rule.over), Lenient), "%s %s", rule.field, rule.over)
		}
	}
}

// TestWeight: what is counted before an item is decoded.
func TestWeight(t *testing.T) {
	for text, want := range map[string]weight{
		`{}`: {1, 0, 0, 2}, `{"a":1,"b":2}`: {2, 0, 0, 13}, `[1,2,3]`: {3, 3, 0, 7}, `[]`: {1, 1, 0, 2}, `[[],[{}]]`: {5, 4, 0, 9},
		`{"a":"[,{\",["}`: {1, 0, 0, 15}, `]]}[1,2`: {2, 2, 0, 7}, `{"a":[{"b":1,"c":2}],"d":3}`: {5, 1, 0, 27},
	} {
		assert.Equal(t, want, weigh([]byte(text)), text)
	}
	deepest := strings.Repeat("[", maxDepth)
	assert.Zero(t, weigh([]byte(deepest)).depth)
	assert.Equal(t, maxDepth+1, weigh([]byte(deepest+"{")).depth)
	assert.EqualValues(t, itemBytes+3*valueBytes+3*elementBytes+2*7, weigh([]byte(`[1,2,3]`)).bytes())
}

// TestReserve: memory is asked for before it is spent, in steps, and not for items that are lost; a
// refusal ends the decoding.
func TestReserve(t *testing.T) {
	good := batch(event(1, "custom", `{"name":"x"}`))
	none := func(int64) error { t.Error("asked for a small batch"); return nil }
	_, err := DecodeJSON([]byte(good), none)
	require.NoError(t, err)
	_, err = DecodeJSON([]byte(batch(strings.Repeat(`{},`, 100)+event(1, "custom", `{"name":"x"}`))), none)
	require.NoError(t, err)

	full := errors.New("full")
	var asked []int64
	heavy := event(2, "exception", `{"framework":"js","exceptions":[`+strings.Repeat(`{},`, 300)+`{}]}`)
	_, err = DecodeJSON([]byte(batch(heavy, heavy)), func(n int64) error {
		asked = append(asked, n)
		return map[bool]error{true: full}[len(asked) == 2]
	})
	assert.ErrorIs(t, err, full)
	require.Len(t, asked, 2)
	assert.Equal(t, asked[0], asked[1])
	assert.Equal(t, weigh([]byte(heavy)).bytes(), asked[0])
}

// TestSpanStatus: all SDKs send one; lenient validation takes a span without one as unset.
func TestSpanStatus(t *testing.T) {
	for _, status := range []string{``, `,"status":null`} {
		body := `{"spans":[` + strings.Replace(span("b7ad6b7169203331", ""), `,"status":1`, status, 1) + `]}`
		assert.Empty(t, judge(t, body, Lenient), body)
		assert.Equal(t, ReasonSpan, judge(t, body, Strict), body)
	}
	assert.Empty(t, judge(t, `{"spans":[`+strings.Replace(span("b7ad6b7169203331", ""), `,"status":1`, `,"status":0`, 1)+`]}`, Strict))
}

// TestBuildRules: each rule of a build and of an over-the-air patch, at its bound and one beyond.
func TestBuildRules(t *testing.T) {
	build := `{"version_name":"1","version_code":"2","build_type":"apk","build_size":3,"mappings":[{"type":"proguard","filename":"m"}]}`
	patch := `{"patch_id":"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31","patch_version":"1","mappings":[{"type":"jsbundle","filename":"m"}]}`
	text := func(n int) string { return strings.Repeat("x", n) }
	mappings := func(n int) string { return strings.Repeat(`{"type":"dsym","filename":"m"},`, n-1) }
	for _, c := range []struct {
		body, old, new string
		want           string // of the error, "" = none
	}{
		{build, "", "", ""}, {patch, "", "", ""},
		{build, `"1"`, `"` + text(128) + `"`, ""}, {build, `"1"`, `"` + text(129) + `"`, "at most 128"}, {build, `"1"`, `""`, "must not be empty"},
		{build, `"2"`, `"` + text(32) + `"`, ""}, {build, `"2"`, `"` + text(33) + `"`, "at most 128 and 32"}, {build, `"2"`, `""`, "must not be empty"},
		{build, `"apk"`, `"aab"`, ""}, {build, `"apk"`, `"ipa"`, ""}, {build, `"apk"`, `"exe"`, "build_type"}, {build, `:3`, `:1`, ""}, {build, `:3`, `:0`, "build_size"}, {build, `:3`, `:-1`, "build_size"},
		{build, `,"mappings":[{"type":"proguard","filename":"m"}]`, ``, ""}, {build, `[{"type":"proguard","filename":"m"}]`, `null`, ""},
		{build, `proguard`, `dsym`, ""}, {build, `proguard`, `elf_debug`, ""}, {build, `proguard`, `jsbundle`, ""}, {build, `proguard`, `screenshot`, "type of a mapping"},
		{build, `"m"`, `"` + text(256) + `"`, ""}, {build, `"m"`, `"` + text(257) + `"`, "bare file name"}, {build, `"m"`, `""`, "bare file name"}, {build, `"m"`, `"a/b"`, "bare file name"},
		{build, `"m"`, `".."`, "bare file name"}, {build, `"m"`, `"."`, "bare file name"}, {build, `"m"`, `"/"`, "bare file name"}, {build, `"m"`, `"a\\b"`, "bare file name"}, {build, `"m"`, `"a\u0000"`, "bare file name"},
		{build, `{"type"`, mappings(512) + `{"type"`, ""}, {build, `{"type"`, mappings(513) + `{"type"`, "more than 512"},
		{build, build, `[]`, "JSON object"}, {build, build, `{`, "JSON object"}, {build, `"1"`, `1`, "JSON object"},
		{patch, `"6e1f6b6e-2f0a-4c53-9d0a-0b7f5b1f2c31"`, `"x"`, "patch_id"}, {patch, `"1"`, `"` + text(256) + `"`, ""}, {patch, `"1"`, `"` + text(257) + `"`, "patch_version"},
		{patch, `"1"`, `""`, ""}, {patch, `[{"type":"jsbundle","filename":"m"}]`, `[]`, "mappings must not"}, {patch, `jsbundle`, `proguard`, "type of a mapping"},
	} {
		_, err := DecodeBuild([]byte(strings.Replace(c.body, c.old, c.new, 1)), c.body == patch)
		if c.want == "" {
			assert.NoError(t, err, "%s for %s", c.new, c.old)
		} else {
			assert.ErrorContains(t, err, c.want, "%s for %s", c.new, c.old)
		}
	}
}

// TestBuildSize: the published document calls it a string, the backend takes a number.
func TestBuildSize(t *testing.T) {
	for size, want := range map[string]int64{`1234`: 1234, `"1234"`: 1234, `"9007199254740993"`: 1<<53 + 1, `1234.0`: 1234, `0`: 0, `"0"`: 0, `"many"`: 0, `""`: 0, `null`: 0, `{}`: 0} {
		build, err := DecodeBuild([]byte(`{"version_name":"1","version_code":"2","build_type":"apk","build_size":`+size+`}`), false)
		if want == 0 {
			assert.ErrorContains(t, err, "build_size", size)
			continue
		}
		require.NoError(t, err, size)
		assert.Equal(t, want, build.Size.Value, size)
	}
}

// TestBounds: what a body may make of itself in memory.
func TestBounds(t *testing.T) {
	heavy := event(1, "exception", `{"framework":"js","exceptions":[`+strings.Repeat(`1,`, maxItemElements)+`{}]}`)
	assert.Equal(t, ReasonTooMany, judge(t, batch(heavy), Lenient))
	deep := event(1, "exception", `{"meta":`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`}`)
	assert.Equal(t, ReasonTooDeep, judge(t, batch(deep), Lenient))
	b, err := DecodeJSON([]byte(`{"events":[`+strings.Repeat(`{},`, maxItems+4)+`{}]}`), nil)
	require.NoError(t, err)
	assert.LessOrEqual(t, len(b.Events), maxItems)
	assert.Contains(t, b.Lost, Loss{LabelUnknown, ReasonTooMany, 5})
}

func TestMultipart(t *testing.T) {
	body := "--x\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\n" + event(1, "custom", `{"name":"x"}`) +
		"\r\n--x\r\nContent-Disposition: form-data; name=\"blob-3c0a4e1e-7d51-4d7f-8f3e-000000000009\"; filename=\"a.svg\"\r\n\r\n<svg/>" +
		"\r\n--x\r\nContent-Disposition: form-data; name=\"span\"\r\n\r\n" + span("b7ad6b7169203331", "") + "\r\n--x--\r\n"
	b, blobs, err := DecodeMultipart([]byte(body), "x", nil)
	require.NoError(t, err)
	require.NoError(t, b.Validate(Strict))
	assert.Len(t, b.Events, 1)
	assert.Len(t, b.Spans, 1)
	require.Len(t, blobs, 1)
	assert.Equal(t, "<svg/>", string(blobs[0].Content))

	_, _, err = DecodeMultipart([]byte(body[:len(body)-20]), "x", nil)
	assert.Error(t, err, "cut off")
	for _, name := range []string{"event", "span"} {
		_, _, err = DecodeMultipart([]byte("--x\r\nContent-Disposition: form-data; name=\""+name+"\"\r\n\r\n\r\n--x--\r\n"), "x", nil)
		assert.ErrorContains(t, err, name+" field")
	}
	_, _, err = DecodeMultipart([]byte("--x\r\nContent-Disposition: form-data; name=\"blob-x\"\r\n\r\n\r\n--x--\r\n"), "x", nil)
	assert.ErrorContains(t, err, "attachment's id")
}

func TestKeys(t *testing.T) {
	const key = "msrsh_0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef_a8ae6e6e"
	assert.True(t, WellFormedKey(key))
	assert.False(t, WellFormedKey(key[:len(key)-1]+"f"))
	assert.Equal(t, key, APIKey("Bearer "+key))
	assert.Empty(t, APIKey(key))
}

func TestSDKConfigDocument(t *testing.T) {
	config := DefaultSDKConfig()
	body, etag := config.Document()
	var keys map[string]any
	require.NoError(t, json.Unmarshal(body, &keys))
	assert.Len(t, keys, 21)
	assert.JSONEq(t, `{"max_events_in_batch":10000,"crash_timeline_duration":300,"anr_timeline_duration":300,"bug_report_timeline_duration":300,
		"trace_sampling_rate":100,"journey_sampling_rate":100,"launch_sampling_rate":100,"profile_sampling_rate":100,
		"screenshot_mask_level":"all_text_and_media","log_autocollect_enabled":false,"log_min_severity":16,"log_ignore_patterns":[],
		"cpu_usage_interval":5,"memory_usage_interval":5,"crash_take_screenshot":true,"anr_take_screenshot":true,"gesture_click_take_snapshot":true,
		"http_disable_event_for_urls":[],"http_track_request_for_urls":[],"http_track_response_for_urls":[],"http_blocked_headers":[]}`, string(body))
	config.CrashTakeScreenshot = false
	_, other := config.Document()
	assert.NotEqual(t, etag, other)
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(batch(event(1, "custom", `{"name":"x"}`))), false)
	f.Add([]byte(`{"spans":[`+span("b7ad6b7169203331", "")+`]}`), true)
	f.Add([]byte("--x\r\nContent-Disposition: form-data; name=\"event\"\r\n\r\n{}\r\n--x--\r\n"), false)
	f.Fuzz(func(t *testing.T, body []byte, strict bool) {
		mode := Lenient
		if strict {
			mode = Strict
		}
		check := func(b *Batch) {
			items := b.items
			err := b.Validate(mode)
			lost := 0
			for _, loss := range b.Lost {
				lost += loss.Count
			}
			if lost+len(b.Events)+len(b.Spans) != items {
				t.Fatalf("%d items, of which %d lost, %d kept", items, lost, len(b.Events)+len(b.Spans))
			}
			if err == nil && len(b.Events)+len(b.Spans) == 0 {
				t.Fatal("nothing left and no error")
			}
		}
		if b, err := DecodeJSON(body, nil); err == nil {
			check(b)
		}
		if b, _, err := DecodeMultipart(body, "x", nil); err == nil {
			check(b)
		}
		_, _ = DecodeBuild(body, strict)
	})
}
