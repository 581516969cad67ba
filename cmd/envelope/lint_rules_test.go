// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// constructed are envelopes for rules that no case breaks, by rule.
var constructed = map[string]string{
	"client_report_no_quantity":      item("client_report", `{"discarded_events":[{"reason":"r","category":"error"}]}`),
	"envelope_invalid_header":        "[]\n",
	"envelope_invalid_item_header":   "{}\n[]\n{}\n",
	"envelope_missing_newline":       "{}\n{\"type\":\"event\",\"length\":2}\n{}{}\n",
	"envelope_header_too_large":      `{"x":"` + strings.Repeat("x", 4<<20) + "\"}\n",
	"envelope_too_many_items":        "{}\n" + strings.Repeat("{\"type\":\"session\"}\n{}\n", 200_000),
	"invalid_json":                   item("event", `{"message":`),
	"metric_no_name":                 item("trace_metric", `{"items":[{"timestamp":1777629600,"type":"counter","value":1}]}`),
	"metric_no_object":               item("trace_metric", `{"items":[1]}`),
	"metric_no_value":                item("trace_metric", `{"items":[{"timestamp":1777629600,"type":"counter","name":"a"}]}`),
	"nothing_usable":                 item("session", `{"x":1}`),
	"profiling_invalid_base64_value": item("profile", `{"platform":"android","sampled_profile":"*"}`),
	"session_no_object":              item("sessions", `{"aggregates":[1],"attrs":{"release":"a@1"}}`),
	"span_no_object":                 item("span", `{"items":[1]}`),
	"span_no_time":                   item("span", `{"items":[{"trace_id":"5b8efff798038103d269b633813fc60c","span_id":"5b8efff798038103","name":"a"}]}`),
}

// withoutCase are rules that have neither yet: limits that only large data exceeds, and broken traces of
// Android. A new rule needs a case.
var withoutCase = []string{
	"invalid_span", "item_too_large", "payload_size", "perfetto_frame_unknown", "perfetto_packet_malformed", "profiling_exceed_size_limit",
	"sample_clock_unknown", "stack_too_deep", "too_many_elements", "too_many_frames", "too_many_images", "too_many_measurements",
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
	add := func(envelope []byte) {
		for _, strict := range []bool{false, true} {
			for _, f := range findingsIn(envelope, strict, testNow) {
				broken[f.Rule] = true
			}
		}
	}
	for _, c := range golden.Cases(t) {
		add(c.Envelope)
	}
	for rule, envelope := range constructed {
		rules := map[string]bool{}
		for _, strict := range []bool{false, true} {
			for _, f := range findingsIn([]byte(envelope), strict, testNow) {
				rules[f.Rule], broken[f.Rule] = true, true
			}
		}
		assert.True(t, rules[rule], "%s: only %v", rule, rules)
	}
	var missing []string
	for _, rule := range slices.Sorted(maps.Keys(sources)) {
		if !broken[rule] {
			missing = append(missing, rule)
		}
	}
	assert.Equal(t, withoutCase, missing)
}
