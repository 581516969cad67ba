// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink/records"
)

// intervalTree has the intervals of a track, ordered by start. It is a B+ tree: leaves contain
// references to intervals, and inner pages state the latest end of each page below, so that a query
// skips pages that end before its range. In a sorted list, spans that ended long ago, but that
// contain each other, would be visited one by one.
//
// Adding, removing and finding an interval visit O(log n) entries, regardless of nesting.
type intervalTree struct {
	root    treeEntry
	count   int
	visited int // entries and intervals, by add and remove
}

// intervals are the intervals of an index.
type intervals = records.Slab[intervalRef, interval]

// pageSize is the maximum number of references or entries of a page. A reference in a full page
// uses 5.1 bytes.
const pageSize = 64

type treePage struct {
	refs  []intervalRef // of a leaf
	below []treeEntry   // of an inner page
}

// treeEntry is a page with a summary of its content.
type treeEntry struct {
	first treeKey // not greater than the lowest key of the page
	end   uint64  // latest end of all intervals below
	treePage
}

// treeKey is the order of intervals. The reference makes it unique, because very many intervals may
// start at the same instant.
type treeKey struct {
	start uint64
	ref   intervalRef
}

func keyOf(all *intervals, r intervalRef) treeKey { return treeKey{all.At(r).start, r} }

func (k treeKey) less(other treeKey) bool {
	return k.start < other.start || k.start == other.start && k.ref < other.ref
}

func (p *treePage) isLeaf() bool { return p.below == nil }

func (p *treePage) len() int { return len(p.refs) + len(p.below) }

// add adds an interval.
func (t *intervalTree) add(all *intervals, r intervalRef) {
	if t.count++; t.count == 1 {
		t.root.first = keyOf(all, r)
	}
	if right := t.addBelow(all, &t.root, keyOf(all, r)); right.len() > 0 {
		root := treeEntry{treePage: treePage{below: []treeEntry{t.root, right}}}
		t.summarize(all, &root)
		t.root = root
	}
}

// remove removes an interval, whose record must still exist.
func (t *intervalTree) remove(all *intervals, r intervalRef) {
	t.removeBelow(all, &t.root, keyOf(all, r))
	for len(t.root.below) == 1 {
		t.root = t.root.below[0]
	}
	if t.count--; t.count == 0 {
		t.root = treeEntry{}
	}
}

// addBelow adds an interval below an entry. If the page was full, it returns a new entry that
// follows this one.
func (t *intervalTree) addBelow(all *intervals, e *treeEntry, k treeKey) (right treeEntry) {
	t.visited++
	if k.less(e.first) {
		e.first = k
	}
	e.end = max(e.end, all.At(k.ref).end)
	p := &e.treePage
	if p.isLeaf() {
		at := p.leafPosition(all, k)
		if len(p.refs) < pageSize {
			p.refs = slices.Insert(p.refs, at, k.ref)
			return treeEntry{}
		}
		right.refs = splitAt(&p.refs, at, k.ref)
	} else {
		at := p.child(k)
		split := t.addBelow(all, &p.below[at], k)
		if split.len() == 0 {
			return treeEntry{}
		}
		if len(p.below) < pageSize {
			p.below = slices.Insert(p.below, at+1, split)
			return treeEntry{}
		}
		right.below = splitAt(&p.below, at+1, split)
	}
	t.summarize(all, e)
	t.summarize(all, &right)
	return right
}

// splitAt inserts a value into a full list, and moves the upper part of the list to a new one. Most
// spans arrive by time: an insertion at the end leaves the full list as it is.
func splitAt[T any](list *[]T, at int, value T) []T {
	if at == pageSize {
		return append(make([]T, 0, pageSize/4), value)
	}
	const half = pageSize / 2
	upper := append(make([]T, 0, pageSize), (*list)[half:]...)
	clear((*list)[half:])
	*list = (*list)[:half]
	if at <= half {
		*list = slices.Insert(*list, at, value)
	} else {
		upper = slices.Insert(upper, at-half, value)
	}
	return upper
}

