// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"iter"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// interval is the time that a span ran on one track. It has 56 bytes and no pointers, because an
// index may hold millions.
//
// A span may arrive twice: after a retry, or in two formats during the upgrade of an application.
// It then has one interval per distinct time and track, all with the same parent and segment.
type interval struct {
	id, parent   pcommon.SpanID
	start, end   uint64
	segment      segmentRef
	track        trackRef // none while it waits for its segment, and for segments without a session
	arrived      arrival
	sibling      intervalRef // a circular list of the intervals of the span, from newer to older; none if there is only one
	older, newer intervalRef // neighbors in its share, by arrival
}

// intervalRef refers to an interval of an index.
type intervalRef int32

// maxIntervals is the maximum per span: two formats, each with a retry that states different times.
const maxIntervals = 4

// segment is a segment of a trace; most spans share theirs with others. For spans without a
// segment, it is the trace.
type segment struct {
	spanKey
	intervals int32 // that refer to it
}

type segmentRef int32

// spanKey identifies a span.
type spanKey struct {
	trace  pcommon.TraceID
	id     pcommon.SpanID
	tenant tenantRef
}

// inTrace returns the key of another span of the trace.
func (k spanKey) inTrace(id pcommon.SpanID) spanKey { return spanKey{k.trace, id, k.tenant} }

// hashSeed is random, because clients choose span IDs.
var hashSeed = maphash.MakeSeed()

func (k *spanKey) hash() uint64 {
	var text [len(k.trace) + len(k.id) + 4]byte
	copy(text[:], k.trace[:])
	copy(text[len(k.trace):], k.id[:])
	binary.NativeEndian.PutUint32(text[len(k.trace)+len(k.id):], uint32(k.tenant))
	return maphash.Bytes(hashSeed, text[:])
}

// arrival is the time since the first arrival, in tenths of a second. The lowest bit is the kind of
// the span.
type arrival uint32

const arrivalUnit = time.Second / 10

func newArrival(at time.Duration, k kind) arrival {
	return arrival(max(0, at)/arrivalUnit)<<1 | arrival(k)
}

// before reports whether the arrival was definitely before a time.
func (a arrival) before(at time.Duration) bool { return time.Duration(a>>1+1)*arrivalUnit <= at }

func (a arrival) kind() kind { return kind(a & 1) }

// key returns the key of the span that an interval belongs to.
func (x *Index) key(i *interval) spanKey { return x.segments.At(i.segment).inTrace(i.id) }

// span returns the newest interval of a span, or none.
func (x *Index) span(key spanKey) intervalRef { return x.findSpan(&key, key.hash()) }

func (x *Index) findSpan(key *spanKey, hash uint64) intervalRef {
	return x.spans.Find(hash, func(r intervalRef) bool {
		i := x.intervals.At(r)
		if i.id != key.id {
			return false
		}
		s := x.segments.At(i.segment)
		return s.trace == key.trace && s.tenant == key.tenant
	})
}

// addSegment returns the reference of a segment for a new interval.
func (x *Index) addSegment(key spanKey) segmentRef {
	if last := x.lastSegment; last != 0 && x.segments.At(last).spanKey == key { // consecutive spans mostly share a segment
		x.segments.At(last).intervals++
		return last
	}
	hash := key.hash()
	r := x.bySegment.Find(hash, func(r segmentRef) bool { return x.segments.At(r).spanKey == key })
	if r == 0 {
		r = x.segments.Alloc()
		x.segments.At(r).spanKey = key
		x.bySegment.Add(hash, r)
		x.changeSegments(key.tenant, 1)
	}
	x.segments.At(r).intervals++
	x.lastSegment = r
	return r
}

// removeSegment releases the reference of an interval to its segment.
func (x *Index) removeSegment(r segmentRef) {
	s := x.segments.At(r)
	if s.intervals--; s.intervals == 0 {
		x.bySegment.Remove(s.hash(), r)
		x.changeSegments(s.tenant, -1)
		x.segments.Release(r)
		x.lastSegment = 0
	}
}

// siblings visits all intervals of a span, newest first.
func (x *Index) siblings(newest intervalRef) iter.Seq[*interval] {
	return func(yield func(*interval) bool) {
		for r := newest; r != 0; {
			i := x.intervals.At(r)
			if !yield(i) {
				return
			}
			if r = i.sibling; r == newest {
				return
			}
		}
	}
}

// addSibling adds a new interval to a span. All intervals of the span get the same parent and
// segment, regardless of their order of arrival.
func (x *Index) addSibling(r, newest intervalRef) {
	added, last := x.intervals.At(r), x.intervals.At(newest)
	for last.sibling != 0 && last.sibling != newest {
		last = x.intervals.At(last.sibling)
	}
	last.sibling, added.sibling = r, newest

	parent, segment := x.intervals.At(newest).parent, x.segments.At(x.intervals.At(newest).segment).spanKey
	if bytes.Compare(added.parent[:], parent[:]) > 0 {
		parent = added.parent
	}
	if other := x.segments.At(added.segment).spanKey; bytes.Compare(other.id[:], segment.id[:]) > 0 {
		segment = other
	}
	for i := range x.siblings(r) {
		i.parent = parent
		before := i.segment
		i.segment = x.addSegment(segment)
		x.removeSegment(before)
	}
}

// removeSibling removes an interval from a span that has others.
func (x *Index) removeSibling(r intervalRef) {
	removed := x.intervals.At(r)
	next := removed.sibling
	before := x.intervals.At(next)
	for before.sibling != r {
		before = x.intervals.At(before.sibling)
	}
	if before.sibling = next; x.intervals.At(next) == before {
		before.sibling = 0 // the only one left
	}
	key := x.key(removed)
	if hash := key.hash(); x.findSpan(&key, hash) == r {
		x.spans.Replace(hash, r, next)
	}
}

// first returns the same interval for all intervals of a span.
func (x *Index) first(r intervalRef) intervalRef {
	first := r
	for at := x.intervals.At(r).sibling; at != 0 && at != r; at = x.intervals.At(at).sibling {
		first = min(first, at)
	}
	return first
}

// contains reports whether a span already has the interval, or has the maximum number of intervals.
func (x *Index) contains(span intervalRef, start, end uint64, l trackRef) bool {
	count := 0
	for i := range x.siblings(span) {
		if i.start == start && i.end == end && i.track == l {
			return true
		}
		count++
	}
	return count >= maxIntervals
}

// completeChild returns the session and the thread of a child of this segment. The child inherits
// values that it does not state.
func (x *Index) completeChild(segment intervalRef, sessions []Session, thread string) ([]Session, string) {
	stated := len(sessions) > 0
	for i := range x.siblings(segment) {
		if i.track == 0 {
			continue
		}
		l := x.tracks.At(i.track)
		if !stated {
			sessions = append(sessions, l.session.Session)
		}
		if thread == "" {
			thread = l.thread
		}
	}
	return sessions, thread
}
