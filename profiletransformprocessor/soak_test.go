// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// TestSoak runs spans and profiles through the processor for as long as SOAK says (`make soak`):
// after the first tenth of that, the heap must not grow any more.
func TestSoak(t *testing.T) {
	duration, err := time.ParseDuration(os.Getenv("SOAK"))
	if err != nil {
		t.Skip("for minutes: SOAK=10m, or make soak")
	}
	h := start(t, "link: {wait: 500ms, keep_spans: 2s, max_spans: 20000, max_held_profiles: 200}")
	began, early, latest, n := time.Now(), uint64(0), uint64(0), 0
	for next := duration / 10; time.Since(began) < duration; n++ {
		traces := tracesOf(request, span{id: 2, parent: 1, start: 14, end: 16})
		for i, s := range traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
			s.SetTraceID(pcommon.TraceID{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24), 1})
			if i == 1 && n%3 == 0 {
				s.Attributes().PutStr("sentry.profiler_id", time.Now().String()) // sessions come and go
			}
		}
		require.NoError(t, h.traces.ConsumeTraces(t.Context(), traces))
		require.NoError(t, h.profiles.ConsumeProfiles(t.Context(), recorded()))
		if time.Since(began) > next {
			next += duration / 10
			h.sink.forget()
			h.passed.Reset()
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			if latest = m.HeapAlloc; early == 0 {
				early = latest
			}
			t.Logf("%s: %d profiles, heap %d kB", time.Since(began).Round(time.Second), n, latest>>10)
		}
	}
	require.Less(t, latest, early+early/4+4<<20, "bytes of heap")
}
