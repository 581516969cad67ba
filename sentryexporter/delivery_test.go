// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/config/configoptional"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpclient"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// numberOf is the number of a handmade envelope.
func numberOf(r *fakesentry.Request) int {
	if list := numbers([]*sentry.Envelope{r.Envelope}); len(list) == 1 {
		return list[0]
	}
	return -1
}

// between is a list of numbers.
func between(first, last int) (list []int) {
	for n := first; n <= last; n++ {
		list = append(list, n)
	}
	return list
}

// refuseAlways answers what is numbered below a hundred with trouble, and takes all else.
func refuseAlways(trouble fakesentry.Answer) func(*fakesentry.Request) fakesentry.Answer {
	return func(r *fakesentry.Request) fakesentry.Answer {
		if n := numberOf(r); n >= 0 && n < 100 {
			return trouble
		}
		return fakesentry.Answer{}
	}
}

// TestConsumersKeepConnections: each of the ten consumers keeps its connection.
func TestConsumersKeepConnections(t *testing.T) {
	h := startAt(t, fakesentry.Start(t), nil)
	h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Delay: time.Millisecond} })
	for n := range 300 {
		require.NoError(t, h.send(backendChunk(n)))
	}
	h.eventuallyTaken(between(0, 299)...)
	connections := map[string]bool{}
	for _, r := range h.sentry.Requests() {
		connections[r.Client] = true
	}
	require.LessOrEqual(t, len(connections), 12, "a dial that another connection overtakes is also kept")
}

// TestRefusedMessagesDelayNoOther: ten envelopes of one kind, which is as many as there are
// consumers by default, always fail. The others arrive long before one of those is sent again.
func TestRefusedMessagesDelayNoOther(t *testing.T) {
	for name, trouble := range map[string]fakesentry.Answer{
		"server error":            {Status: 500},
		"unavailable for an hour": {Status: 503, Header: map[string]string{"Retry-After": "3600"}},
		"reset":                   {Reset: true},
		"timeout":                 {Delay: 2 * time.Second, Status: 500},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, func(cfg *Config) {
					cfg.Retry.InitialInterval = time.Minute
					if trouble.Delay > 0 {
						cfg.HTTP.Timeout = trouble.Delay / 2
					}
				})
				h.sentry.Answer(refuseAlways(trouble))
				for n := range 10 {
					require.NoError(t, h.send(backendChunk(n)))
				}
				for n := range 50 {
					require.NoError(t, h.send(backendChunk(100+n)))
				}
				begin := time.Now()
				h.eventuallyTaken(between(100, 149)...)
				assert.Less(t, time.Since(begin), 5*time.Second)
			})
		})
	}
}

// TestRefusedMessagesEnd: what always fails while others are accepted is dropped and counted, after
// as many attempts as are configured.
func TestRefusedMessagesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, func(cfg *Config) { cfg.MaxAttempts = 4 })
		h.sentry.Answer(refuseAlways(fakesentry.Answer{Status: 500}))
		require.NoError(t, h.send(backendChunk(1)))
		time.Sleep(time.Second)
		require.Greater(t, len(h.sentry.Requests()), 20)
		assert.Empty(t, h.counts("otelcol_exporter_sentry_envelope_items")["outcome=refused reason=retries_exhausted type=profile_chunk"],
			"Sentry accepts nothing else: it is down")
		for n := 100; len(h.dropped()) == 0; n++ {
			require.NoError(t, h.send(backendChunk(n)))
			time.Sleep(time.Millisecond)
			require.Less(t, n, 1000)
		}
		assert.Equal(t, int64(1), h.counts("otelcol_exporter_sentry_envelope_items")["outcome=refused reason=retries_exhausted type=profile_chunk"])
	})
}

// dropped are the lines of the log about envelopes that were dropped.
func (h *harness) dropped() (reasons []string) {
	for _, line := range h.logs.FilterMessage("Envelope dropped").All() {
		reasons = append(reasons, fmt.Sprint(line.ContextMap()["reason"]))
	}
	return reasons
}

