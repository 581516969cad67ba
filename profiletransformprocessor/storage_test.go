// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
)

const stored = patient + "\nstorage: memory"

// has waits until the storage has a number of values.
func (m *memoryStorage) has(t *testing.T, values int) {
	t.Helper()
	require.Eventually(t, func() bool { return len(m.crash().values) == values }, 30*time.Second, time.Millisecond, "%d values", values)
}

// crash copies what a crash would leave behind.
func (m *memoryStorage) crash() *memoryStorage {
	m.mu.Lock()
	defer m.mu.Unlock()
	left := newMemoryStorage()
	for key, value := range m.values {
		left.values[key] = value
	}
	return left
}

// What waited when the collector crashed waits again, with who sent it; what had been handed on
// does not come again.
func TestStorageOutlivesACrash(t *testing.T) {
	before := start(t, stored+"\n")
	ctx := client.NewContext(t.Context(), client.Info{Metadata: client.NewMetadata(map[string][]string{"X-Tenant": {"shop"}})})
	for range 4 {
		require.NoError(t, before.profiles.ConsumeProfiles(ctx, recorded()))
	}
	p := before.profiles.(*profilesProcessor)
	for range 2 {
		p.release(p.queue.popAny(ctx), releasedDue)
	}
	before.balanced()
	before.store.has(t, 1+2)
	left := before.store.crash()

	after := startWith(t, stored, left)
	assert.Equal(t, map[string]int64{"": 2}, after.counts("held_messages"))
	require.NoError(t, after.profiles.ConsumeProfiles(ctx, recorded()), "new ones do not overwrite the old")
	require.NoError(t, after.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	require.NoError(t, after.profiles.Shutdown(context.Background()))
	for i, p := range after.received(3) {
		dictionarytest.MustBeValid(t, p)
		assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(p))
		project, _ := p.ResourceProfiles().At(0).Resource().Attributes().Get("sentry.project_id")
		assert.Equal(t, "42", project.AsString())
		assert.Equal(t, []string{"shop"}, client.FromContext(after.sink.contexts[i]).Metadata.Get("x-tenant"))
	}
	assert.Equal(t, map[string]int64{"": 2}, after.counts("restored_profiles"))
	after.balanced()
	assert.Len(t, left.values, 1, "the range")
	assert.Zero(t, left.open)

	last := startWith(t, stored, left)
	assert.Empty(t, last.counts("held_messages"), "nothing waited")
}

// Without time to hand on what waits, the next start does.
func TestStorageOutlivesAShutdownWithoutTime(t *testing.T) {
	h := start(t, stored)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	over, cancel := context.WithCancel(context.Background())
	cancel()
	require.NoError(t, h.profiles.Shutdown(over))
	assert.Equal(t, map[string]int64{"outcome=stored": 1}, h.counts("outgoing_profiles"))
	h.balanced()
	next := startWith(t, stored, h.store.crash())
	assert.Equal(t, map[string]int64{"": 1}, next.counts("held_messages"))
	next.balanced()
}

// What cannot be stored does not wait, and its sender hears what the next consumer says.
func TestStorageThatFails(t *testing.T) {
	h := start(t, stored)
	require.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request)))
	h.store.fails(true)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	assert.Equal(t, map[uint64]byte{1500: 1, 2500: 0}, linksOf(h.received(1)[0]))
	h.sink.refuse = errors.New("sending queue is full")
	assert.ErrorContains(t, h.profiles.ConsumeProfiles(t.Context(), recorded()), "full")
	assert.Equal(t, map[string]int64{"": 2}, h.counts("storage_errors"))
	assert.Equal(t, map[string]int64{"outcome=sent": 1, "outcome=refused": 1}, h.counts("outgoing_profiles"))
	assert.Empty(t, h.counts("held_messages"))
	h.balanced()

	h.store.fails(false)
	require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	assert.Equal(t, map[string]int64{"": 1}, h.counts("held_messages"))
}

// TestStorageThatHangs: senders wait for a disk that does not respond, but not for ever. Their
// messages are forwarded at once, or refused so that they can be sent again; none is held. Nor does
// a shutdown wait.
func TestStorageThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, stored)
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		h.store.slow(time.Hour)
		send := func(check func(error)) {
			var sending sync.WaitGroup
			for range 10 {
				sending.Go(func() {
					begin := time.Now()
					check(h.profiles.ConsumeProfiles(t.Context(), recorded()))
					assert.Equal(t, maxStoreWait, time.Since(begin))
				})
			}
			sending.Wait()
		}
		send(func(err error) { assert.NoError(t, err) })
		h.received(10)
		h.sink.answer(errors.New("sending queue is full"))
		send(func(err error) {
			assert.ErrorContains(t, err, "full")
			assert.False(t, consumererror.IsPermanent(err))
		})
		assert.Equal(t, map[string]int64{"": 20}, h.counts("storage_errors"))
		assert.Equal(t, map[string]int64{"": 1}, h.counts("held_messages"), "the one before")
		h.sink.answer(nil)
		begin := time.Now()
		assert.ErrorIs(t, h.profiles.Shutdown(t.Context()), journal.ErrSlow)
		assert.LessOrEqual(t, time.Since(begin), 2*shutdownSendTimeout)
		h.received(11)
		h.balanced()
		time.Sleep(100 * time.Hour)
	})
}

