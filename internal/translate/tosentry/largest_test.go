// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestLargestRecordedChunk: the largest recorded chunk, of 34 MB, is split into chunks that fit in
// the queue, without losses.
func TestLargestRecordedChunk(t *testing.T) {
	testsize.NeedFull(t)
	t.Parallel()
	found := false
	for _, request := range golden.Corpus(t) {
		if request.Name != "sentry.javascript.node-10.75.3/stress-continuous-manual/025" {
			continue
		}
		envelope, err := sentry.ReadEnvelope(request.Decoded(t))
		require.NoError(t, err)
		for _, item := range envelope.Items {
			if item.Header.Type != sentry.ItemProfileChunk {
				continue
			}
			d := profile.AcquireDecoder()
			chunk, err := d.Chunk(item.Payload)
			require.NoError(t, err)
			o := exportOptions
			o.MaxItemBytes = 8 << 20
			samples, count := chunk.Samples.Len(), 0
			out := ProfilesToChunks(fromsentry.ChunkToProfiles(chunk, fromsentry.Source{ProjectID: "1", PeriodType: "wall"}), o)
			require.Empty(t, out.Lost)
			for i := range out.Items {
				checkIngest(t, "", &out.Items[i].Item)
				require.LessOrEqual(t, len(out.Items[i].Payload), o.MaxItemBytes)
				count += out.Items[i].Count
			}
			require.Equal(t, samples, count)
			t.Logf("%d bytes, %d samples: %d chunks", len(item.Payload), samples, len(out.Items))
			d.Release()
			found = true
		}
	}
	require.True(t, found)
}

// TestReservedMemoryIsNotPooled: memory that is reserved for the stacks of a large dictionary
// counts, even if no sample refers to them.
func TestReservedMemoryIsNotPooled(t *testing.T) {
	profiles := pprofile.NewProfiles()
	d := profiles.Dictionary()
	d.LocationTable().AppendEmpty()
	d.StackTable().AppendEmpty().LocationIndices().FromRaw(make([]int32, 9_000_000))
	e := newProfileExporter(profiles, ExportOptions{})
	require.Greater(t, e.frames.memoryBytes(), maxPooledExport)
	e.release()
}
