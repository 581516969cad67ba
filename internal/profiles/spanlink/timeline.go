// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// timeline is which span had a thread, at the instants from the first to the last observation of a place.
type timeline struct {
	pieces []piece // by time; the first begins before all

	// Where to look: that time is cut into cells of 2^shift nanoseconds, hardly more than two for each piece. At the begin of cell
	// i there is piece cells[i].
	first uint64
	shift uint8
	cells []int32
}

// piece is a time in which that does not change, up to the next piece. The last has no end.
type piece struct {
	from  uint64
	span  int32 // number in the forest, or none
	vague bool  // the candidates have nothing in common; the span, if there is one, is a guess
}

// run is a time that a span ran.
type run struct {
	start, end uint64
	span       int32
}

// at is the piece of an instant, and the last instant of that piece.
func (l *timeline) at(instant uint64) (p piece, last uint64) {
	cell := (instant - l.first) >> (l.shift & 63)
	low, high := l.cells[cell], l.cells[cell+1]
	for low < high { // the pieces that begin in the cell: mostly none or one, but all of them may
		if middle := (low + high + 1) / 2; l.pieces[middle].from <= instant {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if next := int(low) + 1; next < len(l.pieces) {
		return l.pieces[low], l.pieces[next].from - 1
	}
	return l.pieces[low], math.MaxUint64
}

// timelines makes those of a profile. Its memory is theirs until the next profile.
type timelines struct {
	running
	pieces []piece
	cells  []int32
}

func (m *timelines) begin() { m.pieces, m.cells = m.pieces[:0], m.cells[:0] }

// make gives the timeline of runs, for the instants from first to last.
func (m *timelines) make(f *forest, runs []run, policy Policy, first, last uint64) timeline {
	pieces := m.sweep(f, runs, policy)
	shift := uint8(bits.Len64((last - first) / uint64(2*len(pieces)))) // 63 at most
	count := int((last-first)>>shift) + 1
	m.cells = slices.Grow(m.cells, count+1)
	begin, at := len(m.cells), 0
	for cell := range count {
		for start := first + uint64(cell)<<shift; at+1 < len(pieces) && pieces[at+1].from <= start; at++ {
		}
		m.cells = append(m.cells, int32(at))
	}
	m.cells = append(m.cells, int32(len(pieces)-1))
	return timeline{pieces, first, shift, m.cells[begin:]}
}

// sweep applies the rule of the package. It goes through the starts and ends of the runs in order. Of those that are running
// it needs to know which span is the first from below and which the last from above: all others are between them, so what is
// above these two is above all.
func (m *timelines) sweep(f *forest, runs []run, policy Policy) []piece {
	slices.SortFunc(runs, f.compareRuns)
	begin := len(m.pieces)
	m.pieces = append(slices.Grow(m.pieces, 2*len(runs)+1), piece{span: none}) // one for each start and end
	w := &m.running
	w.begin(f, runs, policy)
	for started := 0; started < len(runs) || len(w.ends) > 0; {
		if len(w.ends) > 0 {
			w.now = w.ends[0].key
		}
		if started < len(runs) && (len(w.ends) == 0 || runs[started].start < w.now) {
			w.now = runs[started].start
		}
		w.end()
		for ; started < len(runs) && runs[started].start == w.now; started++ {
			w.start(int32(started))
		}
		span, vague := w.choose()
		if last := m.pieces[len(m.pieces)-1]; last.span != span || last.vague != vague {
			m.pieces = append(m.pieces, piece{w.now, span, vague})
		}
	}
	return m.pieces[begin:]
}

// compareRuns orders runs from outer to inner, as far as times tell.
func (f *forest) compareRuns(a, b run) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	if a.end != b.end {
		return cmp.Compare(b.end, a.end)
	}
	x, y := &f.trees[a.span], &f.trees[b.span]
	return cmp.Or(bytes.Compare(x.trace[:], y.trace[:]), bytes.Compare(x.id[:], y.id[:]))
}

// running are the spans that are running now.
type running struct {
	forest *forest
	runs   []run // sorted
	policy Policy
	now    uint64

	ends                       queue[uint64] // of the runs that are going on
	fromBelow, fromAbove, last queue[int32]
}

func (w *running) begin(f *forest, runs []run, policy Policy) {
	w.forest, w.runs, w.policy = f, runs, policy
	w.clear()
}

func (w *running) clear() {
	w.fromBelow, w.fromAbove, w.last = w.fromBelow[:0], w.fromAbove[:0], w.last[:0]
}

func (w *running) start(i int32) {
	r := &w.runs[i]
	w.ends.push(r.end, i)
	t := &w.forest.trees[r.span]
	if t.running++; t.running == 1 {
		w.fromBelow.push(t.post, r.span)
		w.fromAbove.push(-t.pre, r.span)
	}
	if w.policy == Innermost {
		w.last.push(-i, i)
	}
}

// end ends what ends now.
func (w *running) end() {
	for len(w.ends) > 0 && w.ends[0].key == w.now {
		w.forest.trees[w.runs[w.ends[0].value].span].running--
		w.ends.pop()
	}
	if len(w.ends) == 0 {
		w.clear()
	}
}

// choose applies the rule to one instant.
func (w *running) choose() (span int32, vague bool) {
	switch len(w.ends) {
	case 0:
		return none, false
	case 1:
		return w.runs[w.ends[0].value].span, false
	}
	lowest, rightmost := w.first(&w.fromBelow), w.first(&w.fromAbove)
	for climbed := 0; lowest != none && climbed < maxClimb; climbed++ {
		if t := &w.forest.trees[lowest]; t.running > 0 && w.forest.covers(lowest, rightmost) {
			return lowest, false
		}
		lowest = w.forest.trees[lowest].above
	}
	if w.policy != Innermost {
		return none, true
	}
	for w.runs[w.last[0].value].end <= w.now {
		w.last.pop()
	}
	return w.runs[w.last[0].value].span, true
}

// first gives the first of the spans in a queue that is running. What is over is taken out when it comes to be the first.
func (w *running) first(q *queue[int32]) int32 {
	for w.forest.trees[(*q)[0].value].running == 0 {
		q.pop()
	}
	return (*q)[0].value
}