// TestMoreRefusedMessagesThanPlaces: so many always fail, and come first, that they occupy every
// place to wait in. An empty envelope tells that Sentry is up, and they make room for the others.
func TestMoreRefusedMessagesThanPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, func(cfg *Config) {
			cfg.Queue.Get().NumConsumers = 2
			cfg.Retry.InitialInterval = time.Hour
		})
		h.sentry.Answer(refuseAlways(fakesentry.Answer{Status: 503, Header: map[string]string{"Retry-After": "3600"}}))
		for n := range 2 + maxWaiting + 3 {
			require.NoError(t, h.send(backendChunk(n)))
		}
		require.NoError(t, h.send(backendChunk(100)))
		time.Sleep(30 * time.Second)
		assert.Equal(t, []int{100}, h.taken())
	})
}

// TestSendersThatLeave: a request whose sender waits for the result, and leaves, no longer counts
// as one that waits for a retry.
func TestSendersThatLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, func(cfg *Config) {
			cfg.Queue.Get().WaitForResult = true
			cfg.Retry.InitialInterval, cfg.Retry.MaxInterval = time.Hour, time.Hour
		})
		h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 500} })
		ctx, leave := context.WithCancel(t.Context())
		q := h.started.queues[0]
		for n := range 10 {
			go func() {
				_ = q.helper.Send(ctx, &request{Version: requestVersion, Count: 1, Envelopes: []envelope{backendChunk(n)}})
			}()
		}
		synctest.Wait()
		assert.EqualValues(t, 10, q.waiting.Load())
		leave()
		synctest.Wait()
		assert.Zero(t, q.waiting.Load())
	})
}

// TestRequestOfSeveralEnvelopes: after a failure, those before it are not sent again, and that one
// of them was dropped is still reported.
func TestRequestOfSeveralEnvelopes(t *testing.T) {
	h := start(t, withoutQueue)
	h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: []int{200, 400, 500, 503, 200}[min(r.Number, 5)-1]}
	})
	err := h.started.queues[0].helper.Send(t.Context(), &request{Count: 4, Envelopes: []envelope{
		backendChunk(1), backendChunk(2), backendChunk(3), backendChunk(4),
	}})
	assert.ErrorContains(t, err, "response 400")
	assert.True(t, collector.IsPermanent(err))
	assert.Equal(t, []int{1, 3, 4}, h.taken())
	assert.Len(t, h.sentry.Requests(), 6)
}

// TestOutageLosesNothing: while Sentry accepts nothing, also not an empty envelope, nothing is
// dropped, however many wait.
func TestOutageLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, func(cfg *Config) { cfg.Queue.Get().NumConsumers = 2; cfg.MaxAttempts = 2 })
		h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 502} })
		for n := range 2 * maxWaiting {
			require.NoError(t, h.send(backendChunk(n)))
		}
		time.Sleep(100 * time.Millisecond)
		require.Greater(t, len(h.sentry.Requests()), 300)
		h.sentry.Answer(nil)
		h.eventuallyTaken(between(0, 2*maxWaiting-1)...)
	})
}

// TestLimitDelaysNoOtherCategory: more envelopes than there are consumers wait for a limit of an
// hour, in each category.
func TestLimitDelaysNoOtherCategory(t *testing.T) {
	kinds := map[string]func(int) envelope{
		"profile_chunk": backendChunk, "profile_chunk_ui": uiChunk, "transaction": transaction, "span": spanContainer,
	}
	for limited, make := range kinds {
		t.Run(limited, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, func(cfg *Config) { cfg.Queue.Get().NumConsumers = 1 })
				h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer {
					return fakesentry.Answer{Header: map[string]string{"X-Sentry-Rate-Limits": "3600:" + limited + ":project:quota"}}
				})
				require.NoError(t, h.send(make(0)))
				h.eventuallyTaken(0)
				for n := range 2 * maxWaiting {
					require.NoError(t, h.send(make(n)))
				}
				want := []int{0}
				for other, make := range kinds {
					if other != limited {
						want = append(want, 1000+len(want))
						require.NoError(t, h.send(make(want[len(want)-1])))
					}
				}
				h.eventuallyTaken(want...)
			})
		})
	}
}

