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
	sessions []Session
	thread   string
}

// wait holds a span whose segment has not come.
func (x *Index) wait(key spanKey, s Span, now time.Time) {
	i := x.hold(key, s, nil, now)
	if i == nil {
		return
	}
	x.stats.Waiting++
	i.waitsFor = s.Segment
	segment := key.inTrace(s.Segment)
	sessions := slices.Clone(s.Sessions)
	for i := range sessions {
		sessions[i] = sessions[i].clone() // the message may have its texts in one piece, of which this would keep all
	}
	x.waiting[segment] = append(x.waiting[segment], orphan{i, sessions, strings.Clone(s.Thread)})
}

// endWait places the spans that waited for this one.
func (x *Index) endWait(segment spanKey, now time.Time) {
	orphans := x.waiting[segment]
	if orphans == nil {
		return
	}
	delete(x.waiting, segment)
	for _, o := range orphans {
		o.waitsFor = pcommon.SpanID{}
	}
	for _, o := range orphans {
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
		}
	}
}

// adopt puts an orphan on the thread it ran on.
func (x *Index) adopt(o orphan, now time.Time) {
	l := x.lane(o.sessions[0], o.thread, now)
	if o.gone { // to make room for the session
		l.dropIfEmpty()
		return
	}
	o.lane = l
	o.lane.add(o.interval)
	x.indexed(o.interval)
	s := Span{Sessions: o.sessions[1:], Thread: o.thread, Start: o.start, End: o.end, Parent: o.node.parent, Segment: o.node.segment}
	x.place(o.node.spanKey, s, now)
}

// dropOrphan ends the wait of a span that leaves. It is the first of those that wait for its segment: both go by arrival.
func (x *Index) dropOrphan(i *interval) {
	segment := i.node.inTrace(i.waitsFor)
	if rest := x.waiting[segment][1:]; len(rest) > 0 {
		x.waiting[segment] = rest
	} else {
		delete(x.waiting, segment)
	}
}
