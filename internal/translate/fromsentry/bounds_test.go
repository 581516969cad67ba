// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

func TestClip(t *testing.T) {
	require.Equal(t, "12345678", attr.Clip("12345678", 8))
	require.Equal(t, "12345…", attr.Clip("123456789", 8))
	require.Equal(t, "1234…", attr.Clip("1234äöü", 8), "no part of a character")
}

// TestClippedIDsMeet: however long the id of a profiler session, its spans and its profiles have
// the same.
func TestClippedIDsMeet(t *testing.T) {
	id := strings.Repeat("i", 1000)
	profiles := ChunkToProfiles(&profile.Chunk{ProfilerID: id, Sampled: oneSample()}, Source{})
	traces := TransactionToTraces(&event.Transaction{ProfilerID: id, Root: &event.Span{}}, Source{})
	span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	onSpan, _ := span.Attributes().Get(semconv.SentryProfilerID)
	require.Equal(t, strings.Repeat("i", 61)+"…", onSpan.Str())
	require.Contains(t, profiles.Dictionary().StringTable().AsRaw(), semconv.SentryProfilerID)
	found := false
	for _, attribute := range profiles.Dictionary().AttributeTable().All() {
		found = found || attribute.Value().AsString() == onSpan.Str()
	}
	require.True(t, found)
}

func oneSample() (s profile.Sampled) {
	d := new(profile.Decoder)
	c, err := d.Chunk([]byte(`{"version":"2","profile":{"samples":[{"timestamp":1777629600,"thread_id":"1","stack_id":0}],"stacks":[[]]}}`))
	if err != nil {
		panic(err)
	}
	return c.Sampled
}

func TestClippedNames(t *testing.T) {
	name := strings.Repeat("n", 1000)
	transaction := &event.Transaction{Root: &event.Span{}}
	transaction.Release, transaction.Dist, transaction.Environment, transaction.Platform = name, name, name, name
	transaction.SDK.ClientSDK = sentry.ClientSDK{Name: name, Version: name}
	traces := TransactionToTraces(transaction, Source{})
	clipped := map[int]int{}
	for key, value := range traces.ResourceSpans().At(0).Resource().Attributes().All() {
		require.LessOrEqual(t, len(value.AsString()), attr.MaxNameBytes, key)
		clipped[len(value.AsString())]++
	}
	require.GreaterOrEqual(t, clipped[attr.MaxNameBytes], 6)
}
