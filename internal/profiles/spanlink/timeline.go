// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"bytes"
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// timeline states which span was running on a track at each instant, from the first to the last
// observation.
type timeline struct {
	sections []section // by time; the first starts before all observations

	// An index of the sections: the time range is divided into cells of 2^shift nanoseconds, about
	// two per section. Cell i starts in section cells[i].
	first uint64
	shift uint8
	cells []int32
}

// section is a range of time with one result. It ends where the next section starts; the last one
// has no end.
type section struct {
	from      uint64
	span      int32 // position in the span tree, or none
	ambiguous bool  // the candidates have no common ancestor; span is none or a guess
}

// spanRun is a time range in which a span ran on the track.
type spanRun struct {
	start, end uint64
	span       int32
}

// at returns the section of an instant and the last instant of that section.
func (l *timeline) at(instant uint64) (p section, last uint64) {
	cell := (instant - l.first) >> (l.shift & 63)
	low, high := l.cells[cell], l.cells[cell+1]
	for low < high { // sections that start in the cell: mostly none or one, but possibly all
		if middle := (low + high + 1) / 2; l.sections[middle].from <= instant {
			low = middle
		} else {
			high = middle - 1
		}
	}
	if next := int(low) + 1; next < len(l.sections) {
		return l.sections[low], l.sections[next].from - 1
	}
	return l.sections[low], math.MaxUint64
}

// timelineBuilder builds the timelines of a profile. They use its memory and are valid until the
// next profile.
type timelineBuilder struct {
	activeSpans
	sections []section
	first    int // section of the current timeline
	cells    []int32
}

func (b *timelineBuilder) reset() { b.sections, b.cells = b.sections[:0], b.cells[:0] }

// begin begins a timeline, which starts without a span. The caller adds its windows by time.
func (b *timelineBuilder) begin() {
	b.first = len(b.sections)
	b.sections = append(b.sections, section{span: none})
}

// end returns the timeline for the instants from first to last.
func (b *timelineBuilder) end(first, last uint64) timeline {
	sections := b.sections[b.first:]
	shift := uint8(bits.Len64((last - first) / uint64(2*len(sections)))) // 63 at most
	count := int((last-first)>>shift) + 1
	b.cells = slices.Grow(b.cells, count+1)
	begin, at := len(b.cells), 0
	for cell := range count {
		for start := first + uint64(cell)<<shift; at+1 < len(sections) && sections[at+1].from <= start; at++ {
		}
		b.cells = append(b.cells, int32(at))
	}
	b.cells = append(b.cells, int32(len(sections)-1))
	return timeline{sections, first, shift, b.cells[begin:]}
}

// add applies the rule of the package to a window, from one instant to another. It visits the
// starts and ends of the runs in order. It needs only two of the active spans, the first by post
// and the last by pre: the positions of all others lie between them, so a common ancestor of these
// two is a common ancestor of all. It returns the number of steps to ancestors, and stops early
// after maxSteps.
func (b *timelineBuilder) add(tree *spanTree, runs []spanRun, policy Policy, from, to uint64, maxSteps int) (steps int, until uint64) {
	b.sections = slices.Grow(b.sections, 2*len(runs)+1) // one per start and end
	w := &b.activeSpans
	w.reset(tree, runs, policy)
	slices.SortFunc(runs, w.compareRuns)
	w.now = from
	for started := 0; ; {
		for ; started < len(runs) && runs[started].start <= w.now; started++ {
			w.startRun(int32(started))
		}
		span, ambiguous := w.choose()
		if last := b.sections[len(b.sections)-1]; last.span != span || last.ambiguous != ambiguous {
			b.sections = append(b.sections, section{w.now, span, ambiguous})
		}
		if started == len(runs) && len(w.ends) == 0 {
			return w.steps, to
		}
		if len(w.ends) > 0 {
			w.now = w.ends[0].key
		}
		if started < len(runs) && (len(w.ends) == 0 || runs[started].start < w.now) {
			w.now = runs[started].start
		}
		if w.now >= to || w.steps > maxSteps {
			return w.steps, min(w.now, to)
		}
		w.endRuns()
	}
}

// addUnknown adds a section without a span.
func (b *timelineBuilder) addUnknown(from uint64) {
	b.sections = append(b.sections, section{from: from, span: none})
}

// compareRuns orders runs by start, outer spans before inner ones.
func (w *activeSpans) compareRuns(a, b spanRun) int {
	if a.start != b.start {
		return cmp.Compare(a.start, b.start)
	}
	if a.end != b.end {
		return cmp.Compare(b.end, a.end)
	}
	x, y := &w.tree.nodes[a.span], &w.tree.nodes[b.span]
	return cmp.Or(bytes.Compare(x.trace[:], y.trace[:]), bytes.Compare(x.id[:], y.id[:]))
}

// activeSpans are the spans that run at the current instant.
type activeSpans struct {
	tree   *spanTree
	runs   []spanRun // sorted
	policy Policy
	now    uint64
	steps  int // to ancestors

	ends                   priorityQueue[uint64] // the ends of the active runs
	byPost, byPre, byStart priorityQueue[int32]
}

func (w *activeSpans) reset(tree *spanTree, runs []spanRun, policy Policy) {
	w.tree, w.runs, w.policy, w.steps, w.ends = tree, runs, policy, 0, w.ends[:0]
	w.clear()
}

func (w *activeSpans) clear() {
	w.byPost, w.byPre, w.byStart = w.byPost[:0], w.byPre[:0], w.byStart[:0]
}

func (w *activeSpans) startRun(i int32) {
	r := &w.runs[i]
	w.ends.push(r.end, i)
	t := &w.tree.nodes[r.span]
	if t.running++; t.running == 1 {
		w.byPost.push(t.post, r.span)
		w.byPre.push(-t.pre, r.span)
	}
	if w.policy == Innermost {
		w.byStart.push(-i, i)
	}
}

// endRuns ends the runs that end now.
func (w *activeSpans) endRuns() {
	for len(w.ends) > 0 && w.ends[0].key == w.now {
		w.tree.nodes[w.runs[w.ends[0].value].span].running--
		w.ends.pop()
	}
	if len(w.ends) == 0 {
		w.clear()
	}
}

// choose applies the rule to the current instant.
func (w *activeSpans) choose() (span int32, vague bool) {
	switch len(w.ends) {
	case 0:
		return none, false
	case 1:
		return w.runs[w.ends[0].value].span, false
	}
	lowest, rightmost := w.firstRunning(&w.byPost), w.firstRunning(&w.byPre)
	for steps := 0; lowest != none && steps < maxAncestors; steps++ {
		if t := &w.tree.nodes[lowest]; t.running > 0 && w.tree.isAncestorOrSelf(lowest, rightmost) {
			return lowest, false
		}
		lowest = w.tree.nodes[lowest].parent
		w.steps++
	}
	if w.policy != Innermost {
		return none, true
	}
	for w.runs[w.byStart[0].value].end <= w.now {
		w.byStart.pop()
	}
	return w.runs[w.byStart[0].value].span, true
}

// firstRunning returns the first span of a queue that is still running. Spans that have ended are
// removed when they reach the front.
func (w *activeSpans) firstRunning(q *priorityQueue[int32]) int32 {
	for w.tree.nodes[(*q)[0].value].running == 0 {
		q.pop()
	}
	return (*q)[0].value
}
