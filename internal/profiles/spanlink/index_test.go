// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func sessionOf(name string) Session { return Session{Parts: [maxSessionParts]string{name}} }

// on returns a span of the session of benchProfile, on its thread 0.
func on(id, parent uint64, start, end uint64) Span {
	s := Span{Trace: traceID(1), ID: spanID(id), Start: start, End: end, Thread: "0", Sessions: []Session{sessionOf("session")}}
	if parent > 0 {
		s.Parent = spanID(parent)
	}
	return s
}

func each(spans ...Span) iter.Seq[Span] { return slices.Values(spans) }

// A flood of spans of any kind uses no more memory than the limits allow, and the latest spans are
// kept.
func TestFlood(t *testing.T) {
	const limit = 2_000
	flood := uint64(4 * limit)
	if testsize.Full() {
		flood = 15 * limit
	}
	for name, spanOf := range map[string]func(i uint64) Span{
		"one thread":   func(i uint64) Span { return on(i, 0, i, i+10) },
		"backwards":    func(i uint64) Span { return on(i, 0, flood-i, 2*flood-i) },
		"many threads": func(i uint64) Span { s := on(i, 0, i, i+10); s.Thread = fmt.Sprint(i); return s },
		"many sessions": func(i uint64) Span {
			s := on(i, 0, i, i+10)
			s.Sessions = []Session{sessionOf(fmt.Sprint(i))}
			return s
		},
		"two ways": func(i uint64) Span {
			s := on(i, 0, i, i+10)
			s.Sessions = []Session{sessionOf("a"), {Way: 1}}
			return s
		},
		"no segment comes, texts of large messages": func(i uint64) Span {
			s := on(i, 0, i, i+10)
			message := strings.Repeat(fmt.Sprintf("%09d ", i), 400)
			s.Sessions, s.Thread, s.Segment = []Session{sessionOf(message[:10])}, "", spanID(i+1e9)
			return s
		},
		"no segment comes":    func(i uint64) Span { s := on(i, 0, i, i+10); s.Sessions, s.Segment = nil, spanID(i+1e9); return s },
		"one segment is late": func(i uint64) Span { s := on(i, 0, i, i+10); s.Sessions, s.Segment = nil, spanID(1e9); return s },
		"segments of nowhere": func(i uint64) Span { s := on(i, 0, i, i+10); s.Sessions, s.Segment = nil, s.ID; return s },
		"long threads":        func(i uint64) Span { s := on(i, 0, i, i+10); s.Thread = fmt.Sprintf("%0256d", i); return s },
		"many tenants": func(i uint64) Span {
			s := on(i, 0, i, i+10)
			s.Tenant.Stated = fmt.Sprint(i)
			s.Sessions = []Session{{Tenant: s.Tenant}}
			return s
		},
		"long texts of spans that wait": func(i uint64) Span {
			s := on(i, 0, i, i+10)
			text := fmt.Sprintf("%0256d", i)
			s.Sessions, s.Thread, s.Segment = []Session{{Parts: [maxSessionParts]string{text, text, text}}}, "", spanID(i+1e9)
			return s
		},
		"many programs": func(i uint64) Span {
			s := on(i, 0, i, i+10)
			s.Sessions, s.Program, s.Streamed = nil, &Session{Way: programWay, Parts: [maxSessionParts]string{fmt.Sprint(i)}}, true
			return s
		},
		"the same again": func(i uint64) Span { return on(1, 0, i, i+10) },
	} {
		x := NewIndex(Sentry, Limits{Spans: limit, MaxAge: time.Hour})
		before := heapBytes()
		for i := range flood {
			x.Add(each(spanOf(i)), start)
		}
		assert.LessOrEqual(t, x.Size().Spans, limit, name)
		assert.LessOrEqual(t, x.Size().Sessions, limit, name)
		assert.LessOrEqual(t, x.store.spans.intervals.Len(), limit, name)
		assert.LessOrEqual(t, len(x.store.waiting.bySegment), limit, name)
		assert.Less(t, int64(heapBytes())-int64(before), 2*x.store.maxBytes, "%s: bytes, in maps that have seen more", name)

		x.Expire(start.Add(2 * time.Hour))
		assert.Equal(t, Size{}, x.Size(), name)
		assert.Zero(t, x.store.spans.intervals.Len(), name)
		assert.Zero(t, x.store.spans.segments.Len(), name)
		assert.Zero(t, x.store.sessions.tracks.Len(), name)
		assert.Zero(t, x.store.shares.byRef.Len(), name)
		assert.Empty(t, x.store.waiting.orphans, name)
		assert.Empty(t, x.store.waiting.bySegment, name)
		assert.Empty(t, x.store.shares.tenants, name)
		assert.Empty(t, x.store.shares.accounts, name)
		assert.Zero(t, x.store.shares.sizes, name)
	}
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// Observations lack a link because their spans were dropped or arrived too late.
func TestLostSpans(t *testing.T) {
	for name, c := range map[string]struct {
		spans []Span
		limit int
		after time.Duration
		early bool
		want  Reason
	}{
		"none":               {limit: 10, want: NoSpan},
		"before its time":    {limit: 10, early: true, want: Evicted},
		"evicted":            {[]Span{on(1, 0, 0, 1e9), on(2, 0, 5e9, 6e9)}, 1, 0, false, Evicted},
		"expired":            {[]Span{on(1, 0, 0, 1e9)}, 10, 70 * time.Second, false, Late},
		"evicted, elsewhere": {[]Span{on(1, 0, 3e9, 4e9), on(2, 0, 5e9, 6e9)}, 1, 0, false, NoSpan},
	} {
		x := NewIndex(Sentry, Limits{Spans: c.limit, MaxAge: time.Minute})
		x.Add(each(c.spans...), start)
		now := start.Add(c.after)
		// Another span keeps the session alive.
		x.Add(each(Span{Trace: traceID(9), ID: spanID(9), Start: 1e12, End: 2e12, Thread: "9", Sessions: []Session{sessionOf("session")}}), start.Add(c.after/2))
		stats := x.Link(benchProfile(1), Options{Now: now, Ambiguous: Skip, Early: c.early})
		want := LinkStats{}
		want.Unlinked[c.want] = 1
		assert.Equal(t, want, stats, name)
	}

	x := NewIndex(Sentry, Limits{Spans: 10, MaxAge: time.Minute})
	x.Link(benchProfile(100), Options{Now: start, Ambiguous: Skip})
	assert.Equal(t, SpanStats{Indexed: 2, Late: 1}, x.Add(each(on(1, 0, 5, 10), on(2, 0, 1e12, 2e12)), start), "one was decided without")
}

// With spans that are their own ancestors, and with a very deep tree, no link is wrong, and every
// loop ends.
func TestOddTrees(t *testing.T) {
	link := func(spans ...Span) LinkStats {
		x := NewIndex(Sentry, Limits{Spans: 10_000, MaxAge: time.Hour})
		x.Add(each(spans...), start)
		return x.Link(benchProfile(1), Options{Now: start, Ambiguous: Skip})
	}
	assert.Equal(t, int64(1), link(on(1, 1, 0, 10)).Linked, "its own parent")
	assert.Equal(t, int64(1), link(on(1, 2, 0, 10), on(2, 1, 0, 10)).Unlinked[Ambiguous], "each a child of the other")
	assert.Equal(t, int64(1), link(on(1, 2, 0, 10), on(2, 3, 0, 10), on(3, 2, 0, 10), on(4, 3, 0, 10)).Unlinked[Ambiguous])

	deep := []Span{on(1, 0, 0, 10)}
	for i := range uint64(2 * maxAncestors) {
		deep = append(deep, on(2+i, 1+i, 20, 30)) // does not cover the sample
	}
	last := uint64(len(deep))
	assert.Equal(t, int64(1), link(append(deep, on(1000, last, 0, 10))...).Linked, "one leaf")
	assert.Equal(t, int64(1), link(append(deep, on(1000, last, 0, 10), on(1001, last, 0, 10))...).Unlinked[Ambiguous], "too far up")
	assert.Equal(t, int64(1), link(append(deep, on(1000, 100, 0, 10), on(1001, 100, 0, 10))...).Linked)
}

// If two copies of a span have different parents, the result does not depend on their order of
// arrival.
func TestCopiesThatDisagree(t *testing.T) {
	a, b := on(3, 1, 0, 10), on(3, 2, 0, 11)
	parents := []Span{on(1, 0, 0, 10), on(2, 0, 0, 10)}
	var answers []LinkStats
	for _, spans := range [][]Span{{a, b}, {b, a}} {
		x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
		x.Add(each(append(spans, parents...)...), start)
		require.Equal(t, spanID(2), x.store.spans.intervals.At(x.store.spans.find(spanKey{traceID(1), spanID(3), x.store.shares.tenants[Tenant{}].ref})).parent)
		answers = append(answers, x.Link(benchProfile(1), Options{Now: start, Ambiguous: Skip}))
	}
	assert.Equal(t, answers[0], answers[1])
}

func TestUnusableSpans(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
	noTrace := on(1, 0, 0, 10)
	noTrace.Trace = pcommon.TraceID{}
	noID := on(1, 0, 0, 10)
	noID.ID = pcommon.SpanID{}
	assert.Equal(t, SpanStats{Unusable: 2}, x.Add(each(noTrace, noID), start))
	assert.Equal(t, SpanStats{Indexed: 1, Duplicates: 1}, x.Add(each(on(1, 0, 0, 10), on(1, 0, 0, 10)), start))
}

// A span that covers no instant, because it has no length or ends before it starts, keeps its
// position in the tree: its descendants are descendants of its ancestors, and the children of such
// a segment inherit its session and thread.
func TestSpansWithoutLength(t *testing.T) {
	for name, end := range map[string]uint64{"zero": 5, "negative": 2} {
		segment, empty := on(1, 0, 0, 10), on(3, 2, 5, end)
		x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Hour})
		x.Add(each(segment, on(2, 1, 0, 10), empty, on(4, 3, 0, 10)), start)
		p := benchProfile(1)
		assert.Equal(t, int64(1), x.Link(p, Options{Now: start, Ambiguous: Skip}).Linked, name)
		assert.Equal(t, spanID(4), p.Dictionary().LinkTable().At(1).SpanID(), "%s: the grandchild", name)

		segment.Start, segment.End, segment.Segment = 5, end, segment.ID
		for order, spans := range map[string]func(segment, child Span) iter.Seq[Span]{
			"segment first": func(segment, child Span) iter.Seq[Span] { return each(segment, child) },
			"child first":   func(segment, child Span) iter.Seq[Span] { return each(child, segment) },
		} {
			child := on(2, 1, 0, 10)
			child.Sessions, child.Thread, child.Segment = nil, "", segment.ID
			x := NewIndex(Sentry, Limits{Spans: 100, MaxAge: time.Minute})
			x.Add(spans(segment, child), start)
			p := benchProfile(1)
			assert.Equal(t, int64(1), x.Link(p, Options{Now: start, Ambiguous: Skip}).Linked, "%s, %s", name, order)
			assert.Equal(t, child.ID, p.Dictionary().LinkTable().At(1).SpanID(), "%s, %s", name, order)
			x.Expire(start.Add(time.Hour))
			assert.Equal(t, Size{}, x.Size(), "%s, %s", name, order)
		}
	}
}

