// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"container/list"
	"iter"
	"sync"
	"time"
)

// Limits bound the index. Both go by the arrival of a span.
type Limits struct {
	Spans int           // that the index holds, and as many sessions; they may take SpanBytes for each
	Keep  time.Duration // how long it holds them
}

// Index holds spans by session and thread. Any number of goroutines may use it.
type Index struct {
	keys     compiledKeys
	limits   Limits
	maxBytes int64

	mu       sync.Mutex
	sessions map[Session]*session
	recent   list.List // the sessions, the one that was touched last in front
	nodes    map[spanKey]*node
	waiting  map[spanKey]orphans // by the segment they wait for
	tenants  map[string]*tenant
	last     *tenant  // that was asked for
	program  *Session // likewise, see sawSession

	largest [kinds]bySize
	sizes   [kinds]int64 // of all shares

	// The intervals by arrival.
	oldest, newest *interval
	held           int

	began time.Time // arrivals are told from here
	epoch uint64    // number of forests made
	stats SpanStats
	told  SpanStats // of these, what Add and Expire have answered
}

// NewIndex makes an empty index. The keys must be valid.
func NewIndex(keys Keys, limits Limits) *Index {
	return &Index{
		keys: compile(keys), limits: limits, maxBytes: limits.maxBytes(),
		sessions: map[Session]*session{}, nodes: map[spanKey]*node{}, waiting: map[spanKey]orphans{}, tenants: map[string]*tenant{},
	}
}

// SpanStats counts what became of spans.
type SpanStats struct {
	Indexed    int64 // by session and thread, once for each way to state the session
	Waiting    int64 // for their segment; counted once more when it comes
	Unstated   int64 // by program and thread: neither they nor their segment state the session
	NoSession  int64 // likewise, and of no program
	Duplicates int64 // there already
	Unusable   int64 // without ids
	Late       int64 // of those indexed, began before the end of a profile of their session that had been linked by then
	Evicted    int64 // left because the index was full
	Expired    int64 // left because of their age
}

func (s SpanStats) since(before SpanStats) SpanStats {
	return SpanStats{
		s.Indexed - before.Indexed, s.Waiting - before.Waiting, s.Unstated - before.Unstated, s.NoSession - before.NoSession, s.Duplicates - before.Duplicates,
		s.Unusable - before.Unusable, s.Late - before.Late, s.Evicted - before.Evicted, s.Expired - before.Expired,
	}
}

// Size is what an index holds.
type Size struct{ Spans, Sessions int }

// Size tells what the index holds now.
func (x *Index) Size() Size {
	x.mu.Lock()
	defer x.mu.Unlock()
	return Size{Spans: x.held, Sessions: len(x.sessions)}
}

// Add takes spans. The answer counts what became of spans since the last answer: some leave while samples are linked.
func (x *Index) Add(spans iter.Seq[Span], now time.Time) SpanStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(now)
	for s := range spans {
		x.add(s, now)
		x.makeRoom()
	}
	x.program = nil
	return x.untold()
}

// Expire lets go of what is too old, and answers as Add, which does so too: this is for when nothing is added.
func (x *Index) Expire(now time.Time) SpanStats {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.expire(now)
	return x.untold()
}

func (x *Index) untold() SpanStats {
	news := x.stats.since(x.told)
	x.told = x.stats
	return news
}

func (x *Index) add(s Span, now time.Time) {
	if s.Trace.IsEmpty() || s.ID.IsEmpty() {
		x.stats.Unusable++
		return
	}
	s.End = max(s.Start, s.End) // a span that ends before it starts has no length, but keeps its position in the tree
	if s.Program != nil && len(s.Sessions) > 0 && x.program != s.Program {
		x.program = s.Program // the same for all spans of a resource
		x.sawSession(s.Program, now)
	}
	t := x.tenant(s.Tenant)
	key := spanKey{t, s.Trace, s.ID}
	isSegment := s.Segment == s.ID
	if !isSegment && !s.Segment.IsEmpty() && (len(s.Sessions) == 0 || s.Thread == "") {
		above := x.nodes[key.inTrace(s.Segment)]
		if above == nil {
			x.wait(key, s, now)
			return
		}
		s.Sessions, s.Thread = above.complete(s.Sessions, s.Thread)
	}
	if len(s.Sessions) == 0 && s.Program != nil && s.Streamed {
		s.Sessions = append(s.Sessions, *s.Program)
	}
	if len(s.Sessions) == 0 {
		x.stats.NoSession++
		if isSegment {
			x.hold(key, s, nil, unstated, now) // its children need not wait
		}
	} else {
		x.place(key, s, now)
	}
	x.endWait(key, now)
	x.dropTenant(t)
}

