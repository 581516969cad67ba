// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// TestStrictSpans: a rule that a span breaks costs a transaction as a whole and a container the
// span, as in Sentry; lenient validation repairs what it can.
func TestStrictSpans(t *testing.T) {
	const header = `,"item_count":2,"content_type":"application/vnd.sentry.items.span.v2+json"`
	spans := func(odd string) string {
		return item("span", header, spanContainer[:len(spanContainer)-2]+","+odd+"]}")
	}
	const legacy = `{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","start_timestamp":2,"timestamp":1}`
	const noStart = `{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6079","name":"x","end_timestamp":1777629600}`
	transaction := func(from, to string) string {
		return item("transaction", "", strings.Replace(fullTransaction, from, to, 1))
	}
	for name, test := range map[string]struct {
		body            string
		lenient, strict int // spans
		reason          string
	}{
		"whole transaction":      {transaction("", ""), 2, 2, ""},
		"root ends before start": {transaction(`"timestamp":1777629600.5`, `"timestamp":1777629590`), 2, 0, "invalid_transaction"},
		"root without end":       {transaction(`,"timestamp":1777629600.5`, ``), 2, 0, "invalid_transaction"},
		"child without start":    {transaction(`"start_timestamp":1777629599.6,`, ``), 2, 0, "invalid_transaction"},
		"child without id":       {transaction(`"span_id":"aaaaaaaaaaaaaaaa",`, ``), 1, 0, "invalid_transaction"},
		"legacy span":            {item("span", "", legacy), 1, 0, "invalid_span"},
		"one of two":             {spans(noStart), 2, 1, ""},
		"all of them":            {item("span", strings.Replace(header, "2", "1", 1), `{"items":[`+noStart+`]}`), 1, 0, "invalid_span"},
	} {
		for validation, want := range map[profile.Validation]int{profile.Lenient: test.lenient, profile.Strict: test.strict} {
			s := startSignals(t, func(c *Config) { c.Validation = validation })
			assert.Equal(t, 200, s.post(envelope(test.body)).status, name)
			assert.Equal(t, want, s.traces.SpanCount(), "%s, %s", name, validation)
			if validation == profile.Strict && test.reason != "" {
				itemType, _, _ := strings.Cut(strings.TrimPrefix(test.body, `{"type":"`), `"`)
				assert.Equal(t, int64(1), s.items()["outcome=discarded reason="+test.reason+" type="+itemType], name)
			}
		}
	}
	s := startSignals(t, func(c *Config) { c.Validation = profile.Strict })
	s.post(envelope(spans(noStart)))
	assert.Equal(t, map[string]int64{"reason=invalid_span type=span": 1}, s.counts("otelcol_receiver_sentry_elements_discarded"))
}
