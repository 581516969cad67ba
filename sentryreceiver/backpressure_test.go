// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/receiver"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/pipeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const (
	profilePause = "10:profile;profile_chunk;profile_chunk_ui:key:backpressure"
	refusedChunk = "outcome=refused reason=backpressure type=profile_chunk"
)

// respondBusy has the pipeline refuse profiles, and counts what it is asked.
func (h *harness) respondBusy() (asked *atomic.Int64) {
	asked = new(atomic.Int64)
	h.sink.respond = func(pprofile.Profiles) error {
		asked.Add(1)
		return errors.New("queue is full")
	}
	return asked
}

// TestRefusedUndecoded: what the pipeline would refuse does not get as far as the pipeline. SDKs
// are told the same, and the other signals go on.
func TestRefusedUndecoded(t *testing.T) {
	s := startSignals(t, nil)
	s.clock.Stop()
	asked := s.respondBusy()
	for _, test := range []struct {
		items  []string
		status int
	}{
		{[]string{chunkItem}, http.StatusTooManyRequests}, // by the pipeline
		{[]string{chunkItem}, http.StatusTooManyRequests},
		{[]string{item("profile_chunk", "", "{")}, http.StatusTooManyRequests},
		{[]string{chunkItem, item("event", "", errorEvent)}, http.StatusOK},
	} {
		got := s.post(envelope(test.items...))
		assert.Equal(t, test.status, got.status, got.text)
		assert.Equal(t, profilePause, got.header.Get(sentry.HeaderRateLimits))
		assert.NotContains(t, got.header, "Retry-After")
	}
	assert.EqualValues(t, 1, asked.Load())
	assert.Equal(t, map[string]int64{refusedChunk: 4, "outcome=accepted type=event": 1}, s.items())
	assert.Empty(t, s.rejected())

	s.clock.Skip(pipeline.BreakerPause)
	for range 2 {
		assert.Equal(t, http.StatusTooManyRequests, s.post(envelope(chunkItem)).status)
	}
	assert.EqualValues(t, 2, asked.Load(), "one tried")

	s.sink.respond = nil
	s.clock.Skip(pipeline.BreakerPause)
	for range 2 {
		got := s.post(envelope(chunkItem))
		assert.Equal(t, http.StatusOK, got.status, "open")
		assert.Empty(t, got.header.Get(sentry.HeaderRateLimits))
	}
	assert.Equal(t, 2, s.sink.count())
}

// TestRefusedUnread: where no signal has room, a request is not even decompressed.
func TestRefusedUnread(t *testing.T) {
	h := start(t, nil) // profiles only
	h.clock.Stop()
	asked := h.respondBusy()
	first := h.post(envelope(chunkItem))
	broken := h.envelopeRequest([]byte("no gzip"))
	broken.Header.Set("Content-Encoding", "gzip")
	second := h.do(broken)
	assert.Equal(t, http.StatusTooManyRequests, second.status)
	assert.Equal(t, first.text, second.text)
	assert.Equal(t, first.header.Get(sentry.HeaderRateLimits), second.header.Get(sentry.HeaderRateLimits))
	assert.NotContains(t, second.header, "Retry-After")
	assert.EqualValues(t, 1, asked.Load())
	assert.Equal(t, map[string]int64{refusedChunk: 1}, h.items())
	assert.Equal(t, map[string]int64{"reason=backpressure": 1}, h.rejected())

	checkIn := h.request(http.MethodGet, "/api/42/cron/nightly/"+testKey+"/?status=ok", nil)
	assert.Equal(t, http.StatusAccepted, h.do(checkIn).status, "a job does not fail")

	h.clock.Skip(pipeline.BreakerPause)
	broken = h.envelopeRequest([]byte("no gzip"))
	broken.Header.Set("Content-Encoding", "gzip")
	assert.Equal(t, http.StatusBadRequest, h.do(broken).status)
}

