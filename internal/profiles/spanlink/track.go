// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"cmp"
	"slices"
)

// track has the spans of one thread of a session.
type track struct {
	session   *session
	thread    string
	intervals []*interval // the first `sorted` by start, the others by arrival; some may be removed
	sorted    int
	endsLater []int32 // position of the last interval before intervals[i] that ends later than it, or none
	live      int
}

func (t *track) add(i *interval) {
	t.intervals = append(t.intervals, i)
	t.live++
}

// remove notes that one of the intervals was removed from the index.
func (t *track) remove() {
	t.live--
	if t.live < len(t.intervals)/2 {
		t.sweep()
	}
}

// size returns the memory that the track uses, without its spans.
func (t *track) size() int64 { return int64(trackSize + len(t.thread)) }

// sweep drops the intervals that were removed from the index.
func (t *track) sweep() {
	kept := t.intervals[:0]
	sorted := 0
	for at, i := range t.intervals {
		if !i.removed {
			kept = append(kept, i)
			if at < t.sorted {
				sorted++
			}
		}
	}
	clear(t.intervals[len(kept):])
	t.intervals, t.sorted = kept, sorted
	t.endsLater = t.endsLater[:0]
}

// overlapping appends the intervals that overlap [from, to): first the sorted ones, the latest
// start first, then the others. From an interval that ends before the range it jumps to the last
// earlier one that ends later, because all in between end before the range, too. Under a span of an
// hour with a hundred thousand spans in it, that skips nearly all of them.
func (t *track) overlapping(from, to uint64, found []*interval) []*interval {
	t.sort()
	for at := int32(t.firstFrom(to) - 1); at >= 0; {
		i := t.intervals[at]
		if i.end <= from {
			at = t.endsLater[at]
			continue
		}
		if !i.removed && i.start < i.end { // a span without length covers no instant
			found = append(found, i)
		}
		at--
	}
	for _, i := range t.intervals[t.sorted:] {
		if i.start < to && i.end > from && !i.removed && i.start < i.end {
			found = append(found, i)
		}
	}
	return found
}

// firstFrom returns the position of the first sorted interval that starts at the instant or later.
func (t *track) firstFrom(instant uint64) int {
	at, _ := slices.BinarySearchFunc(t.intervals[:t.sorted], instant, func(i *interval, t uint64) int { return cmp.Compare(i.start, t) })
	return at
}

// maxMoved is how many sorted intervals may move for each interval that arrived. Otherwise one span
// before a hundred thousand others, with each profile, would move all of them each time.
const maxMoved = 16

// sort merges the intervals that arrived since the last call into the sorted ones. They mostly
// belong behind all others. A few that belong before many stay unsorted and are searched one by
// one.
func (t *track) sort() {
	if arrived := t.intervals[t.sorted:]; len(arrived) > 0 {
		from := t.firstFrom(slices.MinFunc(arrived, byStart).start)
		if t.sorted-from <= maxMoved*len(arrived) {
			slices.SortFunc(arrived, byStart)
			merged := merge(t.intervals[from:t.sorted], arrived)
			t.intervals = append(t.intervals[:from], merged...)
			t.sorted = len(t.intervals)
			t.endsLater = t.endsLater[:min(from, len(t.endsLater))]
		}
	}
	for at := len(t.endsLater); at < t.sorted; at++ {
		before := int32(at - 1)
		for before >= 0 && t.intervals[before].end <= t.intervals[at].end {
			before = t.endsLater[before]
		}
		t.endsLater = append(t.endsLater, before)
	}
}

func byStart(a, b *interval) int { return cmp.Compare(a.start, b.start) }

// merge returns the sorted union of two sorted lists.
func merge(a, b []*interval) []*interval {
	merged := make([]*interval, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if byStart(a[0], b[0]) <= 0 {
			merged, a = append(merged, a[0]), a[1:]
		} else {
			merged, b = append(merged, b[0]), b[1:]
		}
	}
	return append(append(merged, a...), b...)
}
