// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// startLogs starts a receiver whose pipeline for logs is consume.
func startLogs(t *testing.T, edit func(*Config), consume consumer.ConsumeLogsFunc) *harness {
	logs, err := consumer.NewLogs(consume)
	require.NoError(t, err)
	return startWith(t, edit, func(f receiver.Factory, set receiver.Settings, cfg *Config) []receiver.Traces {
		return createSignals(t, f, set, cfg, new(consumertest.TracesSink), logs, new(consumertest.MetricsSink))
	})
}

// shortLogs is a log container whose records take twenty times its size.
func shortLogs(n int) string {
	return item("log", containerHeader(sentry.ContentTypeLogs), `{"items":[`+strings.Repeat(`{"body":0},`, n-1)+`{"body":0}]}`)
}

// TestOutputIsInTheBudget: what is made of a body is held until it is delivered, and then given
// back.
func TestOutputIsInTheBudget(t *testing.T) {
	var h *harness
	h = startLogs(t, nil, func(_ context.Context, logs plog.Logs) error {
		assert.Greater(t, h.receiver.Shared.inflight.Used(), int64(2*new(plog.ProtoMarshaler).LogsSize(logs)))
		assert.Greater(t, h.receiver.Shared.inflight.Used(), int64(logs.LogRecordCount()*200))
		return nil
	})
	assert.Equal(t, http.StatusOK, h.post(envelope(shortLogs(1000))).status)
	assert.Equal(t, map[string]int64{"outcome=accepted type=log": 1}, h.items())
	assert.Zero(t, h.receiver.Shared.inflight.Used())
}

// TestNoRoomForOutput: an item whose output finds no room is refused before it is translated.
func TestNoRoomForOutput(t *testing.T) { synctest.Test(t, testNoRoomForOutput) }

func testNoRoomForOutput(t *testing.T) {
	h := startLogs(t, tight, func(context.Context, plog.Logs) error { return errors.New("it is not translated") })
	h.overPipes()
	limit := h.receiver.Shared.cfg.MaxBytesInFlight
	other := h.receiver.Shared.inflight.Claim(t.Context())
	require.NoError(t, other.Acquire(limit-1<<20))
	got := h.post(envelope(shortLogs(10_000)))
	assert.Equal(t, http.StatusTooManyRequests, got.status)
	assert.Equal(t, map[string]int64{"outcome=refused reason=bytes_in_flight type=log": 1}, h.items())
	other.Release()
	assert.Zero(t, h.receiver.Shared.inflight.Used())
}

// manyThreads is a chunk whose samples are of n threads.
func manyThreads(n int) string {
	var samples strings.Builder
	for i := range n {
		fmt.Fprintf(&samples, `,{"timestamp":1,"thread_id":"%d","stack_id":0}`, i)
	}
	return item("profile_chunk", "", `{"version":"2","platform":"python","profiler_id":"x","chunk_id":"y","profile":{"frames":[{"function":"f"}],"stacks":[[0]],"samples":[`+
		samples.String()[1:]+`]}}`)
}

// TestTooHeavy: an item that needs more memory than one request may use is discarded, while it is
// decoded or before it is translated. Others of its envelope are not.
func TestTooHeavy(t *testing.T) {
	for name, heavy := range map[string]string{
		"decoded":    manyThreads(80_000),
		"translated": manyThreads(40_000),
		"logs":       shortLogs(60_000),
	} {
		t.Run(name, func(t *testing.T) {
			h := startLogs(t, tight, func(context.Context, plog.Logs) error { return nil })
			kind := "type=profile_chunk"
			if name == "logs" {
				kind = "type=log"
			}
			got := h.post(envelope(heavy))
			assert.Equal(t, http.StatusRequestEntityTooLarge, got.status)
			assert.Equal(t, map[string]int64{"outcome=discarded reason=too_much_memory " + kind: 1}, h.items())
			assert.Zero(t, h.receiver.Shared.inflight.Used())
			assert.Equal(t, http.StatusOK, h.post(envelope(heavy, chunkItem)).status)
			assert.Equal(t, 1, h.sink.count())
			assert.Zero(t, h.receiver.Shared.inflight.Used())
		})
	}
}

// TestNoRoomForDecoding: a profile that finds no memory while it is decoded is refused, not
// discarded: the client may send others later.
func TestNoRoomForDecoding(t *testing.T) { synctest.Test(t, testNoRoomForDecoding) }

func testNoRoomForDecoding(t *testing.T) {
	h := start(t, tight)
	h.overPipes()
	other := h.receiver.Shared.inflight.Claim(t.Context())
	body := manyThreads(5000)
	require.NoError(t, other.Acquire(h.receiver.Shared.cfg.MaxBytesInFlight-int64(4*len(body))))
	assert.Equal(t, http.StatusTooManyRequests, h.post(envelope(body)).status)
	assert.Equal(t, map[string]int64{"outcome=refused reason=bytes_in_flight type=profile_chunk": 1}, h.items())
	other.Release()
	assert.Equal(t, http.StatusOK, h.post(envelope(body)).status)
	assert.Zero(t, h.receiver.Shared.inflight.Used())
}

// TestMuchOutputIsDeliveredEarly: one request never holds more than it may, however many items it
// has, and loses none.
func TestMuchOutputIsDeliveredEarly(t *testing.T) {
	var h *harness
	records, deliveries, most := 0, 0, int64(0)
	h = startLogs(t, tight, func(_ context.Context, logs plog.Logs) error {
		records += logs.LogRecordCount()
		deliveries++
		most = max(most, h.receiver.Shared.inflight.Used())
		return nil
	})
	items := 3
	if testsize.Full() {
		items = 10
	}
	require.Equal(t, http.StatusOK, h.post(envelope(strings.Repeat(shortLogs(30_000), items))).status)
	assert.Equal(t, items*30_000, records)
	assert.Equal(t, items, deliveries)
	assert.LessOrEqual(t, most, httpbody.MaxPerRequest(4<<20))
	assert.Equal(t, map[string]int64{"outcome=accepted type=log": int64(items)}, h.items())
}

// TestEarlyDeliveryLinks: a V1 profile that is delivered early finds the spans of its transaction,
// which comes behind.
func TestEarlyDeliveryLinks(t *testing.T) {
	h := startLogs(t, tight, func(context.Context, plog.Logs) error { return nil })
	body := envelope(profileItem, strings.Repeat(shortLogs(30_000), 3), item("transaction", "", fullTransaction))
	require.Equal(t, http.StatusOK, h.post(body).status)
	assert.Equal(t, map[string]int64{"": 2}, h.counts("otelcol_receiver_sentry_linked_observations"))
	assert.Equal(t, 1, h.sink.count())
}
