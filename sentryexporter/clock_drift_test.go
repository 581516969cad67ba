// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/sentryitems"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestClockDrift: the clock of a client is three hours slow or fast. Receiver and exporter are one
// after the other, and ingest stores the right time for every item type, no matter which of them
// corrected it.
func TestClockDrift(t *testing.T) {
	for _, off := range []time.Duration{0, -3 * time.Hour, 3 * time.Hour, 10 * time.Minute} {
		for _, corrected := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v, corrected %v", off, corrected), func(t *testing.T) { testClockDrift(t, off, corrected) })
		}
	}
}

func testClockDrift(t *testing.T, off time.Duration, corrected bool) {
	h := start(t, withoutQueue)
	now := time.Now()
	right := now.Add(-10 * time.Second)
	wrong := right.Add(off) // by the client's clock
	if off.Abs() < 55*time.Minute {
		right = wrong // too little to be corrected
	}
	at, rfc := fmt.Sprintf("%.6f", float64(wrong.UnixMicro())/1e6), wrong.UTC().Format(time.RFC3339Nano)
	const trace = `"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8"`
	span := `"start_timestamp":` + at + `,"timestamp":` + at + `,` + trace
	item := func(kind sentry.ItemType, contentType, payload string) sentry.Item {
		return sentry.Item{Header: sentry.ItemHeader{Type: kind, ContentType: contentType}, Payload: []byte(payload)}
	}
	envelope := &sentry.Envelope{Header: sentry.EnvelopeHeader{SentAt: now.Add(off)}, Items: []sentry.Item{
		item(sentry.ItemEvent, "", `{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7","timestamp":`+at+`,"platform":"python","message":"m"}`),
		item(sentry.ItemFeedback, "", `{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c8","timestamp":`+at+`,"platform":"python","contexts":{"feedback":{"message":"m"}}}`),
		item(sentry.ItemTransaction, "", `{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c9","type":"transaction","platform":"python","start_timestamp":`+at+`,"timestamp":`+at+
			`,"contexts":{"trace":{`+trace+`}},"spans":[{"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a9","parent_span_id":"65b086720141d1a8","start_timestamp":`+at+`,"timestamp":`+at+`}]}`),
		item(sentry.ItemLog, sentry.ContentTypeLogs, `{"items":[{"timestamp":`+at+`,`+trace+`,"level":"info","body":"b"}]}`),
		item(sentry.ItemTraceMetric, sentry.ContentTypeTraceMetrics, `{"items":[{"timestamp":`+at+`,`+trace+`,"name":"m","type":"gauge","value":1}]}`),
		item(sentry.ItemSessions, "", `{"aggregates":[{"started":"`+rfc+`","exited":2}],"attrs":{"release":"shop@1"}}`),
		item(sentry.ItemSession, "", `{"sid":"7c7b6585-f901-4351-bf8d-02711b721929","started":"`+rfc+`","timestamp":"`+rfc+`","init":true,"status":"exited","attrs":{"release":"shop@1"}}`),
		item(sentry.ItemClientReport, "", `{"timestamp":`+at+`,"discarded_events":[{"reason":"sample_rate","category":"error","quantity":3}]}`),
	}}
	const sampled = `"stacks":[[0]],"frames":[{"function":"f"}],"thread_metadata":{"1":{"name":"main"}}`
	legacy := &sentry.Envelope{Header: envelope.Header, Items: []sentry.Item{ // with its transaction, so that the receiver may correct it
		envelope.Items[2],
		item(sentry.ItemProfile, "", `{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7ca","version":"1","platform":"python","timestamp":"`+rfc+`","device":{"architecture":"x86_64"},"os":{"name":"Linux"},
			"transaction":{"id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c9","name":"t","trace_id":"53295a878b574a5665399b12b6f1d7fb","active_thread_id":"1"},
			"profile":{"samples":[{"elapsed_since_start_ns":1,"stack_id":0,"thread_id":"1"},{"elapsed_since_start_ns":10000000,"stack_id":0,"thread_id":"1"}],`+sampled+`},
			"measurements":{"cpu_usage":{"unit":"percent","values":[{"elapsed_since_start_ns":1,"value":5}]}}}`),
	}}
	chunk := &sentry.Envelope{Header: envelope.Header, Items: []sentry.Item{ // never corrected by the receiver
		{Header: sentry.ItemHeader{Type: sentry.ItemProfileChunk, Platform: "python"}, Payload: []byte(`{"version":"2","platform":"python","chunk_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7cb",
			"profiler_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7cc","client_sdk":{"name":"sentry.python","version":"2.75.0"},"release":"shop@1",
			"profile":{"samples":[{"timestamp":` + at + `,"stack_id":0,"thread_id":"1"},{"timestamp":` + at + `,"stack_id":0,"thread_id":"1"}],` + sampled + `},
			"measurements":{"cpu_usage":{"unit":"percent","values":[{"timestamp":` + at + `,"value":5}]}}}`)},
	}}
	alone := &sentry.Envelope{Header: envelope.Header, Items: []sentry.Item{ // streamed spans are never corrected by the receiver
		item(sentry.ItemSpan, sentry.ContentTypeSpans, `{"version":2,"items":[{`+span+`,"end_timestamp":`+at+`,"name":"n","status":"ok","is_segment":false,"parent_span_id":"65b086720141d1aa"}]}`),
	}}
	settings := sentryitems.DefaultSettings()
	settings.CorrectClockDrift, settings.KeepOriginalPayload = corrected, true
	for _, envelope := range []*sentry.Envelope{envelope, legacy, chunk, alone} {
		translation := sentryitems.New(envelope, sentryitems.Sender{ProjectID: "1"}, settings, func(pipeline.Signal) bool { return true }, now)
		for i := range envelope.Items {
			result := translation.Translate(&envelope.Items[i])
			require.Nil(t, result.Unusable)
			for _, delivery := range result.Deliveries {
				h.sendMessage(delivery.Message)
			}
		}
	}
	seen := map[sentry.ItemType]int{}
	for _, request := range h.sentry.Requests() {
		item := request.Envelope.Items[0]
		drift := fakesentry.ClockDrift(&request.Envelope.Header, item.Header.Type, request.At)
		times := timesIn(t, item.Payload)
		assert.NotEmpty(t, times, item.Header.Type)
		for key, at := range times {
			if item.Header.Type == sentry.ItemSessions {
				at = at.Add(right.Sub(right.Truncate(time.Minute))) // SDKs and ingest count by the minute
				assert.WithinDuration(t, right, at.Add(drift), 61*time.Second, "%s of %s", key, item.Header.Type)
				continue
			}
			assert.WithinDuration(t, right, at.Add(drift), 8*time.Second, "%s of %s", key, item.Header.Type)
		}
		assert.NotContains(t, string(item.Payload), "clock_drift")
		seen[item.Header.Type]++
	}
	for _, kind := range []sentry.ItemType{sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemTransaction, sentry.ItemSpan, sentry.ItemLog, sentry.ItemTraceMetric, sentry.ItemSessions, sentry.ItemClientReport, sentry.ItemProfileChunk} {
		assert.NotZero(t, seen[kind], kind)
	}
}

