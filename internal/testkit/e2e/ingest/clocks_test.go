// SPDX-License-Identifier: Apache-2.0

//go:build ingest

package ingest

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// TestClocks: the clock of a client is three hours slow or fast, and ingest stores the right times
// of every item type.
func TestClocks(t *testing.T) {
	s := start(t)
	for _, off := range []time.Duration{0, -3 * time.Hour, 3 * time.Hour} {
		t.Run(off.String(), func(t *testing.T) { s.testClock(t, off) })
	}
}

func (s *setup) testClock(t *testing.T, off time.Duration) {
	right := time.Now().Add(-10 * time.Second)
	wrong := right.Add(off) // by the client's clock
	at, rfc := fmt.Sprintf("%.6f", float64(wrong.UnixMicro())/1e6), wrong.UTC().Format(time.RFC3339Nano)
	id := harness.NewID
	trace := `"trace_id":"` + id() + `","span_id":"` + id()[:16] + `"`
	const sampled = `"stacks":[[0]],"frames":[{"function":"f"}],"thread_metadata":{"1":{"name":"main"}}`
	transaction, traceID := id(), id()
	for _, items := range [][][2]string{
		{{`"type":"event"`, `{"event_id":"` + id() + `","timestamp":` + at + `,"platform":"python","message":"m"}`}},
		{{`"type":"feedback"`, `{"event_id":"` + id() + `","timestamp":` + at + `,"platform":"python","contexts":{"feedback":{"message":"m","contact_email":"a@example.com"}}}`}},
		{
			{`"type":"transaction"`, `{"event_id":"` + transaction + `","type":"transaction","transaction":"t","platform":"python","start_timestamp":` + at + `,"timestamp":` + at +
				`,"contexts":{"trace":{"trace_id":"` + traceID + `","span_id":"65b086720141d1a8"}},"spans":[{"trace_id":"` + traceID + `","span_id":"65b086720141d1a9","parent_span_id":"65b086720141d1a8","start_timestamp":` + at + `,"timestamp":` + at + `}]}`},
			{`"type":"profile"`, `{"event_id":"` + id() + `","version":"1","platform":"python","timestamp":"` + rfc + `","device":{"architecture":"x86_64"},"os":{"name":"Linux"},` +
				`"transaction":{"id":"` + transaction + `","name":"t","trace_id":"` + traceID + `","active_thread_id":"1"},"profile":{"samples":[` +
				`{"elapsed_since_start_ns":1,"stack_id":0,"thread_id":"1"},{"elapsed_since_start_ns":10000000,"stack_id":0,"thread_id":"1"}],` + sampled + `}}`},
		},
		{{`"type":"span","item_count":1,"content_type":"application/vnd.sentry.items.span.v2+json"`, `{"version":2,"items":[{"start_timestamp":` + at + `,"end_timestamp":` + at + `,"name":"n","status":"ok","is_segment":true,` + trace + `}]}`}},
		{{`"type":"log","item_count":1,"content_type":"application/vnd.sentry.items.log+json"`, `{"items":[{"timestamp":` + at + `,` + trace + `,"level":"info","body":"b"}]}`}},
		{{`"type":"trace_metric","item_count":1,"content_type":"application/vnd.sentry.items.trace-metric+json"`, `{"items":[{"timestamp":` + at + `,` + trace + `,"name":"m","type":"gauge","value":1}]}`}},
		{{`"type":"sessions"`, `{"aggregates":[{"started":"` + rfc + `","exited":2}],"attrs":{"release":"shop@1"}}`}},
		{{`"type":"session"`, `{"sid":"` + id() + `","started":"` + rfc + `","timestamp":"` + rfc + `","init":true,"status":"exited","attrs":{"release":"shop@2"}}`}},
		{{`"type":"client_report"`, `{"timestamp":` + at + `,"discarded_events":[{"reason":"sample_rate","category":"error","quantity":3}]}`}},
		{{`"type":"profile_chunk","platform":"python"`, `{"version":"2","platform":"python","chunk_id":"` + id() + `","profiler_id":"` + id() + `","client_sdk":{"name":"sentry.python","version":"2.75.0"},"release":"shop@1",` +
			`"profile":{"samples":[{"timestamp":` + at + `,"stack_id":0,"thread_id":"1"},{"timestamp":` + at + `,"stack_id":0,"thread_id":"1"}],` + sampled + `}}`}},
	} {
		body := fmt.Sprintf(`{"sent_at":%q,"trace":{"trace_id":%q,"public_key":%q}}`, time.Now().Add(off).UTC().Format(time.RFC3339Nano), traceID, harness.TestKey) + "\n"
		for _, item := range items {
			body += fmt.Sprintf("{%s,\"length\":%d}\n%s\n", item[0], len(item[1]), item[1])
		}
		got, err := s.collector.TrySend(harness.EnvelopeRequest([]byte(body)))
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.Status, got.Body)
	}
	all := s.stored(t)
	for row, outcomes := range refused(all, exported) {
		assert.Fail(t, "ingest refuses data", "%s\n%s", row, outcomes[0])
	}
	seen := map[string]int{}
	for i := range all {
		item := &all[i]
		if item.project != exported {
			continue
		}
		tolerance := 8.0
		if item.kind == "session metric" || item.kind == "outcome" { // in buckets; SDKs count sessions by the minute
			tolerance = 70
		}
		times := 0
		for path, values := range fields(item.body) {
			name := path[strings.LastIndexByte(path, '/')+1:]
			if !strings.HasPrefix(name, "timestamp") && name != "start_timestamp" && name != "end_timestamp" {
				continue
			}
			for _, value := range values {
				seconds := number(value)
				if text, ok := value.(string); ok {
					parsed, err := time.Parse(time.RFC3339Nano, text)
					if err != nil {
						seconds, err = strconv.ParseFloat(text, 64)
						require.NoError(t, err, "%s of %s", path, item.kind)
					} else {
						seconds = float64(parsed.UnixMicro()) / 1e6
					}
				}
				times++
				assert.InDelta(t, float64(right.UnixMicro())/1e6, seconds, tolerance, "%s of %s", path, item.kind)
			}
		}
		assert.NotZero(t, times, "times of %s", item.kind)
		assert.NotContains(t, item.raw, "sentry.clock_drift", item.kind)
		seen[item.kind]++
	}
	for kind, n := range map[string]int{"event": 1, "feedback": 1, "transaction": 2, "span": 3, "log": 1, "trace_metric": 1, "profile_chunk": 2} {
		assert.Equal(t, n, seen[kind], kind)
	}
	assert.NotZero(t, seen["session metric"])
	assert.NotZero(t, seen["outcome"])
}
