// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

// numbered is recorded, of a project, with a number as the profile ID.
func numbered(project string, n byte) pprofile.Profiles {
	p := recordedIn(project)
	dictionarytest.FirstProfile(p).SetProfileID(pprofile.ProfileID{n, 15: 1})
	return p
}

// numbersIn gives the numbers of the profiles of a message.
func numbersIn(p pprofile.Profiles) (numbers []byte) {
	for _, resource := range p.ResourceProfiles().All() {
		for _, scope := range resource.ScopeProfiles().All() {
			for _, profile := range scope.Profiles().All() {
				numbers = append(numbers, profile.ProfileID()[0])
			}
		}
	}
	return numbers
}

func (h *harness) numbers() (numbers []byte) {
	for _, p := range h.sink.AllProfiles() {
		numbers = append(numbers, numbersIn(p)...)
	}
	return numbers
}

// sizeOf is the size of what [numbered] makes.
func sizeOf(p pprofile.Profiles) int { return (&pprofile.ProtoMarshaler{}).ProfilesSize(p) }

// Messages of a tenant become one, with their links, after the timeout and the wait; transforms see
// the batch.
func TestBatchWithLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "{link: {wait: 50ms}, batch: {timeout: 200ms}, transforms: [{split: {max_samples: 1}}]}")
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
		for n := range byte(3) {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("42", n)))
		}
		h.received(6) // two observations each
		synctest.Wait()
		require.NoError(t, h.profiles.Shutdown(t.Context()))
		assert.Equal(t, map[string]int64{"how=covered": 3}, h.counts("linked_observations"))
		assert.Equal(t, map[string]int64{"released=due": 3}, h.counts("wait_time"))
		assert.Equal(t, map[string]int64{"": 0}, h.counts("held_messages"))
		assert.Equal(t, map[string]int64{"": 0}, h.counts("held_bytes"))
	})
}

// Tenants, metadata and authentication separate batches; the next component sees the sender's.
func TestBatchBySender(t *testing.T) {
	h := start(t, "{link: {enabled: false}, batch: {timeout: 1h}}")
	senders := []client.Info{
		{},
		{Metadata: client.NewMetadata(map[string][]string{"x-scope-orgid": {"a"}})},
		{Metadata: client.NewMetadata(map[string][]string{"x-scope-orgid": {"b"}})},
		{Auth: auth{"raw": "secret"}},
		client.FromContext(as(t.Context(), project42)),
		client.FromContext(as(t.Context(), tenant.Tenant{Ingress: tenant.Measure, Name: "42"})),
	}
	for range 2 {
		for n, sender := range senders {
			ctx := client.NewContext(t.Context(), sender)
			require.NoError(t, h.profiles.ConsumeProfiles(ctx, numbered("1", byte(n))))
			require.NoError(t, h.profiles.ConsumeProfiles(ctx, numbered("2", byte(n))))
		}
	}
	assert.Equal(t, map[string]int64{"": 24}, h.counts("held_messages"))
	require.NoError(t, h.profiles.Shutdown(t.Context()))
	for i, p := range h.received(12) {
		numbers := numbersIn(p)
		require.Len(t, numbers, 2)
		require.Equal(t, numbers[0], numbers[1])
		require.Equal(t, 1, p.ResourceProfiles().Len())
		info := client.FromContext(h.sink.contexts[i])
		require.Equal(t, senders[numbers[0]].Metadata.Get("x-scope-orgid"), info.Metadata.Get("X-Scope-OrgID"))
		require.Equal(t, senders[numbers[0]].Auth, info.Auth)
	}
	assert.Equal(t, map[string]int64{"outcome=sent": 24}, h.counts("outgoing_profiles"))
}

// With metadata keys, only these separate batches, and only these are forwarded.
func TestBatchMetadataKeys(t *testing.T) {
	h := start(t, "{link: {enabled: false}, batch: {timeout: 1h, metadata_keys: [X-Scope-OrgID]}}")
	for n := range byte(4) {
		sender := client.Info{Metadata: client.NewMetadata(map[string][]string{"x-scope-orgid": {fmt.Sprint(n % 2)}, "traceparent": {fmt.Sprint(n)}})}
		require.NoError(t, h.profiles.ConsumeProfiles(client.NewContext(t.Context(), sender), numbered("1", n)))
	}
	require.NoError(t, h.profiles.Shutdown(t.Context()))
	for i, p := range h.received(2) {
		metadata := client.FromContext(h.sink.contexts[i]).Metadata
		require.Equal(t, []string{fmt.Sprint(numbersIn(p)[0] % 2)}, metadata.Get("x-scope-orgid"))
		require.Empty(t, metadata.Get("traceparent"))
	}
}

type auth map[string]any

func (a auth) GetAttribute(name string) any { return a[name] }
func (a auth) GetAttributeNames() (names []string) {
	for name := range a {
		names = append(names, name)
	}
	return names
}