// The time range of lost spans does not include spans without length.
func TestLostSpansWithoutLength(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 1, MaxAge: time.Hour})
	empty := uint64(5)
	x.Add(each(on(1, 0, empty, empty), on(2, 0, 1000, 1001), on(3, 0, 2000, 2001)), start)
	assert.Equal(t, extent{1000, 1001}, x.store.sessions.byKey[sessionOf("session")].lost[lostEvicted])
}

// Spans that are dropped while samples are linked are counted by the next Add or Expire.
func TestSpansThatLeaveDuringLink(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 10, MaxAge: time.Minute})
	assert.Equal(t, SpanStats{Indexed: 1}, x.Add(each(on(1, 0, 0, 10)), start))
	now := start.Add(2 * time.Minute)
	x.Link(benchProfile(1), Options{Now: now, Ambiguous: Skip})
	assert.Equal(t, SpanStats{Expired: 1}, x.Expire(now))
	assert.Zero(t, x.Expire(now), "once")
}

// A span that waited for its segment is evicted in favor of the session that it would have been
// added to.
func TestEvictedByItsOwnSession(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 3, MaxAge: time.Hour})
	segment, child := on(1, 0, 0, 10), on(2, 1, 0, 10)
	segment.Sessions, segment.Thread, segment.Segment = nil, "", segment.ID
	child.Sessions, child.Thread, child.Segment = []Session{sessionOf("child")}, "", segment.ID
	x.Add(each(child, on(3, 0, 0, 10)), start)
	x.store.sessions.touch(sessionOf("linked"), 0)
	x.store.sessions.touch(sessionOf("linked too"), 0)
	assert.Equal(t, SpanStats{NoSession: 1, Indexed: 1, Evicted: 2}, x.Add(each(segment), start))
	x.Expire(start.Add(2 * time.Hour))
	assert.Equal(t, Size{}, x.Size(), "nothing is left of it")
}