func TestStorageWithBrokenContent(t *testing.T) {
	h := start(t, stored)
	for range 4 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	}
	left := h.store.crash()
	left.values["1"] = collector.AppendChecksum([]byte{3, 0, 0, 0, 1, '{'})
	left.values["2"] = collector.AppendChecksum(append([]byte{3, 0, 0, 0, 2, '{', '}'}, "no protobuf"...))
	left.values["3"] = bytes.Clone(left.values["3"])
	left.values["3"][len(left.values["3"])/2] ^= 1
	after := startWith(t, stored, left)
	assert.Equal(t, map[string]int64{"": 1}, after.counts("held_messages"))
	assert.Equal(t, map[string]int64{"": 3}, after.counts("storage_errors"))
	left.has(t, 1+1)
	assert.Equal(t, 3, after.logs.FilterMessageSnippet("Cannot read profiles").Len())
}

// What an earlier configuration stored is delivered when nothing is linked any more, and new
// profiles do not wait.
func TestStorageWithoutLinking(t *testing.T) {
	h := start(t, stored)
	for range 2 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	}
	left := h.store.crash()
	for range 2 { // the second start finds nothing
		after := startWith(t, "link: {enabled: false}\nstorage: memory", left)
		require.NoError(t, after.profiles.ConsumeProfiles(t.Context(), recorded()))
		assert.Len(t, after.received(1+int(after.counts("restored_profiles")[""])), 1+int(after.counts("restored_profiles")[""]))
		assert.Empty(t, after.counts("linked_observations"))
		require.NoError(t, after.profiles.Shutdown(context.Background()))
		assert.Len(t, left.values, 1, "the range")
		after.balanced()
	}
}

// What cannot be read for the moment is there for the next start: it is neither deleted nor
// replaced.
func TestStorageThatCannotBeRead(t *testing.T) {
	h := start(t, stored)
	for range 2 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	}
	left := h.store.crash()
	left.unread = "1"
	after := startWith(t, stored, left)
	assert.Equal(t, map[string]int64{"": 1}, after.counts("held_messages"))
	assert.Equal(t, map[string]int64{"": 1}, after.counts("storage_errors"))
	require.NoError(t, after.profiles.ConsumeProfiles(t.Context(), recorded()))
	last := after.store.crash()
	assert.Equal(t, map[string]int64{"": 3}, startWith(t, stored, last).counts("held_messages"))
}

// A range of other numbers would have it look for messages for years.
func TestStorageWithoutRange(t *testing.T) {
	for _, broken := range [][]byte{{}, []byte("short"), collector.AppendChecksum([]byte("short")), append(bytes.Repeat([]byte{0xf}, 16), 0, 0, 0, 0)} {
		left := newMemoryStorage()
		left.values["range"] = broken
		h := startWith(t, stored, left)
		assert.Equal(t, map[string]int64{"": 1}, h.counts("storage_errors"))
	}
}

func TestStorageThatDoesNotOpen(t *testing.T) {
	for config, want := range map[string]string{
		"storage: disk":   `storage: "disk"`,
		"storage: other":  `storage: "other"`,
		"storage: memory": `bad sector`,
	} {
		cfg, err := load(t, config)
		require.NoError(t, err)
		h := &harness{metrics: componenttest.NewTelemetry(), store: newMemoryStorage()}
		h.store.unread = "range"
		profiles, err := createProfiles(t.Context(), h.settings(), cfg, consumertest.NewNop())
		require.NoError(t, err)
		traces, err := NewFactory().CreateTraces(t.Context(), h.settings(), cfg, consumertest.NewNop())
		require.NoError(t, err)
		extensions := h.host().(host)
		extensions.extensions[component.MustNewID("other")] = traces
		assert.ErrorContains(t, profiles.Start(t.Context(), extensions), want)
		require.NoError(t, profiles.Shutdown(t.Context()))
		require.NoError(t, traces.Shutdown(t.Context()))
		require.NoError(t, h.metrics.Shutdown(t.Context()))
	}
}

