// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// trackOf is the only track of a store, for tests of it alone.
type trackOf struct {
	store
	*track
	added int
}

func newTrack() *trackOf {
	x := newStore(Limits{Spans: 1e6, MaxAge: time.Hour})
	return &trackOf{store: x, track: x.sessions.track(sessionOf("session"), "0", 0)}
}

// addSpan adds a span of its own.
func (l *trackOf) addSpan(from, to uint64) intervalRef {
	l.added++
	s := Span{Trace: traceID(1), ID: spanID(uint64(l.added)), Start: from, End: to}
	r := l.insert(spanKey{s.Trace, s.ID, l.shares.tenant(Tenant{}).ref}, s, l.ref, stated, 0)
	l.track.intervals.add(l.intervals(), r)
	return r
}

// all returns the intervals of the track, in the order of the tree.
func (l *trackOf) all() (all []intervalRef) {
	var visit func(p *treePage)
	visit = func(p *treePage) {
		all = append(all, p.refs...)
		for i := range p.below {
			visit(&p.below[i].treePage)
		}
	}
	visit(&l.track.intervals.root.treePage)
	return all
}

// checkTree compares the summaries of all entries with their content.
func (l *trackOf) checkTree(t *testing.T, e *treeEntry, isRoot bool) (depth int) {
	t.Helper()
	require.LessOrEqual(t, e.len(), pageSize)
	require.True(t, isRoot || e.len() > 0)
	latest := uint64(0)
	for _, r := range e.refs {
		require.False(t, keyOf(l.intervals(), r).less(e.first))
		latest = max(latest, l.intervals().At(r).end)
	}
	for i := range e.below {
		below := &e.below[i]
		require.False(t, below.first.less(e.first))
		latest = max(latest, below.end)
		depth = l.checkTree(t, below, false)
	}
	require.Equal(t, latest, e.end)
	return depth + 1
}

func (l *trackOf) intervals() *intervals { return &l.spans.intervals }

// overlapping returns what a query finds, in windows and steps of about enough intervals.
func (l *trackOf) overlapping(t *testing.T, from, to uint64, enough int) (found []intervalRef, visited int) {
	t.Helper()
	w := window{from: from, to: to}
	for {
		done := w.find(l.intervals(), &l.track.intervals, enough, enough)
		visited += w.visited
		require.True(t, slices.IsSortedFunc(w.found, func(a, b intervalRef) int { return int(l.intervals().At(a).start) - int(l.intervals().At(b).start) }))
		for _, r := range w.found {
			i := l.intervals().At(r)
			require.Greater(t, i.end, w.from)
			require.Less(t, i.start, w.to)
			if !slices.Contains(found, r) {
				found = append(found, r)
			}
		}
		if done && w.to == to {
			return found, visited
		}
		if done {
			require.Greater(t, w.to, w.from)
			w = window{from: w.to, to: to}
		}
	}
}

// The intervals that overlap a range are found, in any order of arrival and removal, in one window
// or several.
func TestOverlapping(t *testing.T) {
	rounds, most := 30, 300
	if testsize.Full() {
		rounds, most = 100, 1500
	}
	r := rand.New(rand.NewPCG(5, 6))
	for round := range rounds {
		l := newTrack()
		last := l.addSpan(1e6, 1e6+1) // is never removed
		starts := uint64(1) << r.IntN(14)
		for range 8 {
			if r.IntN(2) == 0 {
				for range r.IntN(most) {
					from := r.Uint64N(starts)
					l.addSpan(from, from+r.Uint64N(1<<r.IntN(13)))
				}
			} else {
				for range r.IntN(most) {
					if all := l.all(); len(all) > 1 {
						if i := all[r.IntN(len(all))]; i != last {
							l.remove(i)
						}
					}
				}
			}
			all := l.all()
			l.checkTree(t, &l.track.intervals.root, true)
			require.Len(t, all, l.track.intervals.count)
			require.Equal(t, len(all), l.intervals().Len())
			require.True(t, slices.IsSortedFunc(all, func(a, b intervalRef) int {
				if keyOf(l.intervals(), a).less(keyOf(l.intervals(), b)) {
					return -1
				}
				return 1
			}))
			from := r.Uint64N(2 * starts)
			to := from + 1 + r.Uint64N(starts)
			var want []intervalRef
			for _, ref := range all {
				if i := l.intervals().At(ref); i.start < to && i.end > from && i.start < i.end {
					want = append(want, ref)
				}
			}
			got, _ := l.overlapping(t, from, to, [...]int{1, 10, math.MaxInt}[round%3])
			require.ElementsMatch(t, want, got)
		}
	}
}

// A query visits a number of entries that grows with the logarithm of the track, and with the
// number of spans that it finds, whatever their nesting.
func TestVisitedEntries(t *testing.T) {
	const instant = 1 << 40
	for name, c := range map[string]struct {
		span  func(i, n uint64) (from, to uint64) // of n
		found int                                 // at the instant
	}{
		"one after another":      {func(i, n uint64) (uint64, uint64) { return instant - 10*i, instant - 10*i + 5 }, 1},
		"nested, all have ended": {func(i, n uint64) (uint64, uint64) { return i, instant - i - 1 }, 0},
		"one long span":          {func(i, n uint64) (uint64, uint64) { return i, max(i+1, (n-1-i)/(n-1)*2*instant) }, 1},
		"same start":             {func(i, n uint64) (uint64, uint64) { return 1, i + 2 }, 0},
		"have not started":       {func(i, n uint64) (uint64, uint64) { return instant + 1 + i, 2 * instant }, 0},
		"backwards":              {func(i, n uint64) (uint64, uint64) { return n - i, n - i + 2 }, 0},
	} {
		visited := map[int]int{}
		for _, n := range []int{1 << 10, 1 << 15} {
			l := newTrack()
			for i := range uint64(n) {
				l.addSpan(c.span(i, uint64(n)))
			}
			found, count := l.overlapping(t, instant, instant+1, math.MaxInt)
			assert.Len(t, found, c.found, name)
			visited[n] = count
		}
		t.Log(name, visited)
		assert.LessOrEqual(t, visited[1<<15], visited[1<<10]+2*2*pageSize, "%s: at most two more levels", name)
	}
}
