package sentryexporter

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

// TestStoredRequests: what the queue has on disk is sent with the same bytes and headers after a restart.
func TestStoredRequests(t *testing.T) {
	container := spanContainer(2)
	container.EventID = ""
	container.Trace = &sentry.DynamicSamplingContext{TraceID: "0123456789abcdef0123456789abcdef"}
	container.Item.Header.ContentType = sentry.ContentTypeSpans
	container.Item.Header.ItemCount = sentry.Some(3)
	large := backendChunk(3)
	large.Item.Payload = bytes.Repeat([]byte("x"), sentry.MaxOutgoingChunk)
	want := &request{Count: 7, Envelopes: []envelope{backendChunk(1), container, large}}

	text, err := requestEncoding{}.Marshal(t.Context(), want)
	require.NoError(t, err)
	_, got, err := requestEncoding{}.Unmarshal(text)
	require.NoError(t, err)
	assert.True(t, assert.ObjectsAreEqual(want, got), "not the same")
	assert.Equal(t, want.BytesSize(), got.(*request).BytesSize())

	for _, broken := range [][]byte{nil, {0}, text[:len(text)/2], bytes.Repeat([]byte{0xff}, 100)} {
		_, _, err := requestEncoding{}.Unmarshal(broken)
		assert.ErrorContains(t, err, "cannot read a request from the queue's storage")
	}
}

// FuzzStoredRequest: whatever a disk gives back, it is refused or is a request that can be stored and sent.
func FuzzStoredRequest(f *testing.F) {
	for _, r := range []*request{{}, {Count: 1, Envelopes: []envelope{backendChunk(1), spanContainer(2)}}} {
		text, err := requestEncoding{}.Marshal(f.Context(), r)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, first, err := requestEncoding{}.Unmarshal(text)
		if err != nil {
			return
		}
		again, err := requestEncoding{}.Marshal(t.Context(), first)
		require.NoError(t, err)
		_, second, err := requestEncoding{}.Unmarshal(again)
		require.NoError(t, err)
		require.Equal(t, first, second)
		require.Equal(t, first.ItemsCount(), second.ItemsCount())
	})
}