// TestTrialLosesNothing: the envelope that tests whether a pipeline has recovered loses none of its
// items, in whatever order its unusable ones come.
func TestTrialLosesNothing(t *testing.T) {
	s := startSignals(t, nil)
	s.clock.Stop()
	unusable := item("profile_chunk", "", "{")
	for _, items := range [][]string{{chunkItem, chunkItem, unusable, chunkItem}, {unusable, chunkItem, chunkItem, chunkItem}} {
		before := s.sink.count()
		s.respondBusy()
		require.Equal(t, http.StatusTooManyRequests, s.post(envelope(chunkItem)).status)
		s.clock.Skip(pipeline.BreakerPause)
		s.sink.respond = nil
		got := s.post(envelope(items...))
		assert.Equal(t, http.StatusOK, got.status, got.text)
		assert.Empty(t, got.header.Get(sentry.HeaderRateLimits))
		assert.Equal(t, before+3, s.sink.count())
	}

	s.respondBusy()
	require.Equal(t, http.StatusTooManyRequests, s.post(envelope(chunkItem)).status)
	s.clock.Skip(pipeline.BreakerPause)
	for range 2 {
		assert.Equal(t, http.StatusOK, s.post(envelope(unusable, unusable)).status, "an envelope of nothing usable lets the next one try")
	}
}

// TestNothingHeardOfThePipeline: what is not usable, came before, or whose client goes away says
// nothing of the pipeline, and keeps nobody out.
func TestNothingHeardOfThePipeline(t *testing.T) {
	h := start(t, dropResent)
	h.clock.Stop()
	require.Equal(t, http.StatusOK, h.post(envelope(chunkItem)).status)
	chunk := func(n int) string { // with an id of its own
		return envelope(item("profile_chunk", "", strings.Replace(goodChunk, "90ab12cd", fmt.Sprintf("%08d", n), 1)))
	}
	n := 0
	for name, vain := range map[string]struct {
		item string
		done string
	}{
		"unusable": {item("profile_chunk", "", "{"), "outcome=discarded reason=profiling_invalid_json type=profile_chunk"},
		"resent":   {chunkItem, "outcome=discarded reason=resent type=profile_chunk"},
	} {
		n++
		h.respondBusy()
		require.Equal(t, http.StatusTooManyRequests, h.post(chunk(n)).status)
		h.clock.Skip(pipeline.BreakerPause)
		for range 3 {
			assert.Equal(t, http.StatusOK, h.post(envelope(vain.item)).status)
		}
		assert.EqualValues(t, 3, h.items()[vain.done], "%s: %v", name, h.items())
		h.sink.respond = nil
		assert.Equal(t, http.StatusOK, h.post(chunk(n)).status, "after what is %s, the next one tries", name)
	}

	asked := make(chan struct{})
	h.sink.wait = func(ctx context.Context) error {
		close(asked)
		<-ctx.Done()
		return ctx.Err()
	}
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-asked
		leave()
	}()
	_, err := h.client.Do(h.envelopeRequest([]byte(chunk(0))).WithContext(ctx))
	require.ErrorIs(t, err, context.Canceled)
	require.Eventually(t, func() bool { return h.items()[refusedChunk] == 3 }, 30*time.Second, time.Millisecond)
	h.sink.wait = nil
	assert.Equal(t, http.StatusOK, h.post(chunk(0)).status, "its client has gone, the pipeline has room")
}

