// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// ofProgram adds the resource attributes of a program, as all Sentry SDKs do.
func ofProgram(resource pcommon.Resource, version string) {
	resource.Attributes().PutStr("service.name", "shop")
	resource.Attributes().PutStr("telemetry.sdk.name", "sentry.javascript.node")
	resource.Attributes().PutStr("telemetry.sdk.version", version)
}

// streamedTrace returns a segment and its child, as @sentry/node 11.12.0 streams them if the
// version of @sentry/profiling-node is 11.1.0.
func streamedTrace(version, session string) ptrace.Traces {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	ofProgram(resource.Resource(), version)
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	segment := spanID(1)
	for _, id := range []uint64{2, 1} {
		span := spans.AppendEmpty()
		span.SetTraceID(traceID(1))
		span.SetSpanID(spanID(id))
		if id != 1 {
			span.SetParentSpanID(segment)
		} else if session != "" {
			span.Attributes().PutStr("sentry.profiler_id", session)
		}
		span.SetEndTimestamp(10)
		span.Attributes().PutStr("sentry.segment.id", hex.EncodeToString(segment[:]))
		span.Attributes().PutStr("sentry.trace_lifecycle", "stream")
	}
	return traces
}

func profileOf(version, session string, observations int) pprofile.Profiles {
	p := benchProfile(observations)
	ofProgram(p.ResourceProfiles().At(0).Resource(), version)
	for _, a := range p.Dictionary().AttributeTable().All() {
		if a.Value().Type() == pcommon.ValueTypeStr && a.Value().Str() == "session" {
			a.Value().SetStr(session)
		}
	}
	return p
}

// Spans without a session belong to the session of their program, if there is only one, on one
// thread, and if no span of the program has a session.
func TestUnstatedSpans(t *testing.T) {
	const keep = 5 * time.Minute
	assumed := LinkStats{Assumed: 1}
	unlinked := LinkStats{Unlinked: [reasons]int64{NoSpan: 1}}
	one := profileOf("11.12.0", "one", 1)
	for name, c := range map[string]struct {
		before func(*Index)
		after  time.Duration
		want   LinkStats
	}{
		"the only session": {want: assumed},
		"another session": {
			before: func(x *Index) { x.CanLink("", profileOf("11.12.0", "two", 1), start) },
			want:   unlinked,
		},
		"another session, then this one": {
			before: func(x *Index) {
				x.CanLink("", profileOf("11.12.0", "two", 1), start)
				x.CanLink("", profileOf("11.12.0", "one", 1), start)
			},
			want: unlinked,
		},
		"another session, linked at once": {
			before: func(x *Index) {
				x.Link(profileOf("11.12.0", "two", 1), Options{Now: start, Ambiguous: Skip})
			},
			want: unlinked,
		},
		"another session, long ago": {
			before: func(x *Index) { x.CanLink("", profileOf("11.12.0", "two", 1), start) },
			after:  keep + time.Second, want: assumed,
		},
		"another session of another program": {
			before: func(x *Index) { x.CanLink("", profileOf("11.1.0", "two", 1), start) },
			want:   assumed,
		},
		"spans that state a session": {
			before: func(x *Index) { x.AddTraces("", streamedTrace("11.12.0", "one"), start) },
			want:   LinkStats{Linked: 1},
		},
		"spans that state another session": {
			before: func(x *Index) { x.AddTraces("", streamedTrace("11.12.0", "two"), start) },
			want:   unlinked,
		},
	} {
		x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: keep})
		if c.before != nil {
			c.before(x)
		}
		now := start.Add(c.after)
		if name != "spans that state another session" && name != "spans that state a session" {
			stats := x.AddTraces("", streamedTrace("11.12.0", ""), now)
			assert.Equal(t, []int64{2, 1}, []int64{stats.Unstated, stats.Waiting}, name)
		}
		p := pprofile.NewProfiles()
		one.CopyTo(p)
		assert.True(t, x.CanLink("", p, now), name)
		assert.Equal(t, c.want, x.Link(p, Options{Now: now, Ambiguous: Skip}), name)
		if c.want == assumed {
			assert.Equal(t, spanID(2), p.Dictionary().LinkTable().At(1).SpanID(), "%s: the child", name)
		}
	}

	x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: keep})
	x.AddTraces("", streamedTrace("11.12.0", ""), start)
	stats := x.Link(profileOf("11.12.0", "one", 2), Options{Now: start, Ambiguous: Skip})
	assert.Equal(t, LinkStats{Unlinked: [reasons]int64{NoSpan: 2}}, stats, "two threads")

	transaction := streamedTrace("11.12.0", "")
	for _, span := range transaction.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		span.Attributes().Remove("sentry.trace_lifecycle")
	}
	x = NewIndex(Sentry, Limits{Spans: 100, MaxAge: keep})
	assert.Equal(t, SpanStats{NoSession: 2, Waiting: 1}, x.AddTraces("", transaction, start), "in a transaction the profiler would be named")
}

// If a span with a session follows spans without one, these may belong to a process without a
// profiler.
func TestUnstatedSpansBesideStated(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
	x.AddTraces("", streamedTrace("11.12.0", ""), start)
	stated := streamedTrace("11.12.0", "one")
	for _, span := range stated.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		span.SetTraceID(traceID(2))
		span.SetStartTimestamp(1e12)
		span.SetEndTimestamp(2e12)
	}
	x.AddTraces("", stated, start)
	stats := x.Link(profileOf("11.12.0", "one", 1), Options{Now: start, Ambiguous: Skip})
	assert.Equal(t, LinkStats{Unlinked: [reasons]int64{NoSpan: 1}}, stats)
	x.Add(each(), start.Add(2*time.Hour))
	x.AddTraces("", streamedTrace("11.12.0", ""), start.Add(2*time.Hour))
	p := profileOf("11.12.0", "one", 1)
	assert.Equal(t, LinkStats{Assumed: 1}, x.Link(p, Options{Now: start.Add(2 * time.Hour), Ambiguous: Skip}), "long after")
}
