// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"
	"slices"
	"strings"
	"time"
)

// Limits bound the index.
type Limits struct {
	Spans  int           // maximum number of spans, and of sessions, up to MaxSpans
	Bytes  int64         // maximum memory, estimated; 0 means SpanBytes × Spans and a constant
	MaxAge time.Duration // spans are dropped this long after their arrival
}

// maxBytes returns the memory limit of the index.
func (l Limits) maxBytes() int64 {
	if l.Bytes > 0 {
		return l.Bytes
	}
	if l.Spans > (math.MaxInt64-baseBytes)/SpanBytes {
		return math.MaxInt64
	}
	return int64(l.Spans)*SpanBytes + baseBytes
}

// Size is the number of spans and sessions in an index, and their estimated memory.
type Size struct {
	Spans, Sessions int
	Bytes           int64
}

// store is the content of the index. It is not safe for concurrent use.
//
// Each interval is found by its span and counts in the share of its tenant. It is on a track, among
// the spans that wait for their segment, or neither: a segment that states no session. Between two
// calls, the store may exceed its limits by what one span or session uses, until enforceLimits.
type store struct {
	limits   Limits
	maxBytes int64

	spans    *spanTable
	shares   *shares
	sessions *sessions
	waiting  waiting
	stats    SpanStats

	startedAt   time.Time // arrival times count from this time
	lastProgram *Session  // the last one of which a span stated its session
}

func newStore(limits Limits) store {
	limits.Spans = min(limits.Spans, MaxSpans)
	spans := newSpanTable()
	shares := newShares(spans)
	return store{
		limits: limits, maxBytes: limits.maxBytes(),
		spans: spans, shares: shares, sessions: newSessions(shares), waiting: newWaiting(),
	}
}

func (x *store) size() Size {
	return Size{Spans: x.spans.intervals.Len(), Sessions: len(x.sessions.byKey), Bytes: x.shares.total()}
}

// sinceStart returns the time since the first arrival.
func (x *store) sinceStart(now time.Time) time.Duration {
	if x.startedAt.IsZero() {
		x.startedAt = now
	}
	return now.Sub(x.startedAt)
}

// add adds a span. If spans wait for it, it returns its key, for resolve.
func (x *store) add(s Span, at time.Duration) (key spanKey, awaited bool) {
	if s.Trace.IsEmpty() || s.ID.IsEmpty() {
		x.stats.Unusable++
		return key, false
	}
	s.End = max(s.Start, s.End) // a span that ends before it starts has no length, but keeps its position in the span tree
	if s.Program != nil && len(s.Sessions) > 0 && x.lastProgram != s.Program {
		x.lastProgram = s.Program // the same pointer for all spans of a resource
		x.sessions.touch(*s.Program, at).program.noteStated(at)
	}
	t := x.shares.tenant(s.Tenant)
	key = spanKey{s.Trace, s.ID, t.ref}
	isSegment := s.Segment == s.ID
	if !isSegment && !s.Segment.IsEmpty() && (len(s.Sessions) == 0 || s.Thread == "") {
		parent := x.spans.find(key.inTrace(s.Segment))
		if parent == 0 {
			x.awaitSegment(key, s, at)
			return key, false
		}
		s.Sessions, s.Thread = x.completeChild(parent, s.Sessions, s.Thread)
	}
	if len(s.Sessions) == 0 && s.Program != nil && s.Streamed {
		s.Sessions = append(s.Sessions, *s.Program)
	}
	if len(s.Sessions) == 0 {
		x.stats.NoSession++
		if isSegment {
			x.insert(key, s, 0, unstated, at) // so that its children do not wait
		}
	} else {
		x.addToTracks(key, s, at)
	}
	x.shares.release(t)
	return key, x.waiting.first(key) != nil
}

// addToTracks adds a span to the track of each of its sessions.
func (x *store) addToTracks(key spanKey, s Span, at time.Duration) {
	for _, session := range s.Sessions {
		l := x.sessions.track(session, s.Thread, at)
		if r := x.insert(key, s, l.ref, session.kind(), at); r != 0 {
			if s.OnMain {
				l.session.main = l
			}
			x.addToTrack(l, r)
		} else {
			x.sessions.dropTrack(l)
		}
	}
}

// addToTrack adds an interval to a track, and counts it.
func (x *store) addToTrack(l *track, r intervalRef) {
	l.intervals.add(&x.spans.intervals, r)
	if l.session.kind() == unstated {
		x.stats.Unstated++
	} else {
		x.stats.Indexed++
	}
	if x.spans.intervals.At(r).start < l.session.linkedUpTo {
		x.stats.Late++
	}
}

// insert adds an interval of a span. It returns none if the store already has it.
func (x *store) insert(key spanKey, s Span, l trackRef, k kind, at time.Duration) intervalRef {
	segments := x.spans.segments.Len()
	r := x.spans.add(&key, s.Segment, interval{id: s.ID, parent: s.Parent, start: s.Start, end: s.End, track: l, arrived: newArrival(at, k)})
	if r == 0 {
		x.stats.Duplicates++
		return 0
	}
	x.shares.add(r)
	x.shares.changeSegments(key.tenant, x.spans.segments.Len()-segments)
	return r
}

