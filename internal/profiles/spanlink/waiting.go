// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"
	"strings"
	"time"
)

// orphan is a span that waits for its segment, with its own values.
type orphan struct {
	interval   intervalRef
	segment    spanKey
	sessions   []Session
	thread     string
	prev, next *orphan // neighbors among the orphans of the segment, by arrival
}

// orphans are the spans that wait for one segment.
type orphans struct{ first, last *orphan }

// size returns the memory that the orphan uses in addition to its span.
func (o *orphan) size() int64 {
	size := int64(orphanSize + len(o.thread))
	for i := range o.sessions {
		size += keySize + o.sessions[i].textSize()
	}
	return size
}

// awaitSegment adds a span whose segment has not arrived.
func (x *Index) awaitSegment(key spanKey, s Span, now time.Time) {
	r := x.insert(key, s, 0, stated, now)
	if r == 0 {
		return
	}
	x.stats.Waiting++
	sessions := slices.Clone(s.Sessions)
	for i := range sessions {
		sessions[i] = sessions[i].cloneFor(*x.byTenant.At(key.tenant))
	}
	o := &orphan{interval: r, segment: key.inTrace(s.Segment), sessions: sessions, thread: strings.Clone(s.Thread)}
	x.orphans[r] = o
	x.changeSize(x.share(x.intervals.At(r)), o.size())
	waiting := x.waiting[o.segment]
	o.prev = waiting.last
	if waiting.last == nil {
		waiting.first = o
	} else {
		waiting.last.next = o
	}
	waiting.last = o
	x.waiting[o.segment] = waiting
}

// resolveWaiting moves spans that waited for a segment to their tracks, but at most maxHeld. It
// reports whether none are left. While the others wait for the next call, they and the segment can
// be evicted.
func (x *Index) resolveWaiting(segment spanKey, now time.Time) (done bool) {
	for range maxHeld {
		arrived, o := x.span(segment), x.waiting[segment].first
		if o == nil || arrived == 0 {
			return true
		}
		x.endWait(o.interval)
		o.sessions, o.thread = x.completeChild(arrived, o.sessions, o.thread)
		if len(o.sessions) > 0 {
			x.adopt(o, now)
			x.enforceLimits()
			continue
		}
		x.stats.NoSession++
		t := x.tenantOf(x.intervals.At(o.interval))
		x.remove(o.interval)
		x.dropTenant(t)
	}
	return false
}

// adopt moves an orphan to its tracks.
func (x *Index) adopt(o *orphan, now time.Time) {
	l := x.track(o.sessions[0], o.thread, now)
	x.setKind(o.interval, l.session.kind())
	i := x.intervals.At(o.interval)
	i.track = l.ref
	x.addToTrack(l, o.interval)
	s := Span{
		ID: i.id, Parent: i.parent, Segment: x.segments.At(i.segment).id, Start: i.start, End: i.end,
		Sessions: o.sessions[1:], Thread: o.thread,
	}
	x.addToTracks(x.key(i), s, now)
}

// endWait removes a span from its orphans, if it is one.
func (x *Index) endWait(r intervalRef) {
	o := x.orphans[r]
	if o == nil {
		return
	}
	delete(x.orphans, r)
	x.changeSize(x.share(x.intervals.At(r)), -o.size())
	waiting := x.waiting[o.segment]
	if o.prev == nil {
		waiting.first = o.next
	} else {
		o.prev.next = o.next
	}
	if o.next == nil {
		waiting.last = o.prev
	} else {
		o.next.prev = o.prev
	}
	if waiting.first == nil {
		delete(x.waiting, o.segment)
	} else {
		x.waiting[o.segment] = waiting
	}
}
