// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"bytes"
	"iter"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// spanTable finds the intervals of spans by key. The intervals of a span form a circular list, and
// all have the same parent and segment. The table refers to the newest one. A segment exists while
// intervals refer to it.
type spanTable struct {
	intervals intervals
	newest    *records.Table[intervalRef]
	segments  records.Slab[segmentRef, segment]
	bySegment *records.Table[segmentRef]

	lastSegment segmentRef // the last one that was added or found
}

// maxIntervals is the maximum per span: two formats, each with a retry that states different times.
const maxIntervals = 4

func newSpanTable() *spanTable {
	t := &spanTable{}
	t.newest = records.NewTable(func(r intervalRef) uint64 {
		key := t.key(t.intervals.At(r))
		return key.hash()
	})
	t.bySegment = records.NewTable(func(r segmentRef) uint64 { return t.segments.At(r).hash() })
	return t
}

// key returns the key of the span that an interval belongs to.
func (t *spanTable) key(i *interval) spanKey { return t.segments.At(i.segment).inTrace(i.id) }

// find returns the newest interval of a span, or none.
func (t *spanTable) find(key spanKey) intervalRef { return t.findHashed(&key, key.hash()) }

func (t *spanTable) findHashed(key *spanKey, hash uint64) intervalRef {
	return t.newest.Find(hash, func(r intervalRef) bool {
		i := t.intervals.At(r)
		if i.id != key.id {
			return false
		}
		s := t.segments.At(i.segment)
		return s.trace == key.trace && s.tenant == key.tenant
	})
}

// add adds an interval of a span, in a segment of its trace. It returns none if the span already
// has the interval.
func (t *spanTable) add(key *spanKey, segment pcommon.SpanID, i interval) intervalRef {
	hash := key.hash()
	newest := t.findHashed(key, hash)
	if t.contains(newest, &i) {
		return 0
	}
	i.segment = t.addSegment(key.inTrace(segment))
	r := t.intervals.Alloc()
	*t.intervals.At(r) = i
	t.intervals.visited++
	if newest == 0 {
		t.newest.Add(hash, r)
	} else {
		t.addSibling(r, newest)
		t.newest.Replace(hash, newest, r)
	}
	return r
}

// remove removes an interval of a span.
func (t *spanTable) remove(r intervalRef) {
	i := t.intervals.At(r)
	if i.sibling != 0 {
		t.removeSibling(r)
	} else {
		key := t.key(i)
		t.newest.Remove(key.hash(), r)
	}
	t.removeSegment(i.segment)
	t.intervals.visited++
	t.intervals.Release(r)
}

// contains reports whether a span already has the interval, or has the maximum number of intervals.
func (t *spanTable) contains(span intervalRef, new *interval) bool {
	count := 0
	for i := range t.siblings(span) {
		if i.start == new.start && i.end == new.end && i.track == new.track {
			return true
		}
		count++
	}
	return count >= maxIntervals
}

// addSegment returns the reference of a segment for a new interval.
func (t *spanTable) addSegment(key spanKey) segmentRef {
	if last := t.lastSegment; last != 0 && t.segments.At(last).spanKey == key { // consecutive spans mostly share a segment
		t.segments.At(last).intervals++
		return last
	}
	hash := key.hash()
	r := t.bySegment.Find(hash, func(r segmentRef) bool { return t.segments.At(r).spanKey == key })
	if r == 0 {
		r = t.segments.Alloc()
		t.segments.At(r).spanKey = key
		t.bySegment.Add(hash, r)
	}
	t.segments.At(r).intervals++
	t.lastSegment = r
	return r
}

// removeSegment releases the reference of an interval to its segment.
func (t *spanTable) removeSegment(r segmentRef) {
	s := t.segments.At(r)
	if s.intervals--; s.intervals == 0 {
		t.bySegment.Remove(s.hash(), r)
		t.segments.Release(r)
		t.lastSegment = 0
	}
}

// siblings visits all intervals of a span, newest first.
func (t *spanTable) siblings(newest intervalRef) iter.Seq[*interval] {
	return func(yield func(*interval) bool) {
		for r := newest; r != 0; {
			i := t.intervals.At(r)
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
func (t *spanTable) addSibling(r, newest intervalRef) {
	added, last := t.intervals.At(r), t.intervals.At(newest)
	for last.sibling != 0 && last.sibling != newest {
		last = t.intervals.At(last.sibling)
	}
	last.sibling, added.sibling = r, newest

	parent, segment := t.intervals.At(newest).parent, t.segments.At(t.intervals.At(newest).segment).spanKey
	if bytes.Compare(added.parent[:], parent[:]) > 0 {
		parent = added.parent
	}
	if other := t.segments.At(added.segment).spanKey; bytes.Compare(other.id[:], segment.id[:]) > 0 {
		segment = other
	}
	for i := range t.siblings(r) {
		i.parent = parent
		before := i.segment
		i.segment = t.addSegment(segment)
		t.removeSegment(before)
	}
}

// removeSibling removes an interval from a span that has others.
func (t *spanTable) removeSibling(r intervalRef) {
	removed := t.intervals.At(r)
	next := removed.sibling
	before := t.intervals.At(next)
	for before.sibling != r {
		before = t.intervals.At(before.sibling)
	}
	if before.sibling = next; t.intervals.At(next) == before {
		before.sibling = 0 // the only one left
	}
	key := t.key(removed)
	if hash := key.hash(); t.findHashed(&key, hash) == r {
		t.newest.Replace(hash, r, next)
	}
}
