// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
)

// tight is the least that is allowed for bodies of 4 MiB.
func tight(c *Config) {
	c.HTTP.MaxRequestBodySize = 4 << 20
	c.MaxBytesInFlight = httpbody.MaxPerRequest(4 << 20)
}

const busyLimits = "10:error;log_item;feedback;default;monitor;transaction;span;profile;profile_chunk;profile_chunk_ui;" +
	"trace_metric;metric;session;attachment;replay;security:key:bytes_in_flight"

func (h *harness) inflightBytes() int64 {
	h.t.Helper()
	found, err := h.metrics.GetMetric("otelcol_receiver_sentry_bytes_in_flight")
	require.NoError(h.t, err)
	return found.Data.(metricdata.Sum[int64]).DataPoints[0].Value
}

// TestBusy: while the pipeline holds requests, there is room for no more of them; a limit says so
// to the SDK.
func TestBusy(t *testing.T) { synctest.Test(t, testBusy) }

func testBusy(t *testing.T) {
	h := start(t, tight)
	h.overPipes()
	entered, hold := make(chan struct{}, 100), make(chan struct{})
	h.sink.respond = func(pprofile.Profiles) error {
		entered <- struct{}{}
		<-hold
		return nil
	}
	body := []byte(envelope(chunkItem, item("unknown", "", string(bytes.Repeat([]byte(" "), 3<<20)))))
	replies := make(chan reply, 100)
	const inside = 10
	for range inside {
		go func() { replies <- h.do(h.envelopeRequest(body)) }()
		<-entered
	}
	held := h.inflightBytes()
	assert.Greater(t, held, int64(inside*200), "what is handed on is held to the end")
	assert.Less(t, held, int64(inside*20<<10), "and not the body, which is gone")

	rest := h.receiver.Shared.inflight.Claim(t.Context())
	require.NoError(t, rest.Acquire(h.receiver.Shared.cfg.MaxBytesInFlight-held))
	got := h.do(h.envelopeRequest(body))
	assert.Equal(t, http.StatusTooManyRequests, got.status)
	assert.Equal(t, busyLimits, got.header.Get("X-Sentry-Rate-Limits"))
	assert.Empty(t, got.header.Get("Retry-After"))
	assert.Equal(t, map[string]int64{"reason=bytes_in_flight": 1}, h.rejected())

	close(hold)
	for range inside {
		assert.Equal(t, http.StatusOK, (<-replies).status)
	}
}

// TestBytesComeBack from every way that a request can end.
func TestBytesComeBack(t *testing.T) {
	h := start(t, tight)
	calls := 0
	h.sink.respond = func(pprofile.Profiles) error {
		switch calls++; calls {
		case 1:
			return errors.New("busy")
		case 2:
			panic("a bug in a pipeline")
		}
		return nil
	}
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	encoded := func(encoding string, body []byte) *http.Request {
		req := h.envelopeRequest(body)
		req.Header.Set("Content-Encoding", encoding)
		return req
	}
	assert.Equal(t, 429, h.post(envelope(chunkItem)).status)
	h.clock.Skip(pipeline.BreakerPause)
	_, err := h.client.Do(h.envelopeRequest([]byte(envelope(chunkItem))))
	assert.Error(t, err, "the connection ends")
	h.clock.Skip(pipeline.BreakerPause)
	assert.Equal(t, 200, h.post(envelope(chunkItem)).status)
	assert.Equal(t, 400, h.post("no envelope").status)
	assert.Equal(t, 400, h.do(encoded("gzip", blanks)).status)
	for encoding := range encoders {
		bomb := encode(t, encoding, blanks, blanks, blanks, blanks, blanks)
		assert.Equal(t, 413, h.do(encoded(encoding, bomb)).status, encoding)
	}
	body, sender := io.Pipe()
	go func() {
		_, _ = sender.Write([]byte("{}\n")) // returns when the client sends it
		sender.CloseWithError(errors.New("the client is gone"))
	}()
	_, err = h.client.Do(h.request(http.MethodPost, "/api/42/envelope/", body))
	assert.Error(t, err)

	assert.Eventually(t, func() bool { return h.inflightBytes() == 0 }, 30*time.Second, time.Millisecond)
	assert.NoError(t, h.receiver.Shared.inflight.Claim(t.Context()).Acquire(h.receiver.Shared.cfg.MaxBytesInFlight), "all of it")
}