// A full batch does not wait for its timeout, and a message that alone is too large goes alone.
func TestBatchFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := sizeOf(numbered("1", 1))
		h := start(t, fmt.Sprintf("{link: {enabled: false}, batch: {timeout: 1h, max_bytes: %d}}", 2*one+1))
		for n := byte(1); n <= 5; n++ {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("1", n)))
		}
		large := numbered("1", 6)
		large.ResourceProfiles().At(0).Resource().Attributes().PutStr("long", string(make([]byte, 2*one)))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), large))
		received := h.received(4)
		synctest.Wait()
		require.NoError(t, h.profiles.Shutdown(t.Context()))
		var batches [][]byte
		for _, p := range received {
			batches = append(batches, numbersIn(p))
		}
		assert.ElementsMatch(t, [][]byte{{1, 2}, {3, 4}, {5}, {6}}, batches)
		assert.Equal(t, map[string]int64{"released=due": 6}, h.counts("wait_time"))
	})
}

// A poisonous profile, refused for good or for now, costs neither the others of its batch nor those
// of another tenant.
func TestBatchWithPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, permanent := range []bool{true, false} {
			h := start(t, "{link: {enabled: false}, batch: {timeout: 100ms}, retry_on_failure: {max_elapsed_time: 1ms}}")
			h.sink.permanent = permanent
			h.sink.refuseOnly(func(p pprofile.Profiles) bool {
				for _, n := range numbersIn(p) {
					if n == 5 {
						return true
					}
				}
				return false
			})
			for n := range byte(10) {
				require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("1", n)))
			}
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("2", 99)))
			want := map[string]int64{"outcome=sent": 10, "outcome=refused": 1}
			if !permanent {
				want = map[string]int64{"outcome=sent": 10, "outcome=expired": 1}
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			assert.Equal(t, want, h.counts("outgoing_profiles"))
			assert.Equal(t, map[string]int64{"": 0}, h.counts("held_messages"))
			assert.ElementsMatch(t, []byte{0, 1, 2, 3, 4, 6, 7, 8, 9, 99}, h.numbers())
			for _, p := range h.sink.AllProfiles() {
				dictionarytest.MustBeValid(t, p)
			}
			require.NoError(t, h.profiles.Shutdown(t.Context()))
		}
	})
}

// In an outage, batches stay as they are.
func TestBatchInOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, "{link: {enabled: false}, batch: {timeout: 50ms}, storage: memory}")
		h.sink.answer(errors.New("down"))
		for n := range byte(5) {
			require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("1", n)))
		}
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 1, h.logs.FilterMessageSnippet("are retried").Len())
		synctest.Wait()
		assert.Len(t, h.store.crash().values, 6, "all are stored until the batch is accepted")
		h.sink.answer(nil)
		assert.Len(t, numbersIn(h.received(1)[0]), 5)
		require.NoError(t, h.profiles.Shutdown(t.Context()))
		synctest.Wait()
		assert.Len(t, h.store.crash().values, 1, "the range")
	})
}

// What was in a batch at a crash is in a batch again.
func TestBatchOutlivesACrash(t *testing.T) {
	const config = "{link: {enabled: false}, batch: {timeout: 1h}, storage: memory}"
	h := start(t, config)
	ctx := client.NewContext(t.Context(), client.Info{Metadata: client.NewMetadata(map[string][]string{"tenant": {"a"}})})
	for n := range byte(5) {
		require.NoError(t, h.profiles.ConsumeProfiles(ctx, numbered("1", n)))
	}
	again := startWith(t, config, h.store.crash())
	require.NoError(t, again.profiles.ConsumeProfiles(ctx, numbered("1", 5)))
	require.NoError(t, again.profiles.Shutdown(t.Context()))
	assert.Equal(t, []byte{0, 1, 2, 3, 4, 5}, numbersIn(again.received(1)[0]))
	assert.Equal(t, []string{"a"}, client.FromContext(again.sink.contexts[0]).Metadata.Get("tenant"))
	assert.Equal(t, map[string]int64{"": 5}, again.counts("restored_profiles"))
}

// When the queue is full, the batch of the largest tenant is released, not a single message of it.
func TestBatchWhenFull(t *testing.T) {
	h := start(t, "{link: {enabled: false, max_held_profiles: 4}, batch: {timeout: 1h}}")
	for n := range byte(4) {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("1", n)))
	}
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("2", 4)))
	assert.Equal(t, []byte{0, 1, 2, 3}, numbersIn(h.received(1)[0]))
	assert.Equal(t, map[string]int64{"released=full": 4}, h.counts("wait_time"))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("1", 5)))
	require.NoError(t, h.profiles.Shutdown(t.Context()))
	h.received(3)
}

// A tenant that loses its oldest message to another one keeps the rest of its batch.
func TestBatchEvicted(t *testing.T) {
	h := start(t, "{link: {enabled: false, max_held_profiles: 4}, batch: {timeout: 1h}}")
	h.sink.answer(errors.New("down"))
	for n := range byte(4) {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("1", n)))
	}
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("2", 9)))
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), numbered("3", 10)))
	h.sink.answer(nil)
	require.NoError(t, h.profiles.Shutdown(t.Context()))
	lost := h.counts("outgoing_profiles")["outcome=evicted"]
	assert.Len(t, h.numbers(), 6-int(lost))
	h.balanced()
}
