package spanlink

import (
	"container/list"
	"iter"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Limits bound the index. Both go by the arrival of a span.
type Limits struct {
	Spans int           // that the index holds, and as many sessions. A span takes some 300 bytes
	Keep  time.Duration // how long it holds them
}

// Index holds spans by session and thread. Any number of goroutines may use it.
type Index struct {
	keys   compiledKeys
	limits Limits

	mu       sync.Mutex
	sessions map[Session]*session
	recent   list.List // the sessions, the one that was touched last in front
	nodes    map[spanKey]*node
	waiting  map[spanKey][]orphan // by the segment they wait for, by arrival
	tenant   string               // the last one that was copied: most spans have that of the span before

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
		keys: compile(keys), limits: limits,
		sessions: map[Session]*session{}, nodes: map[spanKey]*node{}, waiting: map[spanKey][]orphan{},
	}
}

// SpanStats counts what became of spans.
type SpanStats struct {
	Indexed    int64 // by session and thread, once for each way to state the session
	Waiting    int64 // for their segment; counted once more when it comes
	NoSession  int64 // not stated, nor by the segment
	Duplicates int64 // there already
	Unusable   int64 // without ids
	Late       int64 // of those indexed, began before the end of a profile of their session that had been linked by then
	Evicted    int64 // left because the index was full
	Expired    int64 // left because of their age
}

func (s SpanStats) since(before SpanStats) SpanStats {
	return SpanStats{
		s.Indexed - before.Indexed, s.Waiting - before.Waiting, s.NoSession - before.NoSession, s.Duplicates - before.Duplicates,
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
	}
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
	if s.Tenant != x.tenant {
		x.tenant = strings.Clone(s.Tenant)
	}
	key := spanKey{x.tenant, s.Trace, s.ID}
	isSegment := s.Segment == s.ID
	if !isSegment && !s.Segment.IsEmpty() && (len(s.Sessions) == 0 || s.Thread == "") {
		above := x.nodes[key.inTrace(s.Segment)]
		if above == nil {
			x.wait(key, s, now)
			return
		}
		s.Sessions, s.Thread = above.complete(s.Sessions, s.Thread)
	}
	if len(s.Sessions) == 0 {
		x.stats.NoSession++
		if isSegment {
			x.hold(key, s, nil, now) // its children need not wait
		}
	} else {
		x.place(key, s, now)
	}
	x.endWait(key, now)
}

// place puts a span on the thread it ran on.
func (x *Index) place(key spanKey, s Span, now time.Time) {
	for _, session := range s.Sessions {
		l := x.lane(session, s.Thread, now)
		if i := x.hold(key, s, l, now); i != nil {
			x.indexed(i)
		} else {
			l.dropIfEmpty()
		}
	}
}

// indexed counts a span that has come onto its thread.
func (x *Index) indexed(i *interval) {
	x.stats.Indexed++
	if i.start < i.lane.session.linkedUpTo {
		x.stats.Late++
	}
}

// hold makes a span a part of the index, on a thread unless l is nil. The answer is nil if it is a part already.
func (x *Index) hold(key spanKey, s Span, l *lane, now time.Time) *interval {
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
	i := &interval{node: n, start: s.Start, end: s.End, lane: l, arrived: x.since(now), sibling: n.intervals}
	n.intervals = i
	if x.newest == nil {
		x.oldest = i
	} else {
		x.newest.next = i
	}
	x.newest = i
	x.held++
	if l != nil {
		l.add(i)
	}
	for x.held > x.limits.Spans {
		x.stats.Evicted++
		x.drop(lostEvicted)
	}
	return i
}

// expire drops what arrived too long ago.
func (x *Index) expire(now time.Time) {
	latest := x.since(now) - x.limits.Keep
	for x.oldest != nil && x.oldest.arrived < latest {
		x.stats.Expired++
		x.drop(lostExpired)
	}
	for s := x.leastRecent(); s != nil && s.touched < latest && len(s.lanes) == 0; s = x.leastRecent() {
		x.forget(s)
	}
}

// drop lets go of the span that arrived first.
func (x *Index) drop(why lostKind) {
	i := x.oldest
	x.oldest = i.next
	if x.oldest == nil {
		x.newest = nil
	}
	x.held--
	if i.gone {
		return
	}
	x.remove(i)
	if i.lane != nil {
		i.lane.session.lost[why].add(i.start, i.end)
		i.lane.remove()
	} else if i.waitsFor != (pcommon.SpanID{}) {
		x.dropOrphan(i)
	}
}

// remove makes a span unknown to others. Its place in the queue stays until it is the first.
func (x *Index) remove(i *interval) {
	i.gone = true
	if i.node.remove(i) {
		delete(x.nodes, i.node.spanKey)
	}
}

// since is the time of an arrival, from the first on.
func (x *Index) since(now time.Time) time.Duration {
	if x.began.IsZero() {
		x.began = now
	}
	return now.Sub(x.began)
}
