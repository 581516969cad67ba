// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// patient is a configuration with which profiles wait for the end of the test.
const patient = "link: {wait: 1m, keep_spans: 2m}"

func TestSpansBeforeAndAfterTheProfile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 300ms}")
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(span{id: 2, parent: 1, start: 22, end: 26}, span{id: 3, parent: 1, start: 14, end: 16})))
		assert.Empty(t, h.sink.AllProfiles(), "it waits")
		assert.Equal(t, map[string]int64{"": 1}, h.counts("held_messages"))
		assert.Equal(t, map[string]int64{"": 3}, h.counts("index_spans"))

		p := h.received(1)[0]
		synctest.Wait()
		dictionarytest.MustBeValid(t, p)
		assert.Equal(t, map[uint64]byte{1500: 3, 2500: 2}, linksOf(p))
		assert.Equal(t, map[string]int64{"how=covered": 2}, h.counts("linked_observations"))
		assert.Equal(t, map[string]int64{"": 0}, h.counts("held_messages"))
		assert.Equal(t, map[string]int64{"": 0}, h.counts("held_bytes"))
		assert.Equal(t, map[string]int64{"released=due": 1}, h.counts("wait_time"))
		assert.Equal(t, map[string]int64{"outcome=sent": 1}, h.counts("outgoing_profiles"))

		require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(span{id: 4, parent: 1, start: 24, end: 26})))
		assert.Equal(t, int64(1), h.counts("spans")["event=late"])
	})
}

// Traces are handed on as they came, at once, while profiles wait.
func TestTracesPass(t *testing.T) {
	h := start(t, patient)
	traces := tracesOf(request)
	traces.MarkReadOnly()
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
	require.Len(t, h.passed.AllTraces(), 1)
	assert.Equal(t, traces, h.passed.AllTraces()[0])
	assert.False(t, h.traces.Capabilities().MutatesData)
}

// What cannot be linked does not wait, and an error reaches who sent it.
func TestNothingToWaitFor(t *testing.T) {
	h := start(t, patient)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), oneProfile()))
	dictionarytest.MustBeValid(t, h.received(1)[0])
	assert.Equal(t, map[string]int64{"reason=no_session": 1}, h.counts("unlinked_observations"))

	h.sink.refuse = errors.New("full")
	assert.ErrorContains(t, h.profiles.ConsumeProfiles(t.Context(), oneProfile()), "full")
	assert.Equal(t, map[string]int64{"outcome=sent": 1, "outcome=refused": 1}, h.counts("outgoing_profiles"))
	assert.Equal(t, map[string]int64{"": 2}, h.counts("incoming_profiles"))
}

func TestWithoutWait(t *testing.T) {
	h := start(t, "link: {wait: 0s}")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(h.received(1)[0]))
	assert.Equal(t, map[string]int64{"reason=no_span": 1}, h.counts("unlinked_observations"))
}

// Too many: the first go early, linked to what there is, and nothing is dropped.
func TestBoundedWait(t *testing.T) {
	size := (&pprofile.ProtoMarshaler{}).ProfilesSize(recorded())
	for _, bound := range []string{"max_held_profiles: 2", fmt.Sprintf("max_held_bytes: %d", 3*size-1)} {
		h := start(t, "link: {wait: 1m, keep_spans: 2m, "+bound+"}")
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
		for range 5 {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		}
		for _, p := range h.received(3) {
			assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(p))
		}
		assert.Equal(t, map[string]int64{"": 2}, h.counts("held_messages"), bound)
		assert.Equal(t, map[string]int64{"released=full": 3}, h.counts("wait_time"))
		assert.Equal(t, map[string]int64{"reason=evicted": 3}, h.counts("unlinked_observations"))
	}
}

// Spans that had to leave a full index are counted, and so are the observations that may have
// missed them.
func TestBoundedIndex(t *testing.T) {
	h := start(t, "link: {wait: 0s, max_spans: 1}")
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request, span{id: 2, start: 22, end: 26})))
	assert.Equal(t, map[string]int64{"": 1}, h.counts("index_spans"))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	assert.Equal(t, map[uint64]byte{1500: 0, 2500: 2}, linksOf(h.received(1)[0]))
	assert.Equal(t, map[string]int64{"event=indexed": 2, "event=evicted": 1}, h.counts("spans"))
	assert.Equal(t, map[string]int64{"reason=evicted": 1}, h.counts("unlinked_observations"))
}

func TestAmbiguous(t *testing.T) {
	for policy, want := range map[string]byte{"skip": 0, "innermost": 2} {
		h := start(t, "link: {wait: 0s, ambiguous: "+policy+"}")
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request, span{id: 2, start: 14, end: 16})))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		assert.Equal(t, map[uint64]byte{1500: want, 2500: 0}, linksOf(h.received(1)[0]))
		ambiguous := h.counts("unlinked_observations")["reason=ambiguous"] + h.counts("linked_observations")["how=guessed"]
		assert.Equal(t, int64(1), ambiguous, policy)
	}
}

// Who sent a profile is known behind the processor too.
func TestClientInfo(t *testing.T) {
	h := start(t, "link: {wait: 1ms}")
	sender := client.Info{Metadata: client.NewMetadata(map[string][]string{"X-Tenant": {"shop"}})}
	ctx, cancel := context.WithCancel(client.NewContext(t.Context(), sender))
	require.NoError(t, h.profiles.ConsumeProfiles(ctx, recorded()))
	cancel() // the request is over
	h.received(1)
	assert.Equal(t, sender, client.FromContext(h.sink.contexts[0]))
	assert.NoError(t, h.sink.contexts[0].Err())
}

