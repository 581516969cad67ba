// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// orphan is a span that waits for its segment, with the values that it states itself.
type orphan struct {
	*interval
	segment    pcommon.SpanID
	sessions   []Session
	thread     string
	prev, next *orphan // of the orphans of the segment, by arrival
}

// orphans wait for one segment.
type orphans struct{ first, last *orphan }

// size returns the memory that the orphan uses, besides its span.
func (o *orphan) size() int64 {
	size := int64(orphanSize + len(o.thread))
	for i := range o.sessions {
		size += keySize + o.sessions[i].textSize()
	}
	return size
}

// awaitSegment adds a span whose segment has not arrived.
func (x *Index) awaitSegment(key spanKey, s Span, now time.Time) {
	i := x.insert(key, s, nil, stated, now)
	if i == nil {
		return
	}
	x.stats.Waiting++
	sessions := slices.Clone(s.Sessions)
	for i := range sessions {
		sessions[i] = sessions[i].cloneFor(key.tenant)
	}
	o := &orphan{interval: i, segment: s.Segment, sessions: sessions, thread: strings.Clone(s.Thread)}
	i.orphan = o
	x.changeSize(i.share(), o.size())
	segment := key.inTrace(s.Segment)
	waiting := x.waiting[segment]
	o.prev = waiting.last
	if waiting.last == nil {
		waiting.first = o
	} else {
		waiting.last.next = o
	}
	waiting.last = o
	x.waiting[segment] = waiting
}

// resolveWaiting adds the spans that waited for this segment to their tracks.
func (x *Index) resolveWaiting(segment spanKey, now time.Time) {
	waiting, any := x.waiting[segment]
	if !any {
		return
	}
	delete(x.waiting, segment)
	for o := waiting.first; o != nil; o = o.next {
		o.orphan = nil
		x.changeSize(o.share(), -o.size())
	}
	for o := waiting.first; o != nil; o = o.next {
		if parent := x.spans[segment]; parent != nil {
			o.sessions, o.thread = parent.completeChild(o.sessions, o.thread)
		}
		switch {
		case o.removed: // evicted for one of the others
		case len(o.sessions) == 0:
			x.stats.NoSession++
			x.remove(o.interval)
		default:
			x.adopt(o, now)
			x.enforceLimits()
		}
	}
}

// adopt moves an orphan to its tracks.
func (x *Index) adopt(o *orphan, now time.Time) {
	l := x.track(o.sessions[0], o.thread, now)
	x.setKind(o.interval, l.session.kind())
	o.track = l
	o.track.add(o.interval)
	x.countIndexed(o.interval)
	s := Span{Sessions: o.sessions[1:], Thread: o.thread, Start: o.start, End: o.end, Parent: o.span.parent, Segment: o.span.segment}
	x.addToTracks(o.span.spanKey, s, now)
}

// removeOrphan ends the wait of a span that is removed.
func (x *Index) removeOrphan(o *orphan) {
	x.changeSize(o.share(), -o.size())
	o.orphan = nil
	segment := o.span.inTrace(o.segment)
	waiting := x.waiting[segment]
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
		delete(x.waiting, segment)
	} else {
		x.waiting[segment] = waiting
	}
}