// awaitSegment adds a span whose segment has not arrived.
func (x *store) awaitSegment(key spanKey, s Span, at time.Duration) {
	r := x.insert(key, s, 0, stated, at)
	if r == 0 {
		return
	}
	x.stats.Waiting++
	share := x.shares.of(x.spans.intervals.At(r))
	sessions := slices.Clone(s.Sessions)
	for i := range sessions {
		sessions[i] = sessions[i].cloneFor(share.tenant.Tenant)
	}
	o := &orphan{interval: r, segment: key.inTrace(s.Segment), sessions: sessions, thread: strings.Clone(s.Thread)}
	x.waiting.add(o)
	x.shares.changeSize(share, o.size())
}

// endWait removes a span from those that wait, if it is one.
func (x *store) endWait(r intervalRef) {
	if o := x.waiting.end(r); o != nil {
		x.shares.changeSize(x.shares.of(x.spans.intervals.At(r)), -o.size())
	}
}

// resolve moves a span that waited for a segment to its tracks. It reports whether there may be
// more. Until the next call, they and the segment can be evicted.
func (x *store) resolve(segment spanKey, at time.Duration) (more bool) {
	arrived, o := x.spans.find(segment), x.waiting.first(segment)
	if o == nil || arrived == 0 {
		return false
	}
	x.endWait(o.interval)
	o.sessions, o.thread = x.completeChild(arrived, o.sessions, o.thread)
	if len(o.sessions) > 0 {
		x.adopt(o, at)
		x.enforceLimits()
	} else {
		x.stats.NoSession++
		x.remove(o.interval)
	}
	return true
}

// adopt moves an orphan to its tracks.
func (x *store) adopt(o *orphan, at time.Duration) {
	l := x.sessions.track(o.sessions[0], o.thread, at)
	x.shares.setKind(o.interval, l.session.kind())
	i := x.spans.intervals.At(o.interval)
	i.track = l.ref
	x.addToTrack(l, o.interval)
	s := Span{
		ID: i.id, Parent: i.parent, Segment: x.spans.segments.At(i.segment).id, Start: i.start, End: i.end,
		Sessions: o.sessions[1:], Thread: o.thread,
	}
	x.addToTracks(x.spans.key(i), s, at)
}

// completeChild returns the session and the thread of a child of a segment. The child inherits
// values that it does not state.
func (x *store) completeChild(segment intervalRef, sessions []Session, thread string) ([]Session, string) {
	stated := len(sessions) > 0
	for i := range x.spans.siblings(segment) {
		if i.track == 0 {
			continue
		}
		l := x.sessions.tracks.At(i.track)
		if !stated {
			sessions = append(sessions, l.session.Session)
		}
		if thread == "" {
			thread = l.thread
		}
	}
	return sessions, thread
}

// enforceLimits evicts until the store is within its limits.
func (x *store) enforceLimits() {
	for x.spans.intervals.Len() > x.limits.Spans || len(x.sessions.byKey) > x.limits.Spans || x.shares.total() > x.maxBytes {
		x.evict(x.shares.first(x.maxBytes))
	}
}

// evict drops the oldest span or empty session of a share.
func (x *store) evict(s *share) {
	if last := s.recent.Back(); last != nil {
		if session := last.Value.(*session); len(session.tracks) == 0 && (s.oldest == 0 || session.touched <= x.spans.intervals.At(s.oldest).arrived) {
			x.sessions.drop(session)
			return
		}
	}
	oldest := s.oldest
	if oldest == 0 { // its sessions have spans of other tenants: possible only with spans passed to Add directly
		oldest = x.shares.oldest[0].oldest
	}
	x.stats.Evicted++
	x.drop(oldest, lostEvicted)
}

// dropOldest drops the oldest span or else the oldest empty session, if it is too old.
func (x *store) dropOldest(latest time.Duration) bool {
	if oldest := x.shares.oldest; len(oldest) > 0 && oldest[0].arrived.before(latest) {
		x.stats.Expired++
		x.drop(oldest[0].oldest, lostExpired)
		return true
	}
	if s := x.sessions.leastRecent(); s != nil && s.touched.before(latest) && len(s.tracks) == 0 {
		x.sessions.drop(s)
		return true
	}
	return false
}

// drop removes an interval, and records the time range that its session lost.
func (x *store) drop(r intervalRef, why lostKind) {
	if i := x.spans.intervals.At(r); i.track == 0 {
		x.endWait(r)
	} else {
		x.sessions.tracks.At(i.track).session.lost[why].add(i.start, i.end)
	}
	x.remove(r)
}

// remove removes an interval, and its track and tenant with their last interval.
func (x *store) remove(r intervalRef) {
	i := x.spans.intervals.At(r)
	t := x.shares.tenantOf(i)
	x.shares.remove(r)
	if i.track != 0 {
		l := x.sessions.tracks.At(i.track)
		l.intervals.remove(&x.spans.intervals, r)
		x.sessions.dropTrack(l)
	}
	segments := x.spans.segments.Len()
	x.spans.remove(r)
	x.shares.changeSegments(t.ref, x.spans.segments.Len()-segments)
	x.shares.release(t)
}
