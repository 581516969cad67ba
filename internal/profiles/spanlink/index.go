// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"iter"
	"sync"
	"time"
)

// Limits bound the index. Both count from the arrival of a span.
type Limits struct {
	Spans  int           // maximum number of spans, and of sessions; the memory limit is SpanBytes for each
	MaxAge time.Duration // spans are dropped after this time
}

// Index holds spans by session and thread. It is safe for concurrent use.
type Index struct {
	keys     compiledKeys
	limits   Limits
	maxBytes int64

	mu          sync.Mutex
	sessions    map[Session]*session
	recent      list.List // the sessions, the most recently used first
	spans       map[spanKey]*indexedSpan
	waiting     map[spanKey]orphans // by the segment they wait for
	tenants     map[string]*tenant
	lastTenant  *tenant  // result of the last lookup
	lastProgram *Session // likewise, see noteStatedSession

	largest [kinds]bySize
	sizes   [kinds]int64 // sums of all shares

	// All intervals, by arrival.
	oldest, newest *interval
	count          int

	startedAt time.Time // arrival times count from here
	treeEpoch uint64    // number of span trees built so far
	stats     SpanStats
	reported  SpanStats // the part of stats that Add and Expire have returned
}

// NewIndex returns an empty index. The keys must be valid.
func NewIndex(keys Keys, limits Limits) *Index {
	return &Index{
		keys: compile(keys), limits: limits, maxBytes: limits.maxBytes(),
		sessions: map[Session]*session{}, spans: map[spanKey]*indexedSpan{}, waiting: map[spanKey]orphans{}, tenants: map[string]*tenant{},
	}
}

// SpanStats counts spans by outcome.
type SpanStats struct {
	Indexed    int64 // by session and thread, once for each way to state the session
	Waiting    int64 // for their segment; counted again when it arrives
	Unstated   int64 // indexed by program and thread: neither they nor their segment state the session
	NoSession  int64 // likewise, without a program
	Duplicates int64 // already in the index
	Unusable   int64 // without ids
	Late       int64 // indexed, but started before the end of a profile of their session that was already linked
	Evicted    int64 // dropped because the index was full
	Expired    int64 // dropped because of their age
}

func (s SpanStats) since(before SpanStats) SpanStats {
	return SpanStats{
		Indexed: s.Indexed - before.Indexed, Waiting: s.Waiting - before.Waiting, Unstated: s.Unstated - before.Unstated,
		NoSession: s.NoSession - before.NoSession, Duplicates: s.Duplicates - before.Duplicates, Unusable: s.Unusable - before.Unusable,
		Late: s.Late - before.Late, Evicted: s.Evicted - before.Evicted, Expired: s.Expired - before.Expired,
	}
}

// Size is the number of spans and sessions in an index.
type Size struct{ Spans, Sessions int }

// Size returns the current size of the index.
func (x *Index) Size() Size {
	x.mu.Lock()
	defer x.mu.Unlock()
	return Size{Spans: x.count, Sessions: len(x.sessions)}
}

// Add adds spans and returns the statistics since the last call of Add or Expire: spans may also be
// dropped while samples are linked.
func (x *Index) Add(spans iter.Seq[Span], now time.Time) SpanStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(now)
	for s := range spans {
		x.add(s, now)
		x.enforceLimits()
	}
	x.lastProgram = nil
	return x.statsSinceReport()
}

// Expire drops the spans that are too old and returns the same statistics as Add. Add expires spans
// as well; Expire is for times without traffic.
func (x *Index) Expire(now time.Time) SpanStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(now)
	return x.statsSinceReport()
}

func (x *Index) statsSinceReport() SpanStats {
	stats := x.stats.since(x.reported)
	x.reported = x.stats
	return stats
}

func (x *Index) add(s Span, now time.Time) {
	if s.Trace.IsEmpty() || s.ID.IsEmpty() {
		x.stats.Unusable++
		return
	}
	s.End = max(s.Start, s.End) // a span that ends before it starts has no length, but keeps its position in the span tree
	if s.Program != nil && len(s.Sessions) > 0 && x.lastProgram != s.Program {
		x.lastProgram = s.Program // all spans of a resource share one
		x.noteStatedSession(s.Program, now)
	}
	t := x.tenant(s.Tenant)
	key := spanKey{t, s.Trace, s.ID}
	isSegment := s.Segment == s.ID
	if !isSegment && !s.Segment.IsEmpty() && (len(s.Sessions) == 0 || s.Thread == "") {
		parent := x.spans[key.inTrace(s.Segment)]
		if parent == nil {
			x.awaitSegment(key, s, now)
			return
		}
		s.Sessions, s.Thread = parent.completeChild(s.Sessions, s.Thread)
	}
	if len(s.Sessions) == 0 && s.Program != nil && s.Streamed {
		s.Sessions = append(s.Sessions, *s.Program)
	}
	if len(s.Sessions) == 0 {
		x.stats.NoSession++
		if isSegment {
			x.insert(key, s, nil, unstated, now) // so that its children need not wait
		}
	} else {
		x.addToTracks(key, s, now)
	}
	x.resolveWaiting(key, now)
	x.dropTenant(t)
}

