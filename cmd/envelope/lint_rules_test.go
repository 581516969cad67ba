// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace/arttracetest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto/perfettotest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// constructed are envelopes for rules that no case breaks, by rule.
var constructed = map[string]string{
	"invalid_otlp":                 "{}\n" + `{"type":"otel_logs_data","content_type":"application/json"}` + "\n" + `{"resourceLogs":1}` + "\n",
	"client_report_no_quantity":    item("client_report", `{"discarded_events":[{"reason":"r","category":"error"}]}`),
	"envelope_invalid_header":      "[]\n",
	"envelope_invalid_item_header": "{}\n[]\n{}\n",
	"envelope_missing_newline":     "{}\n{\"type\":\"event\",\"length\":2}\n{}{}\n",
	"invalid_span":                 item("span", `{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"5b8efff798038103","start_timestamp":2,"timestamp":1}`),
	"invalid_json":                 item("event", `{"message":`),
	"metric_no_name":               item("trace_metric", `{"items":[{"timestamp":1777629600,"type":"counter","value":1}]}`),
	"metric_no_object":             item("trace_metric", `{"items":[1]}`),
	"metric_no_value":              item("trace_metric", `{"items":[{"timestamp":1777629600,"type":"counter","name":"a"}]}`),
	"no_items":                     "{}\n",
	"nothing_usable":               item("session", `{"x":1}`),
	"perfetto_frame_unknown":       perfettoChunk(perfettotest.Snapshot(), perfettotest.Interned(7, perfettotest.Callstack(1, 1, 99)), perfettotest.Sample(0, 40, 1)),
	"perfetto_packet_malformed":    perfettoChunk(perfettotest.Snapshot(), perfettotest.Interned(7, perfettotest.Callstack(1, 1)), perfettotest.Sample(0, 40, 1), []byte("\xff")),
	"sample_clock_unknown": perfettoChunk(perfettotest.Snapshot(), perfettotest.Interned(7, perfettotest.Callstack(1, 1)), perfettotest.Sample(0, 40, 1),
		perfettotest.Message(8, 1, 10, 1, 58, 3, 66, perfettotest.Message(2, 40, 3, 40, 4, 1))), // clock 3
	"profiling_invalid_base64_value": item("profile", `{"platform":"android","sampled_profile":"*"}`),
	"session_no_object":              item("sessions", `{"aggregates":[1],"attrs":{"release":"a@1"}}`),
	"span_no_object":                 item("span", `{"items":[1]}`),
	"span_no_time":                   item("span", `{"items":[{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"5b8efff798038103","name":"a"}]}`),
}

// large are envelopes for rules that limit sizes, by rule. Only the full size has them.
var large = map[string]func() string{
	"envelope_header_too_large": func() string { return `{"x":"` + strings.Repeat("x", 4<<20) + "\"}\n" },
	"envelope_too_many_items":   func() string { return "{}\n" + strings.Repeat("{\"type\":\"session\"}\n{}\n", 200_000) },
	"item_too_large": func() string {
		return item("event", `{"message":"`+strings.Repeat("x", sentry.ItemEvent.MaxSize())+`"}`)
	},
	"profiling_exceed_size_limit": func() string {
		return chunk(`{"function":"`+strings.Repeat("f", sentry.MaxProfileSize)+`"}`, "")
	},
	"too_many_elements": func() string {
		return item("log", `{"items":[`+numbered(jsonscan.MaxElements+1, `{"timestamp":1777629600,"body":"%d"}`)+`]}`)
	},
	"too_many_frames": func() string { return chunk(numbered(sentry.MaxFrames+1, `{"function":"%d"}`), "") },
	"too_many_images": func() string {
		return chunk(`{}`, `"debug_meta":{"images":[`+numbered(sentry.MaxImages+1, `{"debug_id":"%032x"}`)+`]},`)
	},
	"too_many_measurements": func() string {
		return chunk(`{}`, `"measurements":{`+numbered(sentry.MaxMeasurements+1, `"%d":{"unit":"ns","values":[]}`)+`},`)
	},
	"stack_too_deep": func() string {
		var events []arttrace.Event
		for i := range uint32(2000) { // calls without an end
			events = append(events, arttrace.Event{Thread: 1, Method: 4 * i, Wall: 100 * i})
		}
		trace := arttracetest.File(arttrace.Trace{Version: 2, Clock: arttrace.ClockWall, Elapsed: time.Second}, events)
		return item("profile_chunk", `{"platform":"android","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd","timestamp":1777629600.5,"sampled_profile":"`+
			base64.StdEncoding.EncodeToString(trace)+`"}`)
	},
}