// A sample with very many attributes is not split, because each part would repeat them.
func TestAttributesAreNotMultiplied(t *testing.T) {
	for more, want := range map[int]LinkStats{
		0:             {Linked: 2},
		maxAttributes: {Unlinked: [reasons]int64{Attributes: 2}},
	} {
		x := NewIndex(Sentry, Limits{Spans: 10, MaxAge: time.Hour})
		x.Add(each(on(1, 0, 0, benchInterval), on(2, 0, benchInterval, 2*benchInterval)), start)
		p := benchProfile(1)
		sample := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0)
		sample.TimestampsUnixNano().FromRaw([]uint64{0, benchInterval})
		for range more {
			sample.AttributeIndices().Append(sample.AttributeIndices().At(0))
		}
		assert.Equal(t, want, x.Link(p, Options{Now: start, Ambiguous: Skip}))
		assert.Equal(t, 1+int(want.Linked/2), p.SampleCount())
	}
}

// The maximum growth of a message by linking: each observation of a sample with many attributes is
// in its own span.
func TestGrowth(t *testing.T) {
	const observations, attributes = 20_000, 1 << 14 // each index takes three bytes
	p := benchProfile(1)
	dict := p.Dictionary()
	for i := range attributes {
		a := dict.AttributeTable().AppendEmpty()
		a.SetKeyStrindex(1)
		a.Value().SetInt(int64(i))
	}
	sample := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0).Samples().At(0)
	sample.TimestampsUnixNano().FromRaw(nil)
	for i := range uint64(observations) {
		sample.TimestampsUnixNano().Append(i)
	}
	for sample.AttributeIndices().Len() < maxAttributes {
		sample.AttributeIndices().Append(int32(dict.AttributeTable().Len() - 1))
	}
	size := (&pprofile.ProtoMarshaler{}).ProfilesSize(p)
	x := NewIndex(Sentry, Limits{Spans: observations, MaxAge: time.Hour})
	x.Add(upTo(observations, func(i uint64) Span { return on(i, 0, i, i+1) }), start)
	assert.Equal(t, int64(observations), x.Link(p, Options{Now: start, Ambiguous: Skip}).Linked)
	assert.Equal(t, observations, p.SampleCount())
	grown := (&pprofile.ProtoMarshaler{}).ProfilesSize(p)
	t.Logf("%d bytes from %d", grown, size)
	assert.LessOrEqual(t, grown, MaxGrowth*size)
}

