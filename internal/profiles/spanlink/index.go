// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"iter"
	"sync"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/heap"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// Limits bound the index.
type Limits struct {
	Spans  int           // maximum number of spans, and of sessions, up to MaxSpans
	Bytes  int64         // maximum memory, estimated; 0 means SpanBytes × Spans and a constant
	MaxAge time.Duration // spans are dropped this long after their arrival
}

// Index holds spans by session and thread. It is safe for concurrent use.
type Index struct {
	keys     compiledKeys
	limits   Limits
	maxBytes int64

	mu       sync.Mutex
	sessions map[Session]*session
	recent   list.List           // sessions, most recently used first
	waiting  map[spanKey]orphans // by the segment that they wait for
	arrived  []spanKey           // segments that arrived in the current message while spans waited for them
	orphans  map[intervalRef]*orphan
	tenants  map[Tenant]*tenant
	accounts map[string]*account

	// The records, and their references by key.
	intervals records.Slab[intervalRef, interval]
	spans     *records.Table[intervalRef] // the newest interval of each span
	segments  records.Slab[segmentRef, segment]
	bySegment *records.Table[segmentRef]
	tracks    records.Slab[trackRef, track]
	byTenant  records.Slab[tenantRef, *tenant]

	// Results of the last lookups.
	lastTenant  *tenant
	lastSegment segmentRef
	lastProgram *Session // see noteStatedSession

	largest [kinds]heap.Heap[*accountUse] // the one that uses the most first
	oldest  heap.Heap[agedShare]
	sizes   [kinds]int64 // sum of all shares
	count   int          // of intervals

	maxFound  int       // about as many spans are found while a query holds the lock
	startedAt time.Time // arrival times count from this time
	stats     SpanStats
	reported  SpanStats // the part of the statistics that Add and Expire have returned
}

// NewIndex returns an empty index. The keys must be valid.
func NewIndex(keys Keys, limits Limits) *Index {
	limits.Spans = min(limits.Spans, MaxSpans)
	x := &Index{
		keys: compile(keys), limits: limits, maxBytes: limits.maxBytes(), maxFound: maxHeld,
		sessions: map[Session]*session{}, waiting: map[spanKey]orphans{}, orphans: map[intervalRef]*orphan{},
		tenants: map[Tenant]*tenant{}, accounts: map[string]*account{},
	}
	x.spans = records.NewTable(func(r intervalRef) uint64 {
		key := x.key(x.intervals.At(r))
		return key.hash()
	})
	x.bySegment = records.NewTable(func(r segmentRef) uint64 { return x.segments.At(r).hash() })
	return x
}

// SpanStats counts spans by outcome.
type SpanStats struct {
	Indexed    int64 // by session and thread; a span is counted once per way to state the session
	Waiting    int64 // for their segment; counted again when the segment arrives
	Unstated   int64 // indexed by program and thread, because neither they nor their segment state the session
	NoSession  int64 // the same, but without a program
	Duplicates int64 // already in the index
	Unusable   int64 // without IDs
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

// Size is the number of spans and sessions in an index, and their estimated memory.
type Size struct {
	Spans, Sessions int
	Bytes           int64
}

// Size returns the current size of the index.
func (x *Index) Size() Size {
	x.mu.Lock()
	defer x.mu.Unlock()
	return Size{Spans: x.count, Sessions: len(x.sessions), Bytes: x.sizes[stated] + x.sizes[unstated]}
}

// Add adds spans and returns the statistics since the last call of Add or Expire, because linking
// can also drop spans.
func (x *Index) Add(spans iter.Seq[Span], now time.Time) SpanStats {
	x.addAll(spans, now)
	return x.takeStats()
}

func (x *Index) addAll(spans iter.Seq[Span], now time.Time) {
	x.expire(now)
	x.mu.Lock()
	defer x.mu.Unlock()
	for s := range spans {
		x.add(s, now)
		x.enforceLimits()
	}
	x.lastProgram = nil
	arrived := x.arrived
	x.arrived = nil
	for _, segment := range arrived {
		for !x.resolveWaiting(segment, now) {
			x.yield()
		}
	}
}

// maxHeld is the maximum number of spans that are added, moved, dropped or found while the lock is
// held once, which takes a few milliseconds.
const maxHeld = 1 << 13

// yield lets other goroutines use the index. Go hands a mutex to a goroutine that has waited for it
// for more than a millisecond.
func (x *Index) yield() {
	x.mu.Unlock()
	x.mu.Lock()
}

// Expire drops the spans that are too old and returns the same statistics as Add. Add also expires
// spans; Expire is for times without traffic.
func (x *Index) Expire(now time.Time) SpanStats {
	x.expire(now)
	return x.takeStats()
}

func (x *Index) takeStats() SpanStats {
	x.mu.Lock()
	defer x.mu.Unlock()
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
		x.lastProgram = s.Program // the same pointer for all spans of a resource
		x.noteStatedSession(s.Program, now)
	}
	t := x.tenant(s.Tenant)
	key := spanKey{s.Trace, s.ID, t.ref}
	isSegment := s.Segment == s.ID
	if !isSegment && !s.Segment.IsEmpty() && (len(s.Sessions) == 0 || s.Thread == "") {
		parent := x.span(key.inTrace(s.Segment))
		if parent == 0 {
			x.awaitSegment(key, s, now)
			return
		}
		s.Sessions, s.Thread = x.completeChild(parent, s.Sessions, s.Thread)
	}
	if len(s.Sessions) == 0 && s.Program != nil && s.Streamed {
		s.Sessions = append(s.Sessions, *s.Program)
	}
	if len(s.Sessions) == 0 {
		x.stats.NoSession++
		if isSegment {
			x.insert(key, s, 0, unstated, now) // so that its children do not wait
		}
	} else {
		x.addToTracks(key, s, now)
	}
	if _, any := x.waiting[key]; any {
		x.arrived = append(x.arrived, key)
	}
	x.dropTenant(t)
}

