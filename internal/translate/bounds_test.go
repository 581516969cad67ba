package translate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/sentry"
)

func TestClip(t *testing.T) {
	require.Equal(t, "12345678", clip("12345678", 8))
	require.Equal(t, "12345…", clip("123456789", 8))
	require.Equal(t, "1234…", clip("1234äöü", 8), "no part of a character")
}

// TestClippedIDsMeet: however long the id of a profiler session, its spans and its profiles have the same.
func TestClippedIDsMeet(t *testing.T) {
	id := strings.Repeat("i", 1000)
	profiles := ChunkToProfiles(&sentry.Chunk{ProfilerID: id, Sampled: oneSample()}, Source{})
	traces := TransactionToTraces(&sentry.Transaction{ProfilerID: id, Root: &sentry.Span{}}, Source{})
	span := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
	onSpan, _ := span.Attributes().Get(keyProfilerID)
	require.Equal(t, strings.Repeat("i", 61)+"…", onSpan.Str())
	require.Contains(t, profiles.Dictionary().StringTable().AsRaw(), keyProfilerID)
	found := false
	for _, attribute := range profiles.Dictionary().AttributeTable().All() {
		found = found || attribute.Value().AsString() == onSpan.Str()
	}
	require.True(t, found)
}

func oneSample() (s sentry.Sampled) {
	d := new(sentry.Decoder)
	c, err := d.Chunk([]byte(`{"version":"2","profile":{"samples":[{"timestamp":1777629600,"thread_id":"1","stack_id":0}],"stacks":[[]]}}`))
	if err != nil {
		panic(err)
	}
	return c.Sampled
}
