// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// largeProfile is numbered with 2,000 observations, 16 kB.
func largeProfile(n byte) pprofile.Profiles {
	p := numbered("42", n)
	dictionarytest.FirstProfile(p).SetDurationNano(5000)
	sample := dictionarytest.FirstProfile(p).Samples().At(0)
	for i := range uint64(2000) {
		sample.TimestampsUnixNano().Append(2501 + i)
	}
	return p
}

// Compressed messages come out as they went in, with their links: alone, in a batch, after a
// restart and after a shutdown.
func TestCompression(t *testing.T) {
	const messages = 20
	size := sizeOf(largeProfile(0))
	for name, config := range map[string]string{
		"alone":   "{link: {wait: 1h, keep_spans: 2h, max_held_bytes: %d}, storage: memory}",
		"batched": "{link: {wait: 1h, keep_spans: 2h, max_held_bytes: %d}, storage: memory, batch: {timeout: 1h, max_bytes: 80000}}",
	} {
		t.Run(name, func(t *testing.T) {
			run := func(maxHeld int) (outputs []pprofile.Profiles, heldBytes int64) {
				h := start(t, fmt.Sprintf(config, maxHeld))
				for n := range byte(messages) {
					require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), largeProfile(n)))
				}
				held := h.counts("held_bytes")[""]
				assert.Empty(t, h.sink.AllProfiles(), "all wait")

				restarted := startWith(t, fmt.Sprintf(config, maxHeld), h.store.crash())
				assert.Equal(t, map[string]int64{"": messages}, restarted.counts("held_messages"))
				assert.InEpsilon(t, held, restarted.counts("held_bytes")[""], 0.25, "compressed again")
				require.NoError(t, restarted.traces.ConsumeTraces(t.Context(), tracesOf(request)))
				require.NoError(t, restarted.profiles.Shutdown(t.Context()))
				restarted.balanced()
				return slices.Clone(restarted.sink.AllProfiles()), held
			}
			plain, plainBytes := run(100 * messages * size)
			assert.Equal(t, int64(messages*size), plainBytes)
			compressed, bytes := run(messages * size / 2)
			assert.Less(t, bytes, plainBytes/2, "a part of the limit as it is, the rest compressed")

			require.Len(t, compressed, len(plain))
			for i := range plain {
				dictionarytest.MustBeValid(t, compressed[i])
				assert.ElementsMatch(t, numbersIn(plain[i]), numbersIn(compressed[i]))
				if name == "alone" {
					assert.Empty(t, dictionarytest.Diff(plain[i], compressed[i]))
					assert.Equal(t, linksOf(plain[i]), linksOf(compressed[i]))
				}
			}
		})
	}
}

func observationsIn(p pprofile.Profiles) (n int) {
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				for _, sample := range profile.Samples().All() {
					n += sample.TimestampsUnixNano().Len()
				}
			}
		}
	}
	return n
}

// During an outage, messages are compressed again after each attempt, also those of several parts:
// they need no more memory than while they waited.
func TestCompressionDuringOutage(t *testing.T) {
	const messages = 20
	size := sizeOf(largeProfile(0))
	shared, err := codec()
	require.NoError(t, err)
	shared.EncodeAll([]byte("text"), nil) // makes its channels, which must not belong to the bubble
	for name, config := range map[string]string{
		"alone":   "link: {wait: 10s, max_held_bytes: %d}",
		"batched": "{link: {wait: 10s, max_held_bytes: %d}, batch: {timeout: 1s, max_bytes: 80000}}",
		"split":   "{link: {wait: 10s, max_held_bytes: %d}, transforms: [{split: {max_bytes: 10000}}]}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, fmt.Sprintf(config, messages*size/2))
				h.sink.refuses = func(pprofile.Profiles) bool { return true }
				for n := range byte(messages) {
					require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), largeProfile(n)))
				}
				time.Sleep(10 * time.Minute)
				synctest.Wait()
				assert.Greater(t, h.sink.refusals, 2*messages)
				assert.Empty(t, h.counts("outgoing_profiles"))
				assert.LessOrEqual(t, h.counts("held_bytes")[""], int64(messages*size/2), "link::max_held_bytes")
				h.sink.refuseOnly(func(pprofile.Profiles) bool { return false })
				time.Sleep(time.Minute)
				synctest.Wait()
				sent := 0
				for _, p := range h.sink.AllProfiles() {
					dictionarytest.MustBeValid(t, p)
					sent += observationsIn(p)
				}
				assert.Equal(t, messages*observationsIn(largeProfile(0)), sent)
				assert.Zero(t, h.counts("held_messages")[""])
			})
		})
	}
}

