// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// refusesProject refuses the messages of one project for good, without saying so.
func refusesProject(project string) func(pprofile.Profiles) bool {
	return func(p pprofile.Profiles) bool { return projectOf(p) == project }
}

// A message that is always refused holds up no other, and expires.
func TestRefusedMessageHoldsUpNoOther(t *testing.T) {
	for poison := range 3 {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, "link: {wait: 1s}\nstorage: memory")
			h.sink.refuses = refusesProject("bad")
			for i := range 60 {
				if i <= poison {
					require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("bad")))
				}
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("good")))
			}
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Equal(t, map[string]int{"good": 60}, h.sink.projects(), "as soon as they are due")
			assert.Equal(t, map[string]int64{"outcome=sent": 60}, h.counts("outgoing_profiles"))

			time.Sleep(defaultMaxElapsedTime + time.Minute)
			assert.Equal(t, map[string]int64{"outcome=sent": 60, "outcome=expired": int64(poison + 1)}, h.counts("outgoing_profiles"))
			assert.Less(t, h.sink.refusals, 20*(poison+1))
			assert.Positive(t, h.logs.FilterMessageSnippet("max_elapsed_time").Len())
			synctest.Wait()
			assert.Len(t, h.store.crash().values, 1, "the range")
			h.balanced()
		})
	}
}

// Nor does it after a restart, which does not forgive its refusals.
func TestRefusedMessageAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s}\nstorage: memory")
		h.sink.refuses = refusesProject("bad")
		send := func() {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("good")))
		}
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("bad")))
		send()
		expired, restarts := int64(0), 0
		for ; expired == 0 && restarts < 10; restarts++ {
			time.Sleep(time.Minute)
			expired = h.counts("outgoing_profiles")["outcome=expired"]
			send()
			left := h.store.crash()
			before := h
			h = startWith(t, "link: {wait: 1s}\nstorage: memory", left)
			h.sink.refuseOnly(refusesProject("bad")) // its worker runs already
			require.NoError(t, before.profiles.Shutdown(context.Background()))
			time.Sleep(2 * time.Second)
			synctest.Wait()
			assert.Equal(t, map[string]int{"good": 1}, h.sink.projects())
		}
		assert.Greater(t, restarts, 3)
		assert.Less(t, restarts, 9)
	})
}

// While everything is refused, nothing expires, few attempts are made, and all is forwarded soon
// after that.
func TestRefusedForAnHour(t *testing.T) {
	for _, poison := range []string{"", "bad"} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, "link: {wait: 1s}")
			h.sink.refuses = func(pprofile.Profiles) bool { return true }
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn(poison+"0")))
			for range 99 {
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("good")))
			}
			time.Sleep(time.Hour)
			synctest.Wait()
			assert.Equal(t, map[string]int64{"": 100}, h.counts("held_messages"))
			assert.Empty(t, h.counts("outgoing_profiles"))
			assert.Less(t, h.sink.refusals, 2*3600+100)
			assert.Equal(t, 1, h.logs.FilterMessageSnippet("they are retried").Len())

			h.sink.mu.Lock()
			h.sink.refuses = refusesProject("bad0")
			h.sink.mu.Unlock()
			time.Sleep(2 * time.Second)
			synctest.Wait()
			assert.Equal(t, 99, h.sink.projects()["good"])
			time.Sleep(2 * defaultMaxElapsedTime)
			if poison == "" {
				h.received(100)
			} else {
				assert.Equal(t, map[string]int64{"outcome=sent": 99, "outcome=expired": 1}, h.counts("outgoing_profiles"))
			}
			h.balanced()
		})
	}
}

// A next component that is slower than the senders, as a full queue is, costs nothing that was
// accepted.
func TestSlowNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s, max_held_profiles: 50}")
		room := 1
		h.sink.refuses = func(pprofile.Profiles) bool {
			room--
			return room < 0
		}
		accepted := 0
		for i := range 3600 {
			time.Sleep(100 * time.Millisecond)
			if i%20 == 0 {
				h.sink.mu.Lock()
				room = 1
				h.sink.mu.Unlock()
			}
			if h.profiles.ConsumeProfiles(t.Context(), recordedIn(fmt.Sprint(i%3))) == nil {
				accepted++
			}
		}
		assert.Empty(t, h.counts("outgoing_profiles")["outcome=expired"])
		evicted := h.counts("outgoing_profiles")["outcome=evicted"]
		h.sink.mu.Lock()
		h.sink.refuses = nil
		h.sink.mu.Unlock()
		time.Sleep(2 * longestPause)
		assert.Equal(t, int64(accepted), int64(len(h.sink.AllProfiles()))+evicted)
		assert.Greater(t, accepted, 200)
		assert.Less(t, evicted, int64(accepted/5), "while shares become equal")
	})
}

