// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"slices"
	"sort"
)

// intervalTree has the intervals of a track, ordered by start. It is a B+ tree: leaves contain
// references to intervals, and inner pages state the latest end of each page below, so that a query
// skips pages that end before its range. In a sorted list, spans that ended long ago, but that
// contain each other, would be visited one by one.
//
// Adding, removing and finding an interval visit O(log n) entries, regardless of nesting.
type intervalTree struct {
	root  treeEntry
	count int
}

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
		root.summarize(all)
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
	all.visited++
	if k.less(e.first) {
		e.first = k
	}
	e.end = max(e.end, all.At(k.ref).end)
	p := &e.treePage
	at := p.position(all, k)
	if p.isLeaf() {
		if len(p.refs) < pageSize {
			p.refs = slices.Insert(p.refs, at, k.ref)
			return treeEntry{}
		}
		right.refs = splitAt(&p.refs, at, k.ref)
	} else {
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
	e.summarize(all)
	right.summarize(all)
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
func (e *treeEntry) summarize(all *intervals) {
	all.visited += e.len()
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

// position returns the position of a key in a leaf, where it is or would be, or else of the entry
// that it belongs to.
func (p *treePage) position(all *intervals, k treeKey) int {
	if !p.isLeaf() {
		return max(1, sort.Search(len(p.below), func(i int) bool { return k.less(p.below[i].first) })) - 1
	}
	if n := len(p.refs); n > 0 && keyOf(all, p.refs[n-1]).less(k) { // most spans arrive by time
		return n
	}
	return sort.Search(len(p.refs), func(i int) bool { return !keyOf(all, p.refs[i]).less(k) })
}

// removeBelow removes an interval below an entry, whose page may be empty afterwards.
func (t *intervalTree) removeBelow(all *intervals, e *treeEntry, k treeKey) {
	all.visited++
	p := &e.treePage
	at := p.position(all, k)
	if p.isLeaf() {
		p.refs = shrunk(slices.Delete(p.refs, at, at+1))
	} else {
		t.removeBelow(all, &p.below[at], k)
		t.join(all, p, at)
	}
	if p.len() > 0 && all.At(k.ref).end == e.end {
		first := e.first
		e.summarize(all)
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
	p.below[at].summarize(all)
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
	from, to  uint64
	next      treeKey       // the intervals before it were visited
	found     []intervalRef // of the last step, that overlap the window, by start
	count     int           // of the found intervals of all steps
	atStart   int           // number of them that contain the start of the window
	lastStart uint64        // of the last one
	visited   int           // entries and intervals in the last step
}

// find finds the next intervals that overlap the window, by start, until it has visited at least a
// number of entries. It reports whether it found all. If there are very many, it moves the end of
// the window, so that about enough intervals are found, which need memory. The next window finds
// those that contain its start again; therefore, at most half of the intervals of a window do.
func (w *window) find(all *intervals, t *intervalTree, enough, mostVisited int) (done bool) {
	w.found, w.visited = w.found[:0], 0
	done = t.count == 0 || w.search(all, &t.root, enough, mostVisited)
	all.visited += w.visited
	return done
}

func (w *window) search(all *intervals, e *treeEntry, enough, mostVisited int) (done bool) {
	w.visited++
	if e.end <= w.from || e.first.start >= w.to {
		return true
	}
	first := 0
	if e.first.less(w.next) {
		first = e.position(all, w.next)
	}
	for i := first; i < len(e.below); i++ {
		if !w.search(all, &e.below[i], enough, mostVisited) {
			return false
		}
	}
	for i := first; i < len(e.refs); i++ {
		r := e.refs[i]
		i := all.At(r)
		if i.start >= w.to {
			return true
		}
		w.visited++
		if i.end > w.from && i.start != i.end { // a span of zero length covers no instant
			if i.start <= w.from {
				w.atStart++
			} else if w.count >= max(enough, 2*w.atStart) && i.start > w.lastStart {
				w.to = i.start
				return true
			}
			w.found, w.lastStart = append(w.found, r), i.start
			w.count++
		}
		if w.visited >= mostVisited {
			w.next = treeKey{i.start, r + 1}
			return false
		}
	}
	return true
}