// place puts a span on the thread it ran on.
func (x *Index) place(key spanKey, s Span, now time.Time) {
	for _, session := range s.Sessions {
		l := x.lane(session, s.Thread, now)
		if i := x.hold(key, s, l, session.kind(), now); i != nil {
			x.indexed(i)
		} else {
			x.dropLane(l)
		}
	}
}

// indexed counts a span that has come onto its thread.
func (x *Index) indexed(i *interval) {
	if i.kind == unstated {
		x.stats.Unstated++
	} else {
		x.stats.Indexed++
	}
	if i.start < i.lane.session.linkedUpTo {
		x.stats.Late++
	}
}

// hold makes a span a part of the index, on a thread unless l is nil. The answer is nil if it is a part already.
func (x *Index) hold(key spanKey, s Span, l *lane, k kind, now time.Time) *interval {
	n := x.nodes[key]
	if n == nil {
		n = &node{spanKey: key, parent: s.Parent, segment: s.Segment}
		x.nodes[key] = n
	}
	if n.has(s.Start, s.End, l) {
		x.stats.Duplicates++
		return nil
	}
	n.sayAgain(s)
	i := &interval{node: n, start: s.Start, end: s.End, lane: l, arrived: x.since(now), sibling: n.intervals, kind: k, older: x.newest}
	n.intervals = i
	if x.newest == nil {
		x.oldest = i
	} else {
		x.newest.newer = i
	}
	x.newest = i
	x.held++
	x.join(i)
	if l != nil {
		l.add(i)
	}
	return i
}

// join makes a span the newest of its share.
func (x *Index) join(i *interval) {
	s := i.share()
	i.before = s.newest
	if s.newest == nil {
		s.oldest = i
	} else {
		s.newest.next = i
	}
	s.newest = i
	x.enter(s, spanSize)
}

// part takes a span out of its share.
func (x *Index) part(i *interval) {
	s := i.share()
	if i.before == nil {
		s.oldest = i.next
	} else {
		i.before.next = i.next
	}
	if i.next == nil {
		s.newest = i.before
	} else {
		i.next.before = i.before
	}
	i.before, i.next = nil, nil
	x.leave(s, spanSize)
}

// move gives a span another kind.
func (x *Index) move(i *interval, k kind) {
	if i.kind != k {
		x.part(i)
		i.kind = k
		x.join(i)
	}
}

// expire drops what arrived too long ago.
func (x *Index) expire(now time.Time) {
	latest := x.since(now) - x.limits.Keep
	for x.oldest != nil && x.oldest.arrived < latest {
		x.stats.Expired++
		x.drop(x.oldest, lostExpired)
	}
	for s := x.leastRecent(); s != nil && s.touched < latest && len(s.lanes) == 0; s = x.leastRecent() {
		x.forget(s)
	}
}

// drop lets go of a span.
func (x *Index) drop(i *interval, why lostKind) {
	if i.waits != nil {
		x.dropOrphan(i.waits)
	}
	x.remove(i)
	if l := i.lane; l != nil {
		l.session.lost[why].add(i.start, i.end)
		l.remove()
		x.dropLane(l)
	}
	x.dropTenant(i.node.tenant)
}

// remove makes a span unknown to others.
func (x *Index) remove(i *interval) {
	i.gone = true
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
	x.held--
	if i.node.remove(i) {
		delete(x.nodes, i.node.spanKey)
	}
	x.part(i)
}
