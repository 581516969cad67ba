// SPDX-License-Identifier: Apache-2.0

package sentryexporter

import (
	"bytes"
	"encoding/gob"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/tosentry"
)

// TestStoredRequests: what the queue has on disk is sent with the same bytes and headers after a
// restart.
func TestStoredRequests(t *testing.T) {
	t.Parallel()
	container := spanContainer(2)
	container.EventID = ""
	container.Trace = &sentry.DynamicSamplingContext{TraceID: "0123456789abcdef0123456789abcdef"}
	container.Item.Header.ContentType = sentry.ContentTypeSpans
	container.Item.Header.ItemCount = jsonscan.Some(3)
	large := backendChunk(3)
	size := sentry.MaxOutgoingChunk
	if !testsize.Full() {
		size = 1 << 20
	}
	large.Item.Payload = bytes.Repeat([]byte("x"), size)
	want := &request{Version: requestVersion, Count: 7, Envelopes: []envelope{backendChunk(1), container, large}}

	unreadable := 0
	encoding := requestEncoding{func(error) { unreadable++ }}
	text, err := encoding.Marshal(t.Context(), want)
	require.NoError(t, err)
	_, got, err := encoding.Unmarshal(text)
	require.NoError(t, err)
	assert.True(t, assert.ObjectsAreEqual(want, got), "not the same")
	assert.Equal(t, want.BytesSize(), got.(*request).BytesSize())

	flipped := bytes.Clone(text)
	flipped[len(flipped)-100] ^= 1 // in a payload, of which gob knows nothing
	for i, broken := range [][]byte{{}, {0}, text[:len(text)/2], bytes.Repeat([]byte{0xff}, 100), collector.AppendChecksum([]byte{7}), flipped} {
		_, _, err := encoding.Unmarshal(broken)
		assert.Error(t, err)
		assert.Equal(t, i+1, unreadable)
	}
	_, _, err = encoding.Unmarshal(nil)
	assert.ErrorIs(t, err, errNotStored)
	assert.Equal(t, 6, unreadable, "was never stored")
}

// storedRequest0 is a request as builds stored it before the format had a version.
type storedRequest0 struct {
	Count     int
	Envelopes []envelope
}

// TestStoredRequestsOfOtherVersions: one of before the format had a version is sent, with all its
// envelopes; one of a later version is counted as unreadable.
func TestStoredRequestsOfOtherVersions(t *testing.T) {
	unreadable := 0
	encoding := requestEncoding{func(error) { unreadable++ }}
	var text bytes.Buffer
	require.NoError(t, gob.NewEncoder(&text).Encode(storedRequest0{Count: 3, Envelopes: []envelope{backendChunk(1), backendChunk(2)}}))
	_, old, err := encoding.Unmarshal(collector.AppendChecksum(text.Bytes()))
	require.NoError(t, err)
	assert.Equal(t, &request{Count: 3, Envelopes: []envelope{backendChunk(1), backendChunk(2)}}, old)
	h := start(t, withoutQueue)
	require.NoError(t, h.started.queues[0].push(t.Context(), old))
	assert.Equal(t, []int{1, 2}, h.taken())

	later, err := encoding.Marshal(t.Context(), &request{Version: requestVersion + 1})
	require.NoError(t, err)
	_, _, err = encoding.Unmarshal(later)
	assert.ErrorContains(t, err, "format 3 ")
	assert.Equal(t, 1, unreadable)
}

// TestVersionOfRequests: a build that knows only version 1 would lose the second update of
// sessions, or the drift.
func TestVersionOfRequests(t *testing.T) {
	h := start(t, withoutQueue)
	item := func(kind sentry.ItemType, drift int64) tosentry.Outgoing {
		return tosentry.Outgoing{Item: sentry.Item{Header: sentry.ItemHeader{Type: kind}, Payload: []byte("{}")}, DriftMilli: drift, Count: 1}
	}
	for _, c := range []struct {
		items []tosentry.Outgoing
		want  []int
	}{
		{[]tosentry.Outgoing{item(sentry.ItemSession, 0)}, []int{1}},
		{[]tosentry.Outgoing{item(sentry.ItemSession, 0), item(sentry.ItemSession, 0), item(sentry.ItemSessions, 0)}, []int{2, 1}},
		{[]tosentry.Outgoing{item(sentry.ItemLog, 1), item(sentry.ItemLog, 0)}, []int{2, 1}},
	} {
		var versions []int
		for _, r := range h.started.newRequests(len(c.items), &tosentry.Export{Items: c.items}, sentry.MaxOutgoingElements) {
			versions = append(versions, r.Version)
		}
		assert.Equal(t, c.want, versions)
	}
}

// FuzzStoredRequest: whatever a disk gives back with the right checksum, it is refused or is a
// request that can be stored and sent.
func FuzzStoredRequest(f *testing.F) {
	encoding := requestEncoding{func(error) {}}
	for _, r := range []*request{{}, {Count: 1, Envelopes: []envelope{backendChunk(1), spanContainer(2)}}} {
		stored, err := encoding.Marshal(f.Context(), r)
		require.NoError(f, err)
		text, err := collector.VerifyChecksum(stored)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, first, err := encoding.Unmarshal(collector.AppendChecksum(bytes.Clone(text)))
		if err != nil {
			return
		}
		again, err := encoding.Marshal(t.Context(), first)
		require.NoError(t, err)
		_, second, err := encoding.Unmarshal(again)
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, first.ItemsCount(), second.ItemsCount())
	})
}
