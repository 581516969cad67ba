// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
)

// pause is what SDKs are asked for while the backend is busy: every category under which one of them books profiles, and
// nothing else.
const pause = "10:profile;profile_chunk;profile_chunk_ui:key:backpressure"

// TestBackpressure: without a queue behind the receiver, a busy backend reaches the SDK, for profiles only, and goes away
// when the backend recovers.
func TestBackpressure(t *testing.T) {
	backend := newSink(t)
	c := start(t, settings{sink: backend})
	steps := []struct {
		backend int
		send    request
		status  int
		limits  string
	}{
		{0, chunk{}.request(), http.StatusOK, ""},
		{http.StatusServiceUnavailable, chunk{}.request(), http.StatusTooManyRequests, pause},
		{http.StatusServiceUnavailable, envelopeOf("profile", profileV1(newID())), http.StatusTooManyRequests, pause},
		// Something of the envelope was taken: the answer is yes, and the pause still asked for.
		{http.StatusServiceUnavailable, eventAndChunk(), http.StatusOK, pause},
		{http.StatusServiceUnavailable, envelopeOf("event", `{}`), http.StatusOK, ""},
		{http.StatusTooManyRequests, chunk{}.request(), http.StatusTooManyRequests, pause},
		// The backend will never take it: asking the SDK to wait would not help.
		{http.StatusBadRequest, chunk{}.request(), http.StatusBadRequest, ""},
		{0, chunk{}.request(), http.StatusOK, ""},
		{0, envelopeOf("profile", profileV1(newID())), http.StatusOK, ""},
	}
	for i, step := range steps {
		backend.answer(step.backend)
		time.Sleep(pipeline.BreakerPause) // or the refusal of the last step would answer this one
		got := c.send(t, step.send)
		assert.Equal(t, step.status, got.status, "step %d: %s", i, got.body)
		assert.Equal(t, step.limits, got.header.Get("X-Sentry-Rate-Limits"), "step %d", i)
		assert.Empty(t, got.header.Get("Retry-After"), "step %d", i)
	}

	require.Len(t, backend.take(), 3, "delivered")
	metrics := c.scrape(t)
	for outcome, want := range map[string]int{"accepted": 3, "refused": 4, "rejected": 1, "ignored": 2} {
		assert.Equal(t, want, metrics.sum("otelcol_receiver_sentry_items", "outcome="+outcome), outcome)
	}
	assert.Equal(t, 4, metrics.sum("otelcol_receiver_sentry_items", "reason=backpressure"))
	assert.Equal(t, 3, metrics.sum("otelcol_receiver_accepted_profile_samples"), "samples of two chunks and a V1 profile")
	assert.Equal(t, 5, metrics.sum("otelcol_receiver_refused_profile_samples")+metrics.sum("otelcol_receiver_failed_profile_samples"))
	checkLog(t, c, testKey)
}

// TestQueue: with a queue the SDK has its answer before the backend does, and what was answered 200 arrives, even if the
// collector is stopped in between.
func TestQueue(t *testing.T) {
	backend := newSink(t)
	backend.hold = make(chan struct{})
	c := start(t, settings{sink: backend, queue: true})
	const profiles = 25
	for range profiles {
		begin := time.Now()
		got := c.send(t, chunk{}.request())
		require.Equal(t, http.StatusOK, got.status, got.body)
		require.Less(t, time.Since(begin), 5*time.Second, "the answer does not wait for the backend")
	}
	time.AfterFunc(time.Second, func() { close(backend.hold) })
	c.stop(t)
	require.Equal(t, profiles, observations(t, backend.take()), "delivered before the end")
}

// TestFullQueue: a queue that is full says so to the SDK.
func TestFullQueue(t *testing.T) {
	backend := newSink(t)
	backend.hold = make(chan struct{})
	c := start(t, settings{sink: backend, queue: true, queueSize: 3})
	accepted := 0
	for range 10 {
		got := c.send(t, chunk{}.request())
		if got.status == http.StatusOK {
			accepted++
			continue
		}
		assert.Equal(t, http.StatusTooManyRequests, got.status, got.body)
		assert.Equal(t, pause, got.header.Get("X-Sentry-Rate-Limits"))
	}
	assert.GreaterOrEqual(t, accepted, 3, "what the queue holds")
	assert.Less(t, accepted, 10)
	metrics := c.scrape(t)
	assert.Equal(t, accepted, metrics.sum("otelcol_receiver_sentry_items", "outcome=accepted"))
	assert.Equal(t, 10-accepted, metrics.sum("otelcol_receiver_sentry_items", "outcome=refused")+
		metrics.sum("otelcol_receiver_sentry_requests_rejected", "reason=backpressure"))

	close(backend.hold)
	require.Eventually(t, func() bool { return c.send(t, chunk{}.request()).status == http.StatusOK }, 10*time.Second, 50*time.Millisecond)
	c.stop(t)
	require.GreaterOrEqual(t, observations(t, backend.take()), accepted+1)
}

func eventAndChunk() request {
	r := chunk{}.request()
	r.body = append(r.body, "{\"type\":\"event\"}\n{}\n"...)
	return r
}
