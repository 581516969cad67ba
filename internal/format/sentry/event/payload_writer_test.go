// SPDX-License-Identifier: Apache-2.0

package event

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
)

// caseItem gives the payload of the first item of a type in a case of testdata/cases.
func caseItem(t *testing.T, name string, item sentry.ItemType) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "testdata", "cases", name, "in.envelope"))
	require.NoError(t, err)
	envelope, err := sentry.ReadEnvelope(body)
	require.NoError(t, err)
	for _, i := range envelope.Items {
		if i.Header.Type == item {
			return i.Payload
		}
	}
	t.Fatalf("case %s has no %s", name, item)
	return nil
}

// The writers are the inverse of the decoders: payloads that have every field come back with every
// field.

func TestAppendChunkForgetsNoField(t *testing.T) {
	d := profile.AcquireDecoder()
	defer d.Release()
	sent, err := d.Chunk(caseItem(t, "all-fields-v2", sentry.ItemProfileChunk))
	require.NoError(t, err)
	payload, ok := profile.AppendChunk([]byte("before"), sent, 1<<20)
	require.True(t, ok)
	payload = payload[len("before"):]

	other := profile.AcquireDecoder()
	defer other.Release()
	back, err := other.Chunk(payload)
	require.NoError(t, err)
	require.Empty(t, back.Flaws)
	assert.Equal(t, sent.Frames, back.Frames)
	sent.Samples.Queue = nil // V1's
	assert.Equal(t, sent.Samples, back.Samples)
	assert.Equal(t, sent.Threads, back.Threads)
	want, got := *sent, *back
	want.Sampled, got.Sampled = profile.Sampled{}, profile.Sampled{}
	assert.Equal(t, want, got)

	again, _ := profile.AppendChunk(nil, back, 1<<20)
	require.Equal(t, string(payload), string(again))
}

func TestAppendChunkKeepsTheLimit(t *testing.T) {
	d := profile.AcquireDecoder()
	defer d.Release()
	sent, err := d.Chunk(caseItem(t, "all-fields-v2", sentry.ItemProfileChunk))
	require.NoError(t, err)
	payload, _ := profile.AppendChunk(nil, sent, 1<<20)
	for limit := range len(payload) {
		got, ok := profile.AppendChunk([]byte("before"), sent, limit)
		require.False(t, ok)
		require.Equal(t, "before", string(got))
	}
	_, ok := profile.AppendChunk(nil, sent, len(payload))
	require.True(t, ok)
}

func TestAppendTransactionForgetsNoField(t *testing.T) {
	sent, err := DecodeTransaction(caseItem(t, "all-fields-transaction", sentry.ItemTransaction))
	require.NoError(t, err)
	payload, spans, ok := AppendTransaction(nil, sent, 1<<20)
	require.True(t, ok)
	require.Len(t, sent.Spans, spans)
	back, err := DecodeTransaction(payload)
	require.NoError(t, err)
	require.Empty(t, back.Flaws)

	sent.Flaws, sent.Lost = nil, nil
	sent.Root.Repaired = false
	for i := range sent.Spans {
		sent.Spans[i].Repaired = false
	}
	assert.Equal(t, sent, back)

	_, spans, ok = AppendTransaction(nil, sent, len(payload)-1)
	require.True(t, ok)
	require.Equal(t, len(sent.Spans)-1, spans)
	_, _, ok = AppendTransaction(nil, sent, 100)
	require.False(t, ok)
}

func TestContainerWriterForgetsNoSpanField(t *testing.T) {
	payload := caseItem(t, "all-fields-spans", sentry.ItemSpan)
	sent, err := DecodeSpans(payload, jsonscan.Optional[int]{})
	require.NoError(t, err)
	write := func(limit int) ([]byte, int) {
		w, n := NewContainerWriter([]byte("scratch"), limit), 0
		for i := range sent.Spans {
			if !w.Add(&sent.Spans[i]) {
				break
			}
			n++
			require.Equal(t, n, w.Len())
		}
		return w.Finish(), n
	}
	written, n := write(1 << 20)
	require.Len(t, sent.Spans, n)
	back, err := DecodeSpans(written, jsonscan.Some(n))
	require.NoError(t, err)
	require.Empty(t, back.Flaws)
	assert.Equal(t, sent.Spans, back.Spans)
	_, n = write(len(written))
	require.Len(t, sent.Spans, n)
	_, n = write(len(written) - 1)
	require.Equal(t, len(sent.Spans)-1, n)
	_, n = write(10)
	require.Zero(t, n)
}

// FuzzJSONText: any text is one JSON string, and reads as the text with U+FFFD for what is not
// UTF-8.
func FuzzJSONText(f *testing.F) {
	for _, text := range []string{"", "plain", "\"\\\x00\x1f\x7f", "ä名\u2028", "\xff\xc3", "a\xffb"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var back string
		require.NoError(t, json.Unmarshal(jsonscan.AppendJSONText(nil, text), &back))
		if utf8.ValidString(text) {
			require.Equal(t, text, back)
		}
		standard, err := json.Marshal(text)
		require.NoError(t, err)
		var want string
		require.NoError(t, json.Unmarshal(standard, &want))
		require.Equal(t, want, back)
	})
}

func TestAppendNumbers(t *testing.T) {
	for nanos, want := range map[uint64]string{
		0: "0", 1: "0.000000001", 1_777_629_600_000_000_000: "1777629600", 1_777_629_600_120_000_000: "1777629600.12",
		1_777_629_600_123_456_789: "1777629600.123456789", 1_777_629_600_000_000_100: "1777629600.0000001",
	} {
		require.Equal(t, want, string(jsonscan.AppendSeconds(nil, nanos)))
		back, ok := jsonscan.ParseUnixNanos([]byte(want))
		require.True(t, ok)
		require.Equal(t, nanos, back)
	}
	for _, number := range []float64{0, 1, -1.5, 1e-7, 1e21, 1795223440515.0154, math.MaxFloat64} {
		var back float64
		require.NoError(t, json.Unmarshal(jsonscan.AppendFloat(nil, number), &back))
		require.Equal(t, number, back)
	}
}

func TestLimitedBy(t *testing.T) {
	chunk := func(platform string) *sentry.ItemHeader {
		return &sentry.ItemHeader{Type: sentry.ItemProfileChunk, Platform: platform}
	}
	require.Equal(t, []sentry.Category{"profile_chunk", "profile_duration"}, sentry.LimitedBy(chunk("python")))
	require.Equal(t, []sentry.Category{"profile_chunk", "profile_duration"}, sentry.LimitedBy(chunk("java")))
	require.Equal(t, []sentry.Category{"profile_chunk_ui", "profile_duration_ui"}, sentry.LimitedBy(chunk("android")))
	require.Equal(t, []sentry.Category{"transaction"}, sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemTransaction}))
	require.Equal(t, []sentry.Category{"span"}, sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemSpan}))
	require.Empty(t, sentry.LimitedBy(&sentry.ItemHeader{Type: sentry.ItemClientReport}))
}