// Compressed messages that are dropped, or whose body is damaged, are counted.
func TestCompressionLosses(t *testing.T) {
	h := start(t, fmt.Sprintf("link: {wait: 1h, keep_spans: 2h, max_held_bytes: %d}", 2*sizeOf(largeProfile(0))))
	for n := range byte(4) {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), largeProfile(n)))
	}
	p := h.profiles.(*profilesProcessor)
	damaged := p.queue.popAny(t.Context())
	for damaged.compressed == nil {
		p.release(damaged, releasedDue)
		damaged = p.queue.popAny(t.Context())
	}
	damaged.compressed[0].body = damaged.compressed[0].body[:10]
	p.release(damaged, releasedDue)
	over, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, h.profiles.Shutdown(over))
	sent := h.counts("outgoing_profiles")["outcome=sent"]
	assert.Equal(t, 4-sent, h.counts("outgoing_profiles")["outcome=dropped"])
	assert.Greater(t, 4-sent, int64(1), "the damaged one, and those left at the shutdown")
	h.balanced()
}

// TestBusyCore: with the defaults, all chunks that one core receives in link::wait can wait. It
// receives and exports 454 recorded profiles per second (docs/load.md, capacity with exporter and
// backend); half of them are V1 profiles, which do not wait.
func TestBusyCore(t *testing.T) {
	testsize.NeedFull(t)
	const seconds, perSecond = 30, 454 / 2
	recordings := slices.Clone(replayCorpus(t).profiles)
	h := start(t, "link: {wait: 1h, keep_spans: 2h}")
	index := h.profiles.(*profilesProcessor).linking.index
	recordings = slices.DeleteFunc(recordings, func(p pprofile.Profiles) bool {
		return sizeOf(p) > 1<<20 || !index.CanLink("", p, time.Now()) // as in docs/load.md; others do not wait
	})
	var size atomic.Int64
	var sending sync.WaitGroup
	senders := runtime.GOMAXPROCS(0)
	for first := range senders {
		sending.Go(func() {
			for i := first; i < seconds*perSecond; i += senders {
				p := pprofile.NewProfiles()
				recordings[i%len(recordings)].CopyTo(p)
				size.Add(int64(sizeOf(p)))
				assert.NoError(t, h.profiles.ConsumeProfiles(t.Context(), p))
			}
		})
	}
	sending.Wait()
	t.Logf("%d profiles, %d MB of OTLP, held in %d MB", seconds*perSecond, size.Load()/1e6, h.counts("held_bytes")[""]/1e6)
	assert.Zero(t, len(h.sink.AllProfiles()), "all wait")
	assert.Equal(t, int64(seconds*perSecond), h.counts("held_messages")[""])
	over, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, h.profiles.Shutdown(over))
}

// TestLargeMessagesAreCompressed: also in an empty queue, because a decoded message may use ten
// times its size.
func TestLargeMessagesAreCompressed(t *testing.T) {
	size := sizeOf(largeProfile(0))
	for share, compressed := range map[int]bool{compressedShare - 1: true, compressedShare + 1: false} {
		h := start(t, fmt.Sprintf("link: {wait: 1h, keep_spans: 2h, max_held_bytes: %d}", size*share))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), largeProfile(0)))
		assert.Equal(t, compressed, h.counts("held_bytes")[""] < int64(size), "one in %d", share)
	}
}

// TestDecompressionIsClaimed: compressed messages that are released together use at most
// decodedBytes, and a message that needs more waits for all others.
func TestDecompressionIsClaimed(t *testing.T) {
	h := start(t, fmt.Sprintf("link: {wait: 1h, keep_spans: 2h, max_held_bytes: %d}", 20*sizeOf(largeProfile(0))))
	for n := range byte(20) {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), largeProfile(n)))
	}
	l := h.profiles.(*profilesProcessor).linking
	var held *heldMessage
	for held == nil || held.compressed == nil {
		held = h.profiles.(*profilesProcessor).queue.popAny(t.Context())
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	first := l.claimDecoded(t.Context(), held)
	assert.Equal(t, held.decodedBytes(), l.decoded.Used())
	_, err := held.decompress()
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	assert.LessOrEqual(t, int64(after.TotalAlloc-before.TotalAlloc), 2*l.decoded.Used(), "allocated, with garbage")

	held.compressed = []compressedMessage{{memory: 2 * decodedBytes}}
	done := make(chan *httpbody.Claim)
	go func() { done <- l.claimDecoded(context.Background(), held) }()
	select {
	case <-done:
		t.Error("more than decodedBytes")
	case <-time.After(50 * time.Millisecond):
	}
	first.Release()
	(<-done).Release()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	l.claimDecoded(over, held).Release() // returns
}
