package spanlink

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"
)

// timeline is which span had a thread, at any instant.
type timeline []piece

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

// newTimeline applies the rule of the package. It goes through the starts and ends of the runs in order. Of those that are
// running it needs to know which span is the first from below and which the last from above: all others are between them, so
// what is above these two is above all.
func newTimeline(f *forest, runs []run, policy Policy) timeline {
	slices.SortFunc(runs, f.compareRuns)
	ends := make([]int32, len(runs))
	for i := range ends {
		ends[i] = int32(i)
	}
	slices.SortFunc(ends, func(a, b int32) int { return cmp.Compare(runs[a].end, runs[b].end) })

	line := timeline{{span: none}}
	w := running{forest: f, runs: runs, policy: policy}
	for started, ended := 0, 0; ended < len(runs); {
		w.now = runs[ends[ended]].end
		if started < len(runs) {
			w.now = min(w.now, runs[started].start)
		}
		for ; ended < len(runs) && runs[ends[ended]].end == w.now; ended++ {
			w.end(ends[ended])
		}
		for ; started < len(runs) && runs[started].start == w.now; started++ {
			w.start(int32(started))
		}
		span, vague := w.choose()
		if last := line[len(line)-1]; last.span != span || last.vague != vague {
			line = append(line, piece{w.now, span, vague})
		}
	}
	return line
}

// compareRuns orders runs from outer to inner, as far as times tell.
func (f *forest) compareRuns(a, b run) int {
	if c := cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)); c != 0 {
		return c
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

	count                      int
	fromBelow, fromAbove, last queue
}

func (w *running) start(i int32) {
	span := w.runs[i].span
	w.count++
	t := &w.forest.trees[span]
	if t.running++; t.running == 1 {
		w.fromBelow.push(t.post, span)
		w.fromAbove.push(-t.pre, span)
	}
	if w.policy == Innermost {
		w.last.push(-i, i)
	}
}

func (w *running) end(i int32) {
	w.count--
	w.forest.trees[w.runs[i].span].running--
}

// choose applies the rule to one instant.
func (w *running) choose() (span int32, vague bool) {
	if w.count == 0 {
		return none, false
	}
	over := func(span int32) bool { return w.forest.trees[span].running == 0 }
	lowest, rightmost := w.fromBelow.first(over), w.fromAbove.first(over)
	for climbed := 0; lowest != none && climbed < maxClimb; climbed++ {
		if t := &w.forest.trees[lowest]; t.running > 0 && w.forest.covers(lowest, rightmost) {
			return lowest, false
		}
		lowest = w.forest.trees[lowest].above
	}
	if w.policy != Innermost {
		return none, true
	}
	last := w.last.first(func(i int32) bool { return w.runs[i].end <= w.now })
	return w.runs[last].span, true
}

// at is the piece of an instant. It is looked for from a piece on that was found before, for an earlier instant or the same.
func (l timeline) at(instant uint64, from int) int {
	if from+1 >= len(l) || instant < l[from+1].from {
		return from
	}
	step := 1
	for from+step < len(l) && l[from+step].from <= instant {
		from += step
		step *= 2
	}
	rest := l[from+1 : min(from+step, len(l))]
	return from + sort.Search(len(rest), func(i int) bool { return rest[i].from > instant })
}

// last is the last instant of a piece.
func (l timeline) last(at int) uint64 {
	if at+1 < len(l) {
		return l[at+1].from - 1
	}
	return math.MaxUint64
}

// queue gives the smallest of its keys. What is over is taken out when it comes to be the first.
type queue []queued

type queued struct{ key, value int32 }

func (q *queue) push(key, value int32) {
	*q = append(*q, queued{key, value})
	h := *q
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].key <= h[i].key {
			return
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
}

func (q *queue) pop() {
	h := *q
	last := len(h) - 1
	h[0] = h[last]
	h = h[:last]
	*q = h
	for i := 0; ; {
		down := 2*i + 1
		if down >= len(h) {
			return
		}
		if down+1 < len(h) && h[down+1].key < h[down].key {
			down++
		}
		if h[i].key <= h[down].key {
			return
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
}

// first gives the value of the smallest key, of those that are not over. There must be one.
func (q *queue) first(over func(value int32) bool) int32 {
	for over((*q)[0].value) {
		q.pop()
	}
	return (*q)[0].value
}