func TestShutdownFlushes(t *testing.T) {
	h := start(t, patient)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	require.NoError(t, h.traces.Shutdown(t.Context()), "first: the profiles still need the spans")
	require.NoError(t, h.profiles.Shutdown(t.Context()))
	assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(h.received(1)[0]))
	assert.Equal(t, map[string]int64{"released=shutdown": 1}, h.counts("wait_time"))
	assert.Equal(t, map[string]int64{"": 0}, h.counts("index_spans"))
}

func TestShutdownWithoutTime(t *testing.T) {
	h := start(t, patient)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, h.profiles.Shutdown(over))
	h.received(0)
	assert.Equal(t, map[string]int64{"outcome=dropped": 1}, h.counts("outgoing_profiles"))
}

// What is due when the processor is shut down has no more time than the rest.
func TestShutdownWithoutTimeForWhatIsDue(t *testing.T) {
	h := start(t, "link: {wait: 1ms}")
	h.sink.mu.Lock() // the next component is slow: it takes the first until the shutdown
	for range 3 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	}
	p := h.profiles.(*profilesProcessor)
	require.Eventually(t, func() bool { return h.counts("held_messages")[""] == 2 }, 30*time.Second, time.Millisecond)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	go func() {
		<-p.stop
		h.sink.mu.Unlock()
	}()
	require.NoError(t, p.Shutdown(over))
	h.received(1)
	assert.Equal(t, map[string]int64{"outcome=sent": 1, "outcome=dropped": 2}, h.counts("outgoing_profiles"))
}

// A next component that blocks, as a queue with block_on_overflow does while its backend is down,
// holds up what waits and loses none of it. Once more waits than is allowed, it holds up the
// senders as well.
func TestNextBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "link: {wait: 1s, max_held_profiles: 3}")
		h.sink.full = make(chan struct{})
		var sending sync.WaitGroup
		for range 6 {
			sending.Go(func() { assert.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded())) })
			time.Sleep(10 * time.Second)
		}
		h.received(0)
		assert.Equal(t, map[string]int64{"": 3}, h.counts("held_messages"), "and one with the worker, one with a sender")
		close(h.sink.full)
		sending.Wait()
		time.Sleep(time.Second)
		h.received(6)
		assert.Equal(t, map[string]int64{"outcome=sent": 6}, h.counts("outgoing_profiles"))
		h.balanced()
	})
}

// A shutdown does not wait for ever for a next component that takes nothing.
func TestShutdownWhileNextBlocks(t *testing.T) {
	for config, want := range map[string]map[string]int64{
		"link: {wait: 1s}":                  {"outcome=refused": 1, "outcome=dropped": 2},
		"link: {wait: 1s}\nstorage: memory": {"outcome=stored": 3},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, config)
			h.sink.full = make(chan struct{})
			for range 3 {
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
			}
			time.Sleep(time.Minute)
			begin := time.Now()
			require.NoError(t, h.profiles.Shutdown(context.Background()))
			assert.Equal(t, shutdownSendTimeout, time.Since(begin))
			assert.Equal(t, want, h.counts("outgoing_profiles"))
			assert.Equal(t, 1, h.logs.FilterMessageSnippet("there was no time").Len())
			h.balanced()
			if h.store.values["range"] != nil {
				assert.Equal(t, map[string]int64{"": 3}, startWith(t, stored, h.store.crash()).counts("restored_profiles"))
			}
		})
	}
}

// One that is slow is given the time it needs, with what waits and with what the worker was handing
// on.
func TestShutdownWhileNextIsSlow(t *testing.T) {
	for _, waited := range []time.Duration{0, 2 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, "link: {wait: 1s}")
			h.sink.full = make(chan struct{})
			for range 20 {
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
			}
			time.Sleep(waited)
			go func() {
				for range 20 {
					time.Sleep(shutdownSendTimeout - time.Second)
					h.sink.full <- struct{}{}
				}
			}()
			require.NoError(t, h.profiles.Shutdown(context.Background()))
			h.received(20)
		})
	}
}

func TestLifecycle(t *testing.T) {
	ctx := t.Context()
	cfg, err := load(t, "")
	require.NoError(t, err)
	var before *linking
	for range 2 { // the same configuration again, as after a reload
		h := &harness{metrics: componenttest.NewTelemetry(), store: newMemoryStorage()}
		profiles, err := createProfiles(ctx, h.settings(), cfg, consumertest.NewNop())
		require.NoError(t, err)
		traces, err := NewFactory().CreateTraces(ctx, h.settings(), cfg, consumertest.NewNop())
		require.NoError(t, err)
		assert.Same(t, profiles.(*profilesProcessor).linking, traces.(*tracesProcessor).linking)
		assert.NotSame(t, before, profiles.(*profilesProcessor).linking, "the first one was released")
		before = profiles.(*profilesProcessor).linking
		for _, c := range []component.Component{profiles, traces} {
			require.NoError(t, c.Start(ctx, h.host()))
			require.NoError(t, c.Shutdown(ctx))
			require.NoError(t, c.Shutdown(ctx), "twice")
		}
		require.NoError(t, h.metrics.Shutdown(ctx))
	}
	h := &harness{metrics: componenttest.NewTelemetry()}
	profiles, err := createProfiles(ctx, h.settings(), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, profiles.Shutdown(ctx), "without Start")
	require.NoError(t, h.metrics.Shutdown(ctx))
}