// addToTracks adds a span to the track of each of its sessions.
func (x *Index) addToTracks(key spanKey, s Span, now time.Time) {
	for _, session := range s.Sessions {
		l := x.track(session, s.Thread, now)
		if r := x.insert(key, s, l.ref, session.kind(), now); r != 0 {
			if s.OnMain {
				l.session.main = l
			}
			x.addToTrack(l, r)
		} else {
			x.dropTrack(l)
		}
	}
}

// addToTrack adds an interval to a track, and counts it.
func (x *Index) addToTrack(l *track, r intervalRef) {
	l.intervals.add(&x.intervals, r)
	if l.session.kind() == unstated {
		x.stats.Unstated++
	} else {
		x.stats.Indexed++
	}
	if x.intervals.At(r).start < l.session.linkedUpTo {
		x.stats.Late++
	}
}

// insert adds an interval of a span to the index. It returns none if the index already has it.
func (x *Index) insert(key spanKey, s Span, l trackRef, k kind, now time.Time) intervalRef {
	hash := key.hash()
	newest := x.findSpan(&key, hash)
	if x.contains(newest, s.Start, s.End, l) {
		x.stats.Duplicates++
		return 0
	}
	r := x.intervals.Alloc()
	*x.intervals.At(r) = interval{
		id: s.ID, parent: s.Parent, start: s.Start, end: s.End,
		segment: x.addSegment(key.inTrace(s.Segment)), track: l, arrived: newArrival(x.sinceStart(now), k),
	}
	if newest == 0 {
		x.spans.Add(hash, r)
	} else {
		x.addSibling(r, newest)
		x.spans.Replace(hash, newest, r)
	}
	x.count++
	x.addToShare(r)
	return r
}

// expire drops the spans and the empty sessions that are too old. The caller does not hold the
// lock.
func (x *Index) expire(now time.Time) {
	x.mu.Lock()
	defer x.mu.Unlock()
	latest := x.sinceStart(now) - x.limits.MaxAge
	for dropped := 1; x.dropOldest(latest); dropped++ {
		if dropped%maxHeld == 0 {
			x.yield()
		}
	}
}

// dropOldest drops the oldest span or else the oldest empty session, if it is too old.
func (x *Index) dropOldest(latest time.Duration) bool {
	if len(x.oldest) > 0 && x.intervals.At(x.oldest[0].oldest).arrived.before(latest) {
		x.stats.Expired++
		x.drop(x.oldest[0].oldest, lostExpired)
		return true
	}
	if s := x.leastRecent(); s != nil && s.touched.before(latest) && len(s.tracks) == 0 {
		x.dropSession(s)
		return true
	}
	return false
}

// drop removes an interval, and records the time range that its session lost.
func (x *Index) drop(r intervalRef, why lostKind) {
	i := x.intervals.At(r)
	t := x.tenantOf(i)
	if i.track == 0 {
		x.endWait(r)
	} else {
		x.tracks.At(i.track).session.lost[why].add(i.start, i.end)
	}
	x.remove(r)
	x.dropTenant(t)
}

// remove removes an interval from the index, and its track with its last interval.
func (x *Index) remove(r intervalRef) {
	i := x.intervals.At(r)
	if i.sibling != 0 {
		x.removeSibling(r)
	} else {
		key := x.key(i)
		x.spans.Remove(key.hash(), r)
	}
	x.removeFromShare(r)
	x.removeSegment(i.segment)
	x.count--
	if i.track != 0 {
		l := x.tracks.At(i.track)
		l.intervals.remove(&x.intervals, r)
		x.dropTrack(l)
	}
	x.intervals.Release(r)
}
