// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
)

// TestInitialThread: the page opens the thread that ran the longest of those that ran spans;
// blocked threads and the SDK's own sampler, which is on a stack all the time, come later.
func TestInitialThread(t *testing.T) {
	every := func(n int) (at []time.Duration) {
		for i := range n {
			at = append(at, time.Duration(i)*10*time.Millisecond)
		}
		return at
	}
	message := timelinetest.Message("shop", timelinetest.Wall,
		timelinetest.Sample{Thread: 1, Stack: "sampler", Span: 7, At: every(50)},
		timelinetest.Sample{Thread: 2, Stack: "serve;java.lang.Object.wait", Span: 7, At: every(40)},
		timelinetest.Sample{Thread: 3, Stack: "handle;query", Span: 7, At: every(10)},
		timelinetest.Sample{Thread: 4, Stack: "compute", At: every(45)},
		timelinetest.Sample{Thread: 5, Stack: "", At: every(45)},
	)
	p := timelinetest.Read(message.Dictionary(), timelinetest.Profile(message))
	p.Threads[0].Name = "sentry.profiler.ThreadContinuousScheduler"
	var ids []string
	for _, thread := range orderedThreads(p, 100) {
		ids = append(ids, thread.ID)
	}
	assert.Equal(t, []string{"3", "2", "4", "5", "1"}, ids)
	assert.Len(t, orderedThreads(p, 2), 2)
	assert.Empty(t, orderedThreads(&timeline.Profile{}, 100))
}