// sendMessage translates a message and sends the items.
func (h *harness) sendMessage(m pipeline.Message) {
	var requests []*request
	switch data := m.Data().(type) {
	case pprofile.Profiles:
		requests = h.started.convertProfiles(h.t.Context(), data)
	case ptrace.Traces:
		requests = h.started.convertTraces(h.t.Context(), data)
	case plog.Logs:
		requests = h.started.convertLogs(h.t.Context(), data)
	case pmetric.Metrics:
		requests = h.started.convertMetrics(h.t.Context(), data)
	}
	for _, r := range requests {
		require.NoError(h.t, h.send(r.Envelopes...))
	}
}

// timesIn returns the times in a payload by their path.
func timesIn(t *testing.T, payload []byte) map[string]time.Time {
	var value any
	require.NoError(t, json.Unmarshal(payload, &value))
	times := map[string]time.Time{}
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for key, member := range value {
				number, isNumber := member.(float64)
				text, _ := member.(string)
				switch key {
				case "timestamp", "start_timestamp", "end_timestamp", "started":
					if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
						times[path+"/"+key] = at
					} else if isNumber {
						times[path+"/"+key] = time.UnixMicro(int64(number * 1e6))
					}
				default:
					walk(path+"/"+key, member)
				}
			}
		case []any:
			for i, member := range value {
				walk(fmt.Sprint(path, i), member)
			}
		}
	}
	walk("", value)
	return times
}
