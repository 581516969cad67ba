// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

// Spans and profiles of many clients at once, with all bounds reached: every observation comes out
// once, and nothing stays behind.
func TestManyAtOnce(t *testing.T) {
	const clients, each = 4, 100
	h := start(t, "link: {wait: 2ms, max_held_profiles: 5, max_spans: 20}\nstorage: memory\ntransforms: [{split: {max_samples: 1}}]")
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for range each {
				assert.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
			}
		})
		all.Go(func() {
			for i := range each {
				assert.NoError(t, h.traces.ConsumeTraces(t.Context(), tracesOf(request, span{id: byte(2 + i), parent: 1, start: 22, end: 26})))
			}
		})
	}
	all.Wait()
	require.NoError(t, h.traces.Shutdown(context.Background()))
	require.NoError(t, h.profiles.Shutdown(context.Background()))

	observations := int64(0)
	for _, p := range h.sink.AllProfiles() {
		observations += spanlink.Observations(p)
	}
	assert.Equal(t, int64(2*clients*each), observations)
	assert.Equal(t, int64(clients*each), h.counts("incoming_profiles")[""])
	assert.Len(t, h.passed.AllTraces(), clients*each)
	for _, level := range []string{"held_messages", "held_bytes", "index_spans", "index_sessions", "index_bytes"} {
		assert.Equal(t, map[string]int64{"": 0}, h.counts(level), level)
	}
	assert.Len(t, h.store.values, 1, "the range")
}
