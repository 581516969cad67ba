// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// The sender of a profile that waited has been told that it was taken. What the next consumer does
// not take now it gets later, once, whatever it did with it.
func TestRefusedAfterTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, spoils := range []bool{false, true} {
			h := start(t, "link: {wait: 1ms}\ntransforms: [{split: {max_samples: 1}}]\nstorage: memory")
			h.sink.spoils = spoils
			h.sink.answer(errors.New("sending queue is full"))
			require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
			for range 2 {
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
			}
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Equal(t, 1, h.logs.FilterMessageSnippet("they are retried").Len())
			assert.Equal(t, map[string]int64{"": 2}, h.counts("held_messages"))
			assert.Empty(t, h.counts("outgoing_profiles"))
			h.sink.answer(nil)
			for _, p := range h.received(4) {
				dictionarytest.MustBeValid(t, p)
			}
			synctest.Wait()
			assert.Equal(t, map[string]int64{"outcome=sent": 4}, h.counts("outgoing_profiles"))
			assert.Equal(t, map[string]int64{"released=due": 2}, h.counts("wait_time"), "once each")
			assert.Equal(t, map[string]int64{"how=covered": 2}, h.counts("linked_observations"), "once each")
		}
	})
}

func TestRefusedForGoodAfterTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1ms}")
		h.sink.answer(consumererror.NewPermanent(errors.New("too large")))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, h.logs.FilterMessageSnippet("are lost").Len())
		assert.Equal(t, map[string]int64{"outcome=refused": 1}, h.counts("outgoing_profiles"))
		assert.Equal(t, map[string]int64{"": 0}, h.counts("held_messages"))
	})
}

// The errors of several exporters of a pipeline are joined. That one of them rejects a message is
// no reason to lose it for another one that is busy.
func TestRejectedByOneAndRefusedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1ms}")
		h.sink.answer(errors.Join(consumererror.NewPermanent(errors.New("too large")), errors.New("sending queue is full")))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, map[string]int64{"": 1}, h.counts("held_messages"))
		h.sink.answer(nil)
		h.received(1)
	})
}

// When nothing more may wait, the sender hears that the next consumer takes nothing, and can send
// the same again.
func TestRefusedWithoutRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1m, keep_spans: 2m, max_held_profiles: 2}")
		for range 2 {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		}
		h.sink.answer(errors.New("sending queue is full"))
		another := recorded()
		assert.ErrorContains(t, h.profiles.ConsumeProfiles(t.Context(), another), "sending queue is full")
		for range 2 {
			assert.ErrorIs(t, h.profiles.ConsumeProfiles(t.Context(), another), errQueueFull)
		}
		assert.Equal(t, 2, h.sink.refusals, "the oldest and the new one; then the next component is left alone for a while")
		assert.Equal(t, map[string]int64{"": 2}, h.counts("held_messages"))
		assert.Equal(t, map[string]int64{"outcome=refused": 3}, h.counts("outgoing_profiles"))

		h.sink.answer(nil)
		require.Eventually(t, func() bool { return h.profiles.ConsumeProfiles(t.Context(), another) == nil }, 30*time.Second, 10*time.Millisecond)
		require.NoError(t, h.profiles.Shutdown(t.Context()))
		h.received(3)
	})
}

// A message that alone is too much goes on at once, and its sender hears what becomes of it.
func TestRefusedTooLargeToWait(t *testing.T) {
	h := start(t, "link: {wait: 1m, keep_spans: 2m, max_held_bytes: 1}")
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	h.received(1)
	h.sink.answer(errors.New("sending queue is full"))
	assert.ErrorContains(t, h.profiles.ConsumeProfiles(t.Context(), recorded()), "full")
	assert.Equal(t, map[string]int64{"outcome=sent": 1, "outcome=refused": 1}, h.counts("outgoing_profiles"))
}

// What is refused at shutdown is there after the next start, if it is stored.
func TestRefusedAtShutdown(t *testing.T) {
	h := start(t, stored)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	h.sink.answer(errors.New("sending queue is full"))
	require.NoError(t, h.profiles.Shutdown(context.Background()))
	assert.Equal(t, map[string]int64{"outcome=stored": 1}, h.counts("outgoing_profiles"))
	after := startWith(t, stored, h.store.crash())
	assert.Equal(t, map[string]int64{"": 1}, after.counts("held_messages"))

	h = start(t, patient)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	h.sink.answer(errors.New("sending queue is full"))
	require.NoError(t, h.profiles.Shutdown(context.Background()))
	assert.Equal(t, map[string]int64{"outcome=refused": 1}, h.counts("outgoing_profiles"))
	assert.Equal(t, 1, h.logs.FilterMessageSnippet("refused at shutdown").Len())
}
