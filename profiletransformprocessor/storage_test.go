// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

const stored = patient + "\nstorage: memory"

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

func TestStorageWithBrokenContent(t *testing.T) {
	h := start(t, stored)
	for range 4 {
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
	}
	left := h.store.crash()
	left.values["1"] = collector.AppendChecksum([]byte{0, 0, 0, 99})
	left.values["2"] = collector.AppendChecksum(append([]byte{0, 0, 0, 2, '{', '}'}, "no protobuf"...))
	left.values["3"] = bytes.Clone(left.values["3"])
	left.values["3"][len(left.values["3"])/2] ^= 1
	after := startWith(t, stored, left)
	assert.Equal(t, map[string]int64{"": 1}, after.counts("held_messages"))
	assert.Equal(t, map[string]int64{"": 3}, after.counts("storage_errors"))
	assert.NotContains(t, left.values, "1")
	assert.Equal(t, 3, after.logs.FilterMessageSnippet("Cannot read profiles").Len())
}

// What earlier versions stored is read, as that of a sender without credentials; what a later
// version stored stays for it.
func TestStorageFormats(t *testing.T) {
	h := start(t, stored)
	for range 3 {
		require.NoError(t, h.profiles.ConsumeProfiles(as(t.Context(), project42), recorded()))
	}
	left := h.store.crash()
	change := func(key string, change func([]byte) []byte) {
		value, err := collector.VerifyChecksum(left.values[key])
		require.NoError(t, err)
		require.Equal(t, byte(formatVersion), value[0])
		left.values[key] = collector.AppendChecksum(change(bytes.Clone(value)))
	}
	unversioned := func(value []byte) []byte { // the head had the metadata alone
		body := value[1+4+binary.BigEndian.Uint32(value[1:]):]
		return append([]byte("\x00\x00\x00\x12{\"x-old\":[\"shop\"]}"), body...)
	}
	change("1", unversioned)
	change("2", func(value []byte) []byte { return append([]byte{1}, unversioned(value)...) })
	change("3", func(value []byte) []byte { return append([]byte{formatVersion + 1}, value[1:]...) })
	newer := bytes.Clone(left.values["3"])

	after := startWith(t, stored, left)
	assert.Equal(t, map[string]int64{"": 2}, after.counts("restored_profiles"))
	assert.Equal(t, map[string]int64{"": 1}, after.counts("storage_errors"))
	assert.Equal(t, 1, after.logs.FilterMessageSnippet("Cannot read profiles").Len())
	require.NoError(t, after.profiles.Shutdown(context.Background()))
	for i, p := range after.received(2) {
		dictionarytest.MustBeValid(t, p)
		assert.Zero(t, tenant.FromContext(after.sink.contexts[i]))
		assert.Equal(t, []string{"shop"}, client.FromContext(after.sink.contexts[i]).Metadata.Get("x-old"))
	}
	assert.Equal(t, newer, left.values["3"])
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
		left.values[keyRange] = broken
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
		h.store.unread = keyRange
		profiles, err := NewFactory().CreateProfiles(t.Context(), h.settings(), cfg, consumertest.NewNop())
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
		profiles, err := NewFactory().CreateProfiles(t.Context(), h.settings(), cfg, consumertest.NewNop())
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
	text, err := encodeHeld(h)
	require.NoError(f, err)
	f.Add(text)
	f.Add([]byte("\x00\x00\x00\x02{}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		first, err := decodeHeld(text)
		if err != nil {
			return
		}
		again, err := encodeHeld(first)
		require.NoError(t, err)
		second, err := decodeHeld(again)
		require.NoError(t, err)
		require.Empty(t, dictionary.Diff(first.parts[0], second.parts[0]))
		last, err := encodeHeld(second)
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
	value, err := encodeHeld(h)
	require.NoError(t, err)
	assert.Equal(t, before, p)
	decoded, err := decodeHeld(value)
	require.NoError(t, err)
	assert.Equal(t, 3*n, decoded.parts[0].ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().Len()*3)
	assert.Equal(t, "shop 2", decoded.parts[0].ResourceProfiles().At(2).Resource().Attributes().AsRaw()["service.name"])
	assert.Less(t, testing.AllocsPerRun(1, func() { _, _ = encodeHeld(h) }), 1000.0, "none for a sample or attribute")
}