// Which pipeline a stored profile was in is not known, so there may be only one.
func TestStorageOfTwoPipelines(t *testing.T) {
	cfg, err := load(t, stored)
	require.NoError(t, err)
	h := start(t, "")
	var all []component.Component
	for range 2 {
		profiles, err := createProfiles(t.Context(), h.settings(), cfg, consumertest.NewNop())
		require.NoError(t, err)
		all = append(all, profiles)
	}
	traces, err := NewFactory().CreateTraces(t.Context(), h.settings(), cfg, consumertest.NewNop())
	require.NoError(t, err)
	all = append(all, traces)
	assert.ErrorContains(t, all[0].Start(t.Context(), h.host()), "storage: cannot be shared")
	for _, c := range all {
		require.NoError(t, c.Shutdown(t.Context()))
	}
}

// FuzzHeld: whatever a storage gives back, it is refused or is a message that can be stored again
// as it is.
func FuzzHeld(f *testing.F) {
	h := &heldMessage{parts: []pprofile.Profiles{recorded()}}
	h.client.Metadata = client.NewMetadata(map[string][]string{"X-Tenant": {"shop", ""}})
	record, err := recordOf(h)
	require.NoError(f, err)
	size := binary.BigEndian.AppendUint32(nil, uint32(len(record.Head)))
	f.Add(slices.Concat(size, record.Head, record.Body))
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) < 4 || uint64(binary.BigEndian.Uint32(text)) > uint64(len(text)-4) {
			return
		}
		end := 4 + binary.BigEndian.Uint32(text)
		first, err := restoredOf(journal.Record{Head: text[4:end], Body: text[end:]})
		if err != nil {
			return
		}
		again, err := recordOf(first)
		require.NoError(t, err)
		second, err := restoredOf(again)
		require.NoError(t, err)
		require.Empty(t, dictionarytest.Diff(first.parts[0], second.parts[0]))
		last, err := recordOf(second)
		require.NoError(t, err)
		require.Equal(t, again, last)
	})
}

// TestEncodingDoesNotCopy: a stored message stays as it is, and its samples and dictionary are not
// copied. A copy of a million samples and threads ended a collector with 1 GiB.
func TestEncodingDoesNotCopy(t *testing.T) {
	const n = 20_000
	p := pprofile.NewProfiles()
	p.Dictionary().StringTable().Append("", "a")
	for i := range 3 {
		resource := p.ResourceProfiles().AppendEmpty()
		resource.SetSchemaUrl("schema")
		resource.Resource().Attributes().PutStr("service.name", fmt.Sprint("shop ", i))
		scope := resource.ScopeProfiles().AppendEmpty()
		scope.Scope().SetName("scope")
		scope.Scope().Attributes().PutStr("key", "text of a scope")
		profile := scope.Profiles().AppendEmpty()
		for range n {
			profile.Samples().AppendEmpty().TimestampsUnixNano().Append(1)
			p.Dictionary().AttributeTable().AppendEmpty().Value().SetInt(1)
		}
	}
	before := pprofile.NewProfiles()
	p.CopyTo(before)
	h := &heldMessage{parts: []pprofile.Profiles{p}}
	record, err := recordOf(h)
	require.NoError(t, err)
	assert.Equal(t, before, p)
	decoded, err := restoredOf(record)
	require.NoError(t, err)
	assert.Equal(t, 3*n, decoded.parts[0].ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().Len()*3)
	assert.Equal(t, "shop 2", decoded.parts[0].ResourceProfiles().At(2).Resource().Attributes().AsRaw()["service.name"])
	assert.Less(t, testing.AllocsPerRun(1, func() { _, _ = recordOf(h) }), 1000.0, "none for a sample or attribute")
}

// TestEarlierStorage: what a build of November 2026 stored before it was killed is read, with its
// sender, and rewritten in the current format.
func TestEarlierStorage(t *testing.T) {
	left := newMemoryStorage()
	left.values = journaltest.Read(t, "testdata/stored.txt")
	h := startWith(t, stored, left)
	assert.Equal(t, map[string]int64{"": 1}, h.counts("held_messages"))
	require.Eventually(t, func() bool { return h.store.crash().values["1"][0] == 3 }, 30*time.Second, time.Millisecond)
	require.NoError(t, h.profiles.Shutdown(context.Background()))
	dictionarytest.MustBeValid(t, h.received(1)[0])
	assert.Equal(t, tenant.Tenant{Ingress: tenant.Sentry, Name: "42"}, tenant.FromContext(h.sink.contexts[0]))
	assert.Empty(t, h.counts("storage_errors"))
}
