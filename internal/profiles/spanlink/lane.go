// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"cmp"
	"slices"
)

// lane has the spans of one thread.
type lane struct {
	session   *session
	thread    string
	intervals []*interval // the first `sorted` of them by start, the others by arrival; with some that are gone
	sorted    int
	longer    []int32 // position of the last one before intervals[i] that ends later, or none
	live      int
}

func (l *lane) add(i *interval) {
	l.intervals = append(l.intervals, i)
	l.live++
}

// remove says that one of the intervals is gone.
func (l *lane) remove() {
	l.live--
	if l.live < len(l.intervals)/2 {
		l.sweep()
	}
}

// size in memory, without its spans.
func (l *lane) size() int64 { return int64(laneSize + len(l.thread)) }

// sweep gets rid of what is gone.
func (l *lane) sweep() {
	kept := l.intervals[:0]
	sorted := 0
	for at, i := range l.intervals {
		if !i.gone {
			kept = append(kept, i)
			if at < l.sorted {
				sorted++
			}
		}
	}
	clear(l.intervals[len(kept):])
	l.intervals, l.sorted = kept, sorted
	l.longer = l.longer[:0]
}

// overlapping appends the intervals that share time with [from, to), the one that starts last first, but for those that are not
// sorted. What lies between one that is over by then and the last before it that ends later is over, too: under a span of an
// hour, with a hundred thousand in it, that is nearly all.
func (l *lane) overlapping(from, to uint64, found []*interval) []*interval {
	l.sort()
	for at := int32(l.firstFrom(to) - 1); at >= 0; {
		i := l.intervals[at]
		if i.end <= from {
			at = l.longer[at]
			continue
		}
		if !i.gone && i.start < i.end { // a span without length covers no instant
			found = append(found, i)
		}
		at--
	}
	for _, i := range l.intervals[l.sorted:] {
		if i.start < to && i.end > from && !i.gone && i.start < i.end {
			found = append(found, i)
		}
	}
	return found
}

// firstFrom is the position of the first sorted interval that starts at an instant or later.
func (l *lane) firstFrom(instant uint64) int {
	at, _ := slices.BinarySearchFunc(l.intervals[:l.sorted], instant, func(i *interval, t uint64) int { return cmp.Compare(i.start, t) })
	return at
}

// maxMoved is how many of the sorted intervals may be moved for each that has arrived. Else one span that begins before a hundred
// thousand others, with each profile, would move all of them for each.
const maxMoved = 16

// sort brings what has arrived since the last time into order. That is mostly behind all that was there. Few that come before
// many are left as they are, to be looked at one by one.
func (l *lane) sort() {
	if arrived := l.intervals[l.sorted:]; len(arrived) > 0 {
		from := l.firstFrom(slices.MinFunc(arrived, byStart).start)
		if l.sorted-from <= maxMoved*len(arrived) {
			slices.SortFunc(arrived, byStart)
			merged := merge(l.intervals[from:l.sorted], arrived)
			l.intervals = append(l.intervals[:from], merged...)
			l.sorted = len(l.intervals)
			l.longer = l.longer[:min(from, len(l.longer))]
		}
	}
	for at := len(l.longer); at < l.sorted; at++ {
		before := int32(at - 1)
		for before >= 0 && l.intervals[before].end <= l.intervals[at].end {
			before = l.longer[before]
		}
		l.longer = append(l.longer, before)
	}
}

func byStart(a, b *interval) int { return cmp.Compare(a.start, b.start) }

// merge makes one sorted list of two.
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
