// SPDX-License-Identifier: Apache-2.0

package receiver

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// pause is the rate limit that SDKs receive while the backend is busy: all categories under which
// an SDK counts profiles, and no others.
const pause = "10:profile;profile_chunk;profile_chunk_ui:key:backpressure"

// TestBackpressure: without a queue behind the receiver, SDKs receive a rate limit for profiles
// while the backend is busy, and none after it recovers.
func TestBackpressure(t *testing.T) {
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend})
	steps := []struct {
		backend int
		send    harness.Request
		status  int
		limits  string
	}{
		{0, harness.Chunk{}.Request(), http.StatusOK, ""},
		{http.StatusServiceUnavailable, harness.Chunk{}.Request(), http.StatusTooManyRequests, pause},
		{http.StatusServiceUnavailable, harness.ItemRequest("profile", harness.ProfileV1(harness.NewID())), http.StatusTooManyRequests, pause},
		// Part of the envelope was accepted, so the status is 200, with the rate limit.
		{http.StatusServiceUnavailable, eventAndChunk(), http.StatusOK, pause},
		{http.StatusServiceUnavailable, harness.ItemRequest("event", `{}`), http.StatusOK, ""},
		{http.StatusTooManyRequests, harness.Chunk{}.Request(), http.StatusTooManyRequests, pause},
		// The backend rejects the data permanently, so a rate limit would not help.
		{http.StatusBadRequest, harness.Chunk{}.Request(), http.StatusBadRequest, ""},
		{0, harness.Chunk{}.Request(), http.StatusOK, ""},
		{0, harness.ItemRequest("profile", harness.ProfileV1(harness.NewID())), http.StatusOK, ""},
	}
	for i, step := range steps {
		backend.Respond(step.backend)
		time.Sleep(pipeline.BreakerPause) // otherwise, the last refusal would apply to this request
		got := c.Send(t, step.send)
		assert.Equal(t, step.status, got.Status, "step %d: %s", i, got.Body)
		assert.Equal(t, step.limits, got.Header.Get("X-Sentry-Rate-Limits"), "step %d", i)
		assert.Empty(t, got.Header.Get("Retry-After"), "step %d", i)
	}

	require.Len(t, backend.DrainProfiles(), 3, "delivered")
	metrics := c.Scrape(t)
	for outcome, want := range map[string]int{"accepted": 3, "refused": 4, "rejected": 1, "ignored": 2} {
		assert.Equal(t, want, metrics.Sum("otelcol_receiver_sentry_items", "outcome="+outcome), outcome)
	}
	assert.Equal(t, 4, metrics.Sum("otelcol_receiver_sentry_items", "reason=backpressure"))
	assert.Equal(t, 3, metrics.Sum("otelcol_receiver_accepted_profile_samples"), "samples of two chunks and a V1 profile")
	assert.Equal(t, 5, metrics.Sum("otelcol_receiver_refused_profile_samples")+metrics.Sum("otelcol_receiver_failed_profile_samples"))
	harness.CheckLog(t, c, harness.TestKey)
}

// TestQueue: with a queue, the SDK receives its response before the backend responds, and data
// answered with 200 arrives even if the collector is stopped in between.
func TestQueue(t *testing.T) {
	backend := harness.NewSink(t)
	release := backend.Pause()
	c := harness.Start(t, harness.Settings{Sink: backend, Queue: true})
	const profiles = 25
	for range profiles {
		got := c.Send(t, harness.Chunk{}.Request()) // would not return if it waited for the backend
		require.Equal(t, http.StatusOK, got.Status, got.Body)
	}
	time.AfterFunc(time.Second, release)
	c.Stop(t)
	require.Equal(t, profiles, harness.CountObservations(t, backend.DrainProfiles()), "delivered before the end")
}

// TestFullQueue: the SDK receives a rate limit if the queue is full.
func TestFullQueue(t *testing.T) {
	backend := harness.NewSink(t)
	release := backend.Pause()
	c := harness.Start(t, harness.Settings{Sink: backend, Queue: true, QueueSize: 3})
	accepted := 0
	for range 10 {
		got := c.Send(t, harness.Chunk{}.Request())
		if got.Status == http.StatusOK {
			accepted++
			continue
		}
		assert.Equal(t, http.StatusTooManyRequests, got.Status, got.Body)
		assert.Equal(t, pause, got.Header.Get("X-Sentry-Rate-Limits"))
	}
	assert.GreaterOrEqual(t, accepted, 3, "what the queue holds")
	assert.Less(t, accepted, 10)
	metrics := c.Scrape(t)
	assert.Equal(t, accepted, metrics.Sum("otelcol_receiver_sentry_items", "outcome=accepted"))
	assert.Equal(t, 10-accepted, metrics.Sum("otelcol_receiver_sentry_items", "outcome=refused")+
		metrics.Sum("otelcol_receiver_sentry_requests_rejected", "reason=backpressure"))

	release()
	require.Eventually(t, func() bool { return c.Send(t, harness.Chunk{}.Request()).Status == http.StatusOK }, 30*time.Second, 50*time.Millisecond)
	c.Stop(t)
	require.GreaterOrEqual(t, harness.CountObservations(t, backend.DrainProfiles()), accepted+1)
}

func eventAndChunk() harness.Request {
	r := harness.Chunk{}.Request()
	r.Body = append(r.Body, "{\"type\":\"event\"}\n{}\n"...)
	return r
}
