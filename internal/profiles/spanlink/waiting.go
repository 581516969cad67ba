// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// orphan is a span that waits for its segment, and what it says itself.
type orphan struct {
	*interval
	segment      pcommon.SpanID
	sessions     []Session
	thread       string
	before, next *orphan // of those that wait for the segment, by arrival
}

// orphans wait for one segment.
type orphans struct{ first, last *orphan }

// size in memory, beside that of the span.
func (o *orphan) size() int64 {
	size := int64(orphanSize + len(o.thread))
	for i := range o.sessions {
		size += keySize + o.sessions[i].text()
	}
	return size
}

// wait holds a span whose segment has not come.
func (x *Index) wait(key spanKey, s Span, now time.Time) {
	i := x.hold(key, s, nil, stated, now)
	if i == nil {
		return
	}
	x.stats.Waiting++
	sessions := slices.Clone(s.Sessions)
	for i := range sessions {
		sessions[i] = sessions[i].in(key.tenant)
	}
	o := &orphan{interval: i, segment: s.Segment, sessions: sessions, thread: strings.Clone(s.Thread)}
	i.waits = o
	x.grow(i.share(), o.size())
	segment := key.inTrace(s.Segment)
	waiting := x.waiting[segment]
	o.before = waiting.last
	if waiting.last == nil {
		waiting.first = o
	} else {
		waiting.last.next = o
	}
	waiting.last = o
	x.waiting[segment] = waiting
}

// endWait places the spans that waited for this one.
func (x *Index) endWait(segment spanKey, now time.Time) {
	waiting, any := x.waiting[segment]
	if !any {
		return
	}
	delete(x.waiting, segment)
	for o := waiting.first; o != nil; o = o.next {
		o.waits = nil
		x.grow(o.share(), -o.size())
	}
	for o := waiting.first; o != nil; o = o.next {
		if above := x.nodes[segment]; above != nil {
			o.sessions, o.thread = above.complete(o.sessions, o.thread)
		}
		switch {
		case o.gone: // to make room for one of the others
		case len(o.sessions) == 0:
			x.stats.NoSession++
			x.remove(o.interval)
		default:
			x.adopt(o, now)
			x.makeRoom()
		}
	}
}

// adopt puts an orphan on the thread it ran on.
func (x *Index) adopt(o *orphan, now time.Time) {
	l := x.lane(o.sessions[0], o.thread, now)
	x.move(o.interval, l.session.kind())
	o.lane = l
	o.lane.add(o.interval)
	x.indexed(o.interval)
	s := Span{Sessions: o.sessions[1:], Thread: o.thread, Start: o.start, End: o.end, Parent: o.node.parent, Segment: o.node.segment}
	x.place(o.node.spanKey, s, now)
}

// dropOrphan ends the wait of a span that leaves.
func (x *Index) dropOrphan(o *orphan) {
	x.grow(o.share(), -o.size())
	o.waits = nil
	segment := o.node.inTrace(o.segment)
	waiting := x.waiting[segment]
	if o.before == nil {
		waiting.first = o.next
	} else {
		o.before.next = o.next
	}
	if o.next == nil {
		waiting.last = o.before
	} else {
		o.next.before = o.before
	}
	if waiting.first == nil {
		delete(x.waiting, segment)
	} else {
		x.waiting[segment] = waiting
	}
}
