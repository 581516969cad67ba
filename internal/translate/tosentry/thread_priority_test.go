// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/fromsentry"
)

// TestThreadPriority: a priority that ingest refuses costs itself, not the chunk, whether or not
// the original payload was kept.
func TestThreadPriority(t *testing.T) {
	for priority, sent := range map[int64]bool{0: true, 31: true, math.MaxUint32: true, math.MaxUint32 + 1: false, -20: false} {
		for _, kept := range []bool{false, true} {
			payload := fmt.Appendf(nil, `{"version":"2","profiler_id":"71bba98d90b545c39f2ae73f702d7ef4","chunk_id":"f1c2d3e4f5a6978812345678123456aa",
				"platform":"java","release":"1","client_sdk":{"name":"sentry.java","version":"8"},"profile":{"frames":[{"function":"f"}],"stacks":[[0]],
				"samples":[{"timestamp":1777629600.1,"stack_id":0,"thread_id":"1"},{"timestamp":1777629600.2,"stack_id":0,"thread_id":"1"}],
				"thread_metadata":{"1":{"name":"main","priority":%d}}}}`, priority)
			d := profile.AcquireDecoder()
			chunk, err := d.Chunk(payload)
			require.NoError(t, err)
			source := fromsentry.Source{ProjectID: "1", PeriodType: "wall"}
			if kept {
				source.OriginalPayload = payload
			}
			out := ProfilesToChunks(fromsentry.ChunkToProfiles(chunk, source), exportOptions)
			d.Release()
			require.Len(t, out.Items, 1)
			checkIngest(t, fmt.Sprint(priority), &out.Items[0].Item)
			var stored struct {
				Profile struct {
					Threads map[string]struct{ Priority *int64 } `json:"thread_metadata"`
				}
			}
			require.NoError(t, json.Unmarshal(out.Items[0].Payload, &stored))
			if sent {
				require.Equal(t, priority, *stored.Profile.Threads["1"].Priority)
				require.Empty(t, out.Flaws)
			} else {
				require.Nil(t, stored.Profile.Threads["1"].Priority)
				require.Equal(t, []discard.Flaw{{Field: "thread_priority", Count: 1}}, out.Flaws)
			}
		}
	}
}
