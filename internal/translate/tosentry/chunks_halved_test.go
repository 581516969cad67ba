// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/sentrytest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestHalves: each half of a chunk has fewer samples than the chunk, is accepted by ingest, and is
// the same each time.
func TestHalves(t *testing.T) {
	t.Parallel()
	halved, seeds := 0, uint64(40)
	if !testsize.Full() {
		seeds = 10
	}
	for seed := range seeds {
		out := ProfilesToChunks(randomProfiles(rand.New(rand.NewPCG(seed, 1))), exportOptions)
		for i := range out.Items[:min(len(out.Items), 5)] {
			payload := out.Items[i].Payload
			halves := chunking.Halve(payload)
			require.Equal(t, halves, chunking.Halve(payload))
			whole, err := sentrytest.Read(2, payload)
			require.NoError(t, err)
			ids := map[string]bool{chunkIDOf(t, payload): true}
			for _, half := range halves {
				checkIngest(t, "", &sentry.Item{Header: out.Items[i].Header, Payload: half.Payload})
				require.Less(t, len(half.Payload), len(payload))
				ids[chunkIDOf(t, half.Payload)] = true
			}
			require.Len(t, ids, 1+len(halves), "an id for each")
			if len(halves) == 2 {
				require.Equal(t, len(whole.Samples), halves[0].Count+halves[1].Count)
				halved++
			}
		}
	}
	require.Greater(t, halved, int(seeds))
	for _, payload := range []string{"", "{}", `{"version":"2"}`, "\xff"} {
		require.Nil(t, chunking.Halve([]byte(payload)))
	}
}

// TestItemsStayWithinTheirLimit: the limit of the queue may be smaller than Sentry's.
func TestItemsStayWithinTheirLimit(t *testing.T) {
	o := ExportOptions{}
	require.Equal(t, sentry.MaxOutgoingChunk, o.AtMost(sentry.MaxOutgoingChunk))
	o.MaxItemBytes = 1000
	require.Equal(t, 1000, o.AtMost(sentry.MaxOutgoingChunk))
	require.Equal(t, 10, o.AtMost(10))
}
