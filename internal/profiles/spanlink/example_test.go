// SPDX-License-Identifier: Apache-2.0

package spanlink_test

import (
	"encoding/hex"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// An index links each observation to the innermost span that covered it on its thread. The one
// sample of this profile becomes three: one for each span, and one for the observation that no span
// covered.
func ExampleIndex() {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.instance.id", "shop-1")
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	add := func(id, parent byte, start, end time.Duration) {
		span := spans.AppendEmpty()
		span.SetTraceID(pcommon.TraceID{1})
		span.SetSpanID(pcommon.SpanID{id})
		if parent != 0 {
			span.SetParentSpanID(pcommon.SpanID{parent})
		}
		span.SetStartTimestamp(timelinetest.Start + pcommon.Timestamp(start))
		span.SetEndTimestamp(timelinetest.Start + pcommon.Timestamp(end))
		span.Attributes().PutInt("thread.id", 1)
	}
	add(1, 0, 0, 50*time.Millisecond)                   // a request
	add(2, 1, 10*time.Millisecond, 30*time.Millisecond) // its query

	profiles := timelinetest.Message("shop", timelinetest.Wall, timelinetest.Sample{
		Stack: "main;price", Thread: 1, At: []time.Duration{0, 20 * time.Millisecond, 40 * time.Millisecond, 60 * time.Millisecond},
	})
	profiles.ResourceProfiles().At(0).Resource().Attributes().PutStr("service.instance.id", "shop-1")

	now := time.Now()
	index := spanlink.NewIndex(spanlink.OTel, spanlink.Limits{Spans: 1000, MaxAge: time.Minute})
	index.AddTraces("", traces, now)
	stats := index.Link(profiles, spanlink.Options{Now: now, Ambiguous: spanlink.Skip})

	fmt.Println("linked:", stats.Linked)
	for reason, n := range stats.Reasons {
		fmt.Printf("without a link (%s): %d\n", reason, n)
	}
	view := dictionary.NewView(profiles.Dictionary())
	for _, sample := range timelinetest.Profile(profiles).Samples().All() {
		_, span, _ := view.Link(dictionary.LinkIndex(sample.LinkIndex()))
		fmt.Printf("span %s: %d\n", hex.EncodeToString(span[:]), sample.TimestampsUnixNano().Len())
	}
	// Output:
	// linked: 3
	// without a link (no_span): 1
	// span 0100000000000000: 2
	// span 0200000000000000: 1
	// span 0000000000000000: 1
}