// Limits that expire are those of one message: 0 is none.
func TestRefusedWithoutLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s}\nretry_on_failure: {max_elapsed_time: 0s}")
		h.sink.refuses = refusesProject("bad")
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("bad")))
		for range 24 {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("good")))
			time.Sleep(time.Hour)
		}
		assert.Equal(t, map[string]int{"good": 24}, h.sink.projects())
		assert.Equal(t, map[string]int64{"": 1}, h.counts("held_messages"))
		assert.Less(t, h.sink.refusals, 24*130)
	})
}

// The part of a message that is refused is retried, the others are forwarded once.
func TestRefusedPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s}\ntransforms: [{split: {max_duration: 1ms}}]\nretry_on_failure: {max_elapsed_time: 10s}")
		h.sink.refuses = func(p pprofile.Profiles) bool {
			sample := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0)
			return sample.TimestampsUnixNano().At(0) == 1500
		}
		p := recorded()
		p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0).TimestampsUnixNano().FromRaw([]uint64{1500, 50_001_500})
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), p))
		time.Sleep(time.Minute)
		h.received(1)
		assert.Equal(t, map[string]int64{"outcome=sent": 1, "outcome=expired": 1}, h.counts("outgoing_profiles"))
		assert.Equal(t, map[string]int64{"": 0}, h.counts("held_bytes"))
	})
}

// A room that is full: the project that uses the most of it makes room, by profiles that are
// forwarded early.
func TestFairShares(t *testing.T) {
	h := start(t, "link: {wait: 1m, keep_spans: 2m, max_held_profiles: 10}")
	for range 30 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("noisy")))
	}
	for range 5 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("quiet")))
	}
	for range 30 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("noisy")))
	}
	assert.Equal(t, map[string]int{"noisy": 55}, h.sink.projects())
	assert.Equal(t, map[string]int64{"": 10}, h.counts("held_messages"))
}

// If the next component refuses everything, the project that uses the most of a full room loses its
// oldest profiles to another, and is refused itself.
func TestFairSharesWhileRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s, max_held_profiles: 10}")
		h.sink.answer(errors.New("sending queue is full"))
		accepted := 0
		for range 30 {
			if h.profiles.ConsumeProfiles(t.Context(), recordedIn("noisy")) == nil {
				accepted++
			}
		}
		require.Equal(t, 10, accepted)
		time.Sleep(time.Minute)
		for range 5 {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("quiet")))
		}
		assert.Error(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("quiet")), "an equal share, no more")
		assert.Error(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("noisy")))
		h.sink.answer(nil)
		time.Sleep(time.Minute)
		assert.Equal(t, map[string]int{"noisy": 5, "quiet": 5}, h.sink.projects())
		assert.Equal(t, int64(5), h.counts("outgoing_profiles")["outcome=evicted"])
		h.balanced()
	})
}

// A room full of messages that are always refused costs new ones of the same project the wait for
// their spans, no more.
func TestRoomFullOfRefusedMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s, max_held_profiles: 10}\nretry_on_failure: {max_elapsed_time: 1m}")
		h.sink.refuses = func(p pprofile.Profiles) bool { return p.ProfileCount() == 2 }
		for range 10 {
			p := recordedIn("one")
			profiles := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles()
			profiles.At(0).CopyTo(profiles.AppendEmpty())
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), p))
		}
		time.Sleep(time.Minute)
		for range 60 {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn("one")))
			time.Sleep(3 * time.Second)
		}
		h.received(60)
		assert.Equal(t, map[string]int64{"outcome=sent": 60, "outcome=expired": 20}, h.counts("outgoing_profiles"))
	})
}

// TestRateOfRetries: while the next component refuses everything, all messages together are retried
// at most twice a second.
func TestRateOfRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s, max_held_profiles: 200}")
		h.sink.answer(errors.New("sending queue is full"))
		for i := range 100 {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recordedIn(fmt.Sprint(i%3))))
		}
		time.Sleep(time.Minute) // the first attempts
		h.sink.mu.Lock()
		before := h.sink.refusals
		h.sink.mu.Unlock()
		time.Sleep(time.Minute)
		h.sink.mu.Lock()
		defer h.sink.mu.Unlock()
		t.Logf("%d retries in a minute", h.sink.refusals-before)
		assert.LessOrEqual(t, h.sink.refusals-before, 2*60+1, "at the begin and at the end")
		assert.Greater(t, h.sink.refusals-before, 60)
	})
}