// A message of many profiles, each on a thread with many spans, is not compared with all of them,
// which would take minutes.
func TestTooMuchWork(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 10, MaxAge: time.Hour})
	x.Add(each(on(1, 0, 0, 10)), start)
	p := benchProfile(1)
	profile := p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
	l := newLinker(x, p, Options{Now: start, Ambiguous: Skip})
	defer l.release()
	work := l.query.limit
	l.profile(profile, &origin{})
	work, l.query.work = l.query.work, work-l.query.work
	assert.Equal(t, LinkStats{Linked: 1}, l.decider.stats)
	profile.Samples().At(0).SetLinkIndex(0)
	l.profile(profile, &origin{})
	assert.Equal(t, LinkStats{Linked: 2}, l.decider.stats, "exactly at the limit")
	profile.Samples().At(0).SetLinkIndex(0)
	l.query.work = l.query.limit - work + 1
	l.profile(profile, &origin{})
	assert.Equal(t, LinkStats{Linked: 2, Unlinked: [reasons]int64{Evicted: 1}}, l.decider.stats)
}

// Ancestors count as work, too: many profiles of one span each, with very many common ancestors,
// would visit all of them again for each profile.
func TestWayUpIsWork(t *testing.T) {
	const deep = 1000
	x := NewIndex(Sentry, Limits{Spans: 2 * deep, MaxAge: time.Hour})
	x.Add(upTo(deep, func(i uint64) Span { return on(i+2, i+1, 1e12, 2e12) }), start)
	x.Add(each(on(deep+2, deep+1, 0, 10)), start)
	p := benchProfile(1)
	l := newLinker(x, p, Options{Now: start, Ambiguous: Skip})
	defer l.release()
	l.profile(p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0), &origin{})
	assert.Equal(t, LinkStats{Linked: 1}, l.decider.stats)
	assert.Greater(t, l.query.work, climbWork*deep-climbWork)
}