// TestRetryAfterOfServerErrors: it is obeyed, also for a message of several envelopes.
func TestRetryAfterOfServerErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, withoutQueue)
		h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
			if r.Number == 1 {
				return fakesentry.Answer{Status: 503, Header: map[string]string{"Retry-After": "1"}}
			}
			return fakesentry.Answer{}
		})
		begin := time.Now()
		require.NoError(t, h.send(backendChunk(1), backendChunk(2)))
		assert.Equal(t, []int{1, 2}, h.taken())
		for _, r := range h.sentry.Requests()[1:] {
			assert.GreaterOrEqual(t, r.At.Sub(begin), time.Second)
		}
	})
}

// TestLimitOfOtherCategoriesEnds: a 429 that limits only what the envelope is not says nothing
// about when to send it.
func TestLimitOfOtherCategoriesEnds(t *testing.T) {
	h := start(t, func(cfg *Config) { withoutQueue(cfg); cfg.MaxAttempts = 3 })
	h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: 429, Header: map[string]string{"X-Sentry-Rate-Limits": "3600:error;profile_chunk_ui:organization:quota"}}
	})
	require.NoError(t, h.send(backendChunk(1)), "dropped and counted")
	assert.Len(t, h.sentry.Requests(), 3)
	assert.Equal(t, map[string]int64{
		"outcome=deferred reason=rate_limited type=profile_chunk": 3, "outcome=refused reason=retries_exhausted type=profile_chunk": 1,
	}, h.counts("otelcol_exporter_sentry_envelope_items"))
}

// TestMaxElapsedTime bounds the age of everything, also without other envelopes.
func TestMaxElapsedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, func(cfg *Config) { withoutQueue(cfg); cfg.Retry.MaxElapsedTime = time.Second })
		h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer { return fakesentry.Answer{Status: 500} })
		require.NoError(t, h.send(backendChunk(1)), "dropped and counted")
		assert.Greater(t, len(h.sentry.Requests()), 1)
	})
}

// TestTooLargeChunksAreHalved: until the server accepts the parts, each of which ingest accepts,
// with an id of its own and the same ones each time.
func TestTooLargeChunksAreHalved(t *testing.T) {
	profiles := someProfile("samples", "count")
	times := profiles.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0).TimestampsUnixNano()
	for n := range uint64(200) {
		times.Append(1_700_000_001_000_000_000 + n*10_000_000)
	}
	run := func(atMost int) (chunks []*sentry.Envelope, samples int) {
		e := startBoth(t, withoutQueue)
		e.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
			if len(r.Envelope.Items[0].Payload) > atMost {
				return fakesentry.Answer{Status: http.StatusRequestEntityTooLarge}
			}
			return fakesentry.Answer{}
		})
		require.NoError(t, e.profiles(profiles))
		counts := e.counts("otelcol_exporter_sentry_envelope_items")
		assert.Zero(t, counts["outcome=refused reason=too_large type=profile_chunk"])
		for _, chunk := range e.sentry.Taken() {
			assert.Empty(t, fakesentry.Verdict(chunk))
			d := profile.AcquireDecoder()
			decoded, err := d.Chunk(chunk.Items[0].Payload)
			require.NoError(t, err)
			samples += decoded.Samples.Len()
			d.Release()
		}
		return e.sentry.Taken(), samples
	}
	whole, samples := run(1 << 20)
	require.Len(t, whole, 1)
	parts, ofParts := run(5000)
	assert.Len(t, parts, 4)
	assert.GreaterOrEqual(t, ofParts, samples)
	assert.LessOrEqual(t, ofParts, samples+4, "each may have a sample that closes it")
	ids := map[string]bool{}
	for id := range chunkIDs(t, slices.Concat(whole, parts)) {
		ids[id] = true
	}
	assert.Len(t, ids, 5)
	again, _ := run(5000)
	assert.Equal(t, chunkIDs(t, parts), chunkIDs(t, again))
}