// summarize computes the summary of an entry from its page.
func (t *intervalTree) summarize(all *intervals, e *treeEntry) {
	t.visited += e.len()
	e.end = 0
	if e.isLeaf() {
		e.first = keyOf(all, e.refs[0])
		for _, r := range e.refs {
			e.end = max(e.end, all.At(r).end)
		}
		return
	}
	e.first = e.below[0].first
	for i := range e.below {
		e.end = max(e.end, e.below[i].end)
	}
}

// leafPosition returns the position of a key in a leaf, or the position where it would be.
func (p *treePage) leafPosition(all *intervals, k treeKey) int {
	low, high := 0, len(p.refs)
	if high > 0 && keyOf(all, p.refs[high-1]).less(k) { // most spans arrive by time
		return high
	}
	for low < high {
		if middle := (low + high) / 2; keyOf(all, p.refs[middle]).less(k) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low
}

// child returns the position of the entry that a key belongs to.
func (p *treePage) child(k treeKey) int {
	low, high := 0, len(p.below)-1
	for low < high {
		if middle := (low + high + 1) / 2; k.less(p.below[middle].first) {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low
}

// removeBelow removes an interval below an entry, whose page may be empty afterwards.
func (t *intervalTree) removeBelow(all *intervals, e *treeEntry, k treeKey) {
	t.visited++
	p := &e.treePage
	if p.isLeaf() {
		at := p.leafPosition(all, k)
		p.refs = shrunk(slices.Delete(p.refs, at, at+1))
	} else {
		at := p.child(k)
		t.removeBelow(all, &p.below[at], k)
		t.join(all, p, at)
	}
	if p.len() > 0 && all.At(k.ref).end == e.end {
		first := e.first
		t.summarize(all, e)
		e.first = first
	}
}

// join removes an empty page, or joins a small page with a neighbor, so that few spans do not keep
// many pages.
func (t *intervalTree) join(all *intervals, p *treePage, at int) {
	if p.below[at].len() == 0 {
		p.below = slices.Delete(p.below, at, at+1)
		return
	}
	if at == len(p.below)-1 {
		at--
	}
	if at < 0 || p.below[at].len()+p.below[at+1].len() > pageSize/2 {
		return
	}
	left, right := &p.below[at], &p.below[at+1]
	left.refs, left.below = append(left.refs, right.refs...), append(left.below, right.below...)
	p.below = slices.Delete(p.below, at+1, at+2)
	t.summarize(all, &p.below[at])
}

// shrunk returns the list without most of its unused memory.
func shrunk(list []intervalRef) []intervalRef {
	if 4*len(list) <= cap(list) && cap(list) > 4 {
		return append(make([]intervalRef, 0, 2*len(list)), list...)
	}
	return list
}

// window is a part of the time range of a query.
type window struct {
	from, to uint64
	found    []intervalRef // that overlap it, by start
	atStart  int           // number of them that contain its start
	visited  int           // entries and intervals
}

// find finds the intervals that overlap the window, by start. If there are very many, it moves the
// end of the window, so that about enough intervals are found, because a query must not hold the
// lock for long. The next window finds those that contain its start again; therefore, at most half
// of the intervals of a window do. find fails if it visits more than maxVisited, or if more than
// maxConcurrent intervals contain the start.
func (w *window) find(all *intervals, t *intervalTree, enough, maxVisited int) (ok bool) {
	w.found, w.atStart, w.visited = w.found[:0], 0, 0
	return t.count == 0 || w.search(all, &t.root, enough, maxVisited)
}

func (w *window) search(all *intervals, e *treeEntry, enough, maxVisited int) (ok bool) {
	if w.visited++; w.visited > maxVisited {
		return false
	}
	if e.end <= w.from || e.first.start >= w.to {
		return true
	}
	for i := range e.below {
		if !w.search(all, &e.below[i], enough, maxVisited) {
			return false
		}
	}
	for _, r := range e.refs {
		i := all.At(r)
		w.visited++
		if i.start >= w.to {
			return true
		}
		if i.end <= w.from || i.start == i.end { // a span of zero length covers no instant
			continue
		}
		if i.start <= w.from {
			if w.atStart++; w.atStart > maxConcurrent {
				return false
			}
		} else if n := len(w.found); n >= max(enough, 2*w.atStart) && i.start > all.At(w.found[n-1]).start {
			w.to = i.start
			return true
		}
		w.found = append(w.found, r)
	}
	return true
}
