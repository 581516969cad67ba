// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// track has the spans of one thread of a session.
type track struct {
	ref       trackRef
	session   *session
	thread    string
	intervals []intervalRef // the first `sorted` by start, the others by arrival; some may be removed
	sorted    int
	endsLater []int32 // position of the last interval before intervals[i] that ends later, or none
	live      int
}

type trackRef int32

func (t *track) add(r intervalRef) {
	t.intervals = append(t.intervals, r)
	t.live++
}

// maxRemoved: one in maxRemoved intervals of a track may have been removed from the index. The
// track keeps their records until it drops them together.
const maxRemoved = 8

// removeFromTrack records that an interval of a track was removed from the index. It removes the
// track with its last interval.
func (x *Index) removeFromTrack(t *track) {
	t.live--
	if maxRemoved*(len(t.intervals)-t.live) > len(t.intervals) {
		t.sweep(&x.intervals)
	}
	x.dropTrack(t)
}

// size returns the memory that the track uses, without its spans.
func (t *track) size() int64 { return int64(trackSize + len(t.thread)) }

// intervals are the intervals of an index.
type intervals = records.Slab[intervalRef, interval]

// sweep drops the intervals that were removed from the index.
func (t *track) sweep(all *intervals) {
	kept := t.intervals[:0]
	sorted := 0
	for at, r := range t.intervals {
		if all.At(r).isRemoved() {
			all.Release(r)
			continue
		}
		kept = append(kept, r)
		if at < t.sorted {
			sorted++
		}
	}
	t.intervals, t.sorted = kept, sorted
	if 4*len(kept) < cap(kept) {
		t.intervals, t.endsLater = slices.Clone(kept), nil
	}
	t.endsLater = t.endsLater[:0]
}

// overlapping appends the intervals that overlap [from, to): first the sorted ones, by descending
// start, then the others. From an interval that ends before the range, it jumps to the last earlier
// interval that ends later, because all intervals in between also end before the range. In a span
// of an hour that contains a hundred thousand spans, this skips nearly all of them.
func (t *track) overlapping(all *intervals, from, to uint64, found []intervalRef) []intervalRef {
	t.sort(all)
	for at := int32(t.firstFrom(all, to) - 1); at >= 0; {
		i := all.At(t.intervals[at])
		if i.end <= from {
			at = t.endsLater[at]
			continue
		}
		if !i.isRemoved() && i.start < i.end { // a span of zero length covers no instant
			found = append(found, t.intervals[at])
		}
		at--
	}
	for _, r := range t.intervals[t.sorted:] {
		if i := all.At(r); i.start < to && i.end > from && !i.isRemoved() && i.start < i.end {
			found = append(found, r)
		}
	}
	return found
}

// firstFrom returns the position of the first sorted interval that starts at the instant or later.
func (t *track) firstFrom(all *intervals, instant uint64) int {
	at, _ := slices.BinarySearchFunc(t.intervals[:t.sorted], instant, func(r intervalRef, t uint64) int { return cmp.Compare(all.At(r).start, t) })
	return at
}

// maxMoved is the maximum number of sorted intervals that may move per new interval. Otherwise, a
// span that belongs before a hundred thousand others would move all of them, again with each
// profile.
const maxMoved = 16

// sort merges the new intervals into the sorted ones. Most belong at the end. If a few belong
// before many others, they stay unsorted and are searched one by one.
func (t *track) sort(all *intervals) {
	byStart := func(a, b intervalRef) int { return cmp.Compare(all.At(a).start, all.At(b).start) }
	if arrived := t.intervals[t.sorted:]; len(arrived) > 0 {
		from := t.firstFrom(all, all.At(slices.MinFunc(arrived, byStart)).start)
		if t.sorted-from <= maxMoved*len(arrived) {
			slices.SortFunc(arrived, byStart)
			merged := merge(t.intervals[from:t.sorted], arrived, byStart)
			t.intervals = append(t.intervals[:from], merged...)
			t.sorted = len(t.intervals)
			t.endsLater = t.endsLater[:min(from, len(t.endsLater))]
		}
	}
	for at := len(t.endsLater); at < t.sorted; at++ {
		before := int32(at - 1)
		for end := all.At(t.intervals[at]).end; before >= 0 && all.At(t.intervals[before]).end <= end; {
			before = t.endsLater[before]
		}
		t.endsLater = append(t.endsLater, before)
	}
}

// merge returns the sorted union of two sorted lists.
func merge[T any](a, b []T, compare func(T, T) int) []T {
	merged := make([]T, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if compare(a[0], b[0]) <= 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}