func chunkIDs(t *testing.T, envelopes []*sentry.Envelope) map[string]bool {
	ids := map[string]bool{}
	d := profile.AcquireDecoder()
	defer d.Release()
	for _, e := range envelopes {
		chunk, err := d.Chunk(e.Items[0].Payload)
		require.NoError(t, err)
		ids[chunk.ChunkID] = true
	}
	return ids
}

// TestHalvingEnds: a server that takes no chunk at all does not get one for each sample.
func TestHalvingEnds(t *testing.T) {
	e := startBoth(t, withoutQueue)
	e.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer {
		return fakesentry.Answer{Status: http.StatusRequestEntityTooLarge}
	})
	profiles := someProfile("samples", "count")
	times := profiles.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0).TimestampsUnixNano()
	for n := range uint64(1000) {
		times.Append(1_700_000_001_000_000_000 + n*10_000_000)
	}
	require.NoError(t, e.profiles(profiles), "dropped and counted")
	assert.Len(t, e.sentry.Requests(), 1<<(maxHalvings+1)-1)
	counts := e.counts("otelcol_exporter_sentry_envelope_items")
	assert.Equal(t, int64(1<<maxHalvings), counts["outcome=refused reason=too_large type=profile_chunk"])
	assert.Equal(t, int64(1<<maxHalvings-1), counts["outcome=deferred reason=too_large type=profile_chunk"])
}

// TestNeverFits: an item that exceeds the limit of its queue is dropped and counted. An error would
// make the receiver respond that everything was dropped, whatever other exporters accepted.
func TestNeverFits(t *testing.T) {
	e := startBoth(t, func(cfg *Config) {
		queue := *cfg.Queue.Get()
		queue.QueueSize = minQueueBytes
		cfg.Queue = configoptional.Some(queue)
	})
	traces := someSpan()
	traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutStr("long", string(make([]byte, minQueueBytes/queuedItems)))
	require.NoError(t, e.traces(traces))
	assert.Equal(t, 1, e.harness.logs.FilterMessageSnippet("131072 bytes").Len(), "the limit")
	assert.Equal(t, map[string]int64{"reason=item_too_large": 1}, e.counts("otelcol_exporter_sentry_envelope_spans_discarded"))
}

// TestHeadersOfAnswersAreBounded: an answer with more of them than anybody needs is no answer.
func TestHeadersOfAnswersAreBounded(t *testing.T) {
	for _, kibibytes := range []int{32, 128} {
		h := start(t, withoutRetry)
		h.sentry.Answer(func(*fakesentry.Request) fakesentry.Answer {
			return fakesentry.Answer{Header: map[string]string{"X-Sentry-Rate-Limits": strings.Repeat("1:error:key,", kibibytes<<10/12)}}
		})
		err := h.send(backendChunk(1))
		if kibibytes<<10 > httpclient.MaxAnswerHeaders {
			require.ErrorContains(t, err, "exceeded")
		} else {
			require.NoError(t, err)
		}
	}
}

// TestStatus: that Sentry does not accept the key is told once, and so is that it does again.
func TestStatus(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden} {
		h := start(t, withoutQueue)
		h.sentry.Answer(func(r *fakesentry.Request) fakesentry.Answer {
			return fakesentry.Answer{Status: []int{200, status, status, 400, 200, 200}[r.Number-1]}
		})
		for n := range 6 {
			_ = h.send(backendChunk(n)) // an error where it is refused
		}
		close(h.events)
		var statuses []componentstatus.Status
		for event := range h.events {
			statuses = append(statuses, event.Status())
		}
		assert.Equal(t, []componentstatus.Status{componentstatus.StatusRecoverableError, componentstatus.StatusOK}, statuses)
	}
}
