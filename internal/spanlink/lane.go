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
	latestEnd []uint64 // of intervals[0] to intervals[i]
	live      int
}

func (l *lane) add(i *interval) {
	l.intervals = append(l.intervals, i)
	l.live++
}

// remove says that one of the intervals is gone.
func (l *lane) remove() {
	l.live--
	l.dropIfEmpty()
	if l.live < len(l.intervals)/2 {
		l.sweep()
	}
}

func (l *lane) dropIfEmpty() {
	if l.live == 0 {
		delete(l.session.lanes, l.thread)
	}
}

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
	l.latestEnd = l.latestEnd[:0]
}

// overlapping appends the intervals that share time with [from, to).
func (l *lane) overlapping(from, to uint64, found []*interval) []*interval {
	l.sort()
	for at := l.firstFrom(to) - 1; at >= 0 && l.latestEnd[at] > from; at-- {
		if i := l.intervals[at]; i.end > from && !i.gone {
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

// sort brings what has arrived since the last time into order. That is mostly behind all that was there.
func (l *lane) sort() {
	if arrived := l.intervals[l.sorted:]; len(arrived) > 0 {
		slices.SortFunc(arrived, byStart)
		from := l.firstFrom(arrived[0].start)
		merged := merge(l.intervals[from:l.sorted], arrived)
		l.intervals = append(l.intervals[:from], merged...)
		l.sorted = len(l.intervals)
		l.latestEnd = l.latestEnd[:min(from, len(l.latestEnd))]
	}
	for at := len(l.latestEnd); at < len(l.intervals); at++ {
		end := l.intervals[at].end
		if at > 0 {
			end = max(end, l.latestEnd[at-1])
		}
		l.latestEnd = append(l.latestEnd, end)
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