// otherwiseReported are rules that lint reports by another name: profiling_exceed_size_limit.
var otherwiseReported = []string{"payload_size"}

// numbered returns a list of numbered JSON values.
func numbered(n int, format string) string {
	var list []byte
	for i := range n {
		list = fmt.Appendf(append(list, ','), format, i)
	}
	return string(list[1:])
}

// chunk returns an envelope with a profile that has these frames and other members.
func chunk(frames, members string) string {
	return item("profile_chunk", `{"version":"2","platform":"python","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd","profiler_id":"1c6f0e4f0b2a4c3d8e9f00112233aabb",`+
		members+`"profile":{"frames":[`+frames+`],"stacks":[[0]],"samples":[{"timestamp":1777629600.1,"thread_id":"1","stack_id":0}]}}`)
}

// perfettoChunk returns an envelope with a trace of Android, in which frame 1 is the call stack of
// the sample.
func perfettoChunk(packets ...[]byte) string {
	trace := perfettotest.Trace(append([][]byte{perfettotest.Interned(5, perfettotest.Text(1, "f"), 6, perfettotest.Frame(1, 1, 1, 0x1000))}, packets...)...)
	const meta = `{"version":"2","platform":"android","chunk_id":"90ab12cd34ef56ab78cd90ef12ab34cd"}`
	return fmt.Sprintf("{}\n{\"type\":\"profile_chunk\",\"meta_length\":%d,\"length\":%d}\n%s%s\n", len(meta), len(meta)+len(trace), meta, trace)
}

// item returns an envelope with an item. Items of containers state their number.
func item(itemType, payload string) string {
	header := fmt.Sprintf(`{"type":%q,"length":%d`, itemType, len(payload))
	if strings.HasPrefix(payload, `{"items":`) {
		header += `,"item_count":1,"content_type":"application/vnd.sentry.items.` + strings.Replace(itemType, "span", "span.v2", 1) + `+json"`
	}
	return "{}\n" + header + "}\n" + payload + "\n"
}

// TestRulesHaveCases: a case or a constructed envelope breaks each rule that has a source.
func TestRulesHaveCases(t *testing.T) {
	broken := map[string]bool{}
	rulesIn := func(envelope []byte, validations ...bool) map[string]bool {
		rules := map[string]bool{}
		for _, strict := range validations {
			for _, f := range findingsIn(envelope, strict, testNow) {
				rules[f.Rule], broken[f.Rule] = true, true
			}
		}
		return rules
	}
	for _, c := range golden.Cases(t) {
		rulesIn(c.Envelope, false, true)
	}
	for rule, envelope := range constructed {
		rules := rulesIn([]byte(envelope), false, true)
		assert.True(t, rules[rule], "%s: only %v", rule, rules)
	}
	for rule, envelope := range large {
		if !testsize.Full() {
			broken[rule] = true
			continue
		}
		rules := rulesIn([]byte(envelope()), false)
		assert.True(t, rules[rule], "%s: only %v", rule, rules)
	}
	var missing []string
	for _, rule := range slices.Sorted(maps.Keys(sources)) {
		if !broken[rule] {
			missing = append(missing, rule)
		}
	}
	assert.Equal(t, otherwiseReported, missing)
}