// TestStrangersAreNotToldToWait: who may not send hears so from a busy collector too.
func TestStrangersAreNotToldToWait(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Projects = []ProjectConfig{{ID: 42, PublicKeys: []string{testKey}}}
		c.TunnelPath = "/tunnel"
	})
	h.clock.Stop()
	h.respondBusy()
	require.Equal(t, http.StatusTooManyRequests, h.post(envelope(chunkItem)).status)
	post := func(path, body string) int {
		return h.do(h.request(http.MethodPost, path, strings.NewReader(body))).status
	}
	stranger := strings.Repeat("a", 32)
	assert.Equal(t, http.StatusForbidden, post("/api/42/envelope/?sentry_key="+stranger, envelope(chunkItem)))
	assert.Equal(t, http.StatusForbidden, post("/api/41/cron/nightly/"+testKey+"/?status=ok", ""))
	assert.Equal(t, http.StatusTooManyRequests, post("/api/42/envelope/?sentry_key="+testKey, envelope(chunkItem)))
	assert.Equal(t, map[string]int64{"reason=backpressure": 1, "reason=key_unknown": 1, "reason=project_unknown": 1}, h.rejected())

	for path, project := range map[string]string{"/api/42/envelope/": "42", "/tunnel": "42"} {
		dsn := func(key string) string { return fmt.Sprintf("{\"dsn\":\"http://%s@localhost/%s\"}\n", key, project) }
		assert.Equal(t, http.StatusUnauthorized, post(path, envelope(chunkItem)), path)
		assert.Equal(t, http.StatusForbidden, post(path, dsn(stranger)+chunkItem), path)
		assert.Equal(t, http.StatusTooManyRequests, post(path, dsn(testKey)+"no item"), path)
	}
}

// TestRefusedSpansStillLink: the spans of a transaction that the traces pipeline has no room for
// are found all the same.
func TestRefusedSpansStillLink(t *testing.T) {
	h := startWith(t, nil, func(f receiver.Factory, set receiver.Settings, cfg *Config) []receiver.Traces {
		return createSignals(t, f, set, cfg, consumertest.NewErr(errors.New("full")), consumertest.NewNop(), consumertest.NewNop())
	})
	h.clock.Stop()
	for range 2 { // refused by the pipeline, and before it
		got := h.post(envelope(item("transaction", "", fullTransaction), profileItem))
		assert.Equal(t, http.StatusOK, got.status, got.text)
		assert.Equal(t, "10:transaction;span:key:backpressure", got.header.Get(sentry.HeaderRateLimits))
	}
	assert.Equal(t, map[string]int64{
		"outcome=accepted type=profile": 2, "outcome=refused reason=backpressure type=transaction": 2,
	}, h.items())
	assert.Equal(t, map[string]int64{"": 4}, h.counts("otelcol_receiver_sentry_linked_observations"))
	assert.Equal(t, 2, h.sink.count())
}

// TestBusyNowAndThen: whatever the pipeline refuses when many send, what was answered 200 arrived,
// the rest was told so, and all of it is counted once.
func TestBusyNowAndThen(t *testing.T) { synctest.Test(t, testBusyNowAndThen) }

func testBusyNowAndThen(t *testing.T) {
	h := start(t, nil)
	h.overPipes()
	var random sync.Mutex
	source := rand.New(rand.NewPCG(3, 4))
	h.sink.respond = func(pprofile.Profiles) error {
		random.Lock()
		delay, full := time.Duration(source.IntN(200))*time.Microsecond, source.IntN(4) == 0
		random.Unlock()
		time.Sleep(delay)
		if full {
			return errors.New("full")
		}
		return nil
	}
	clients, each := 16, 20
	if testsize.Full() {
		each = 100
	}
	var accepted, refused atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range each {
				switch got := h.post(envelope(chunkItem)); got.status {
				case http.StatusOK:
					accepted.Add(1)
				case http.StatusTooManyRequests:
					refused.Add(1)
					if got.header.Get(sentry.HeaderRateLimits) != profilePause {
						t.Error("a refusal without its limits")
					}
					time.Sleep(time.Millisecond)
				default:
					t.Error(got.status)
				}
			}
		})
	}
	all.Wait()
	assert.EqualValues(t, clients*each, accepted.Load()+refused.Load())
	assert.EqualValues(t, accepted.Load(), h.sink.count())
	assert.Equal(t, accepted.Load(), h.items()["outcome=accepted type=profile_chunk"])
	assert.Equal(t, refused.Load(), h.items()[refusedChunk]+h.rejected()["reason=backpressure"])
	assert.Positive(t, h.rejected()["reason=backpressure"])
	for labels := range h.items() {
		assert.True(t, strings.Contains(labels, "accepted") || strings.Contains(labels, "refused"), labels)
	}
}