// addToTracks adds a span to the track of each of its sessions.
func (x *Index) addToTracks(key spanKey, s Span, now time.Time) {
	for _, session := range s.Sessions {
		l := x.track(session, s.Thread, now)
		if i := x.insert(key, s, l, session.kind(), now); i != nil {
			x.countIndexed(i)
		} else {
			x.dropTrack(l)
		}
	}
}

// countIndexed counts a span that was added to its track.
func (x *Index) countIndexed(i *interval) {
	if i.kind == unstated {
		x.stats.Unstated++
	} else {
		x.stats.Indexed++
	}
	if i.start < i.track.session.linkedUpTo {
		x.stats.Late++
	}
}

// insert adds a span to the index and, unless t is nil, to a track. It returns nil if the index
// already has the span there.
func (x *Index) insert(key spanKey, s Span, l *track, k kind, now time.Time) *interval {
	n := x.spans[key]
	if n == nil {
		n = &indexedSpan{spanKey: key, parent: s.Parent, segment: s.Segment}
		x.spans[key] = n
	}
	if n.contains(s.Start, s.End, l) {
		x.stats.Duplicates++
		return nil
	}
	n.merge(s)
	i := &interval{span: n, start: s.Start, end: s.End, track: l, arrived: x.sinceStart(now), sibling: n.intervals, kind: k, older: x.newest}
	n.intervals = i
	if x.newest == nil {
		x.oldest = i
	} else {
		x.newest.newer = i
	}
	x.newest = i
	x.count++
	x.addToShare(i)
	if l != nil {
		l.add(i)
	}
	return i
}

// addToShare makes an interval the newest of its share.
func (x *Index) addToShare(i *interval) {
	s := i.share()
	i.prevInShare = s.newest
	if s.newest == nil {
		s.oldest = i
	} else {
		s.newest.nextInShare = i
	}
	s.newest = i
	x.addUse(s, spanSize)
}

// removeFromShare removes an interval from its share.
func (x *Index) removeFromShare(i *interval) {
	s := i.share()
	if i.prevInShare == nil {
		s.oldest = i.nextInShare
	} else {
		i.prevInShare.nextInShare = i.nextInShare
	}
	if i.nextInShare == nil {
		s.newest = i.prevInShare
	} else {
		i.nextInShare.prevInShare = i.prevInShare
	}
	i.prevInShare, i.nextInShare = nil, nil
	x.removeUse(s, spanSize)
}

// setKind moves an interval to the share of another kind.
func (x *Index) setKind(i *interval, k kind) {
	if i.kind != k {
		x.removeFromShare(i)
		i.kind = k
		x.addToShare(i)
	}
}

// expire drops the spans and the empty sessions that are too old.
func (x *Index) expire(now time.Time) {
	latest := x.sinceStart(now) - x.limits.MaxAge
	for x.oldest != nil && x.oldest.arrived < latest {
		x.stats.Expired++
		x.drop(x.oldest, lostExpired)
	}
	for s := x.leastRecent(); s != nil && s.touched < latest && len(s.tracks) == 0; s = x.leastRecent() {
		x.dropSession(s)
	}
}

// drop removes an interval, and records the time range that its session lost.
func (x *Index) drop(i *interval, why lostKind) {
	if i.orphan != nil {
		x.removeOrphan(i.orphan)
	}
	x.remove(i)
	if l := i.track; l != nil {
		l.session.lost[why].add(i.start, i.end)
		l.remove()
		x.dropTrack(l)
	}
	x.dropTenant(i.span.tenant)
}

// remove removes an interval from the index, but not from its track.
func (x *Index) remove(i *interval) {
	i.removed = true
	if i.older == nil {
		x.oldest = i.newer
	} else {
		i.older.newer = i.newer
	}
	if i.newer == nil {
		x.newest = i.older
	} else {
		i.newer.older = i.older
	}
	i.older, i.newer = nil, nil
	x.count--
	if i.span.removeInterval(i) {
		delete(x.spans, i.span.spanKey)
	}
	x.removeFromShare(i)
}
