// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An instant is found in its section, for any distribution of sections and any range of
// observations.
func TestTimelineFindsPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m timelineBuilder
	for range 300 {
		var f spanTree
		var runs []spanRun
		base, spread := r.Uint64(), uint64(1)<<r.IntN(64) // some instants overflow and wrap around
		instant := func() uint64 { return base + r.Uint64N(spread) }
		for i := range r.Int32N(40) {
			a, b := instant(), instant()
			f.nodes = append(f.nodes, treeNode{id: spanID(uint64(i)), parent: none})
			runs = append(runs, spanRun{min(a, b), max(a, b) + 1, i})
		}
		f.assignOrder()
		instants := []uint64{instant(), 0, math.MaxUint64}[:1+r.IntN(3)]
		for range 50 {
			instants = append(instants, instant())
		}
		p := sampleTrack{first: math.MaxUint64}
		for _, i := range instants {
			p.first, p.last = min(p.first, i), max(p.last, i)
		}
		m.reset()
		m.begin()
		for from, end := p.first, max(p.last, p.last+1); from < end || from == p.first; { // in random windows
			to := end
			if r.IntN(2) == 0 && from+1 < end {
				to = from + 1 + r.Uint64N(end-from-1)
			}
			var inWindow []spanRun
			for _, run := range runs {
				if run.start < to && run.end > from {
					inWindow = append(inWindow, run)
				}
			}
			for i := range f.nodes {
				f.nodes[i].running = 0
			}
			m.add(&f, inWindow, Skip, from, to, math.MaxInt)
			if from = to; to == end {
				break
			}
		}
		line := m.end(p.first, p.last)
		require.LessOrEqual(t, len(line.cells), 4*len(line.sections)+2)
		for _, i := range instants {
			want := line.sections[0]
			for _, piece := range line.sections {
				if piece.from <= i {
					want = piece
				}
			}
			got, last := line.at(i)
			require.Equal(t, want, got)
			require.LessOrEqual(t, i, last)
		}
	}
}

// With a shift, some instants of a track may precede the first timestamp.
func TestShiftBeyondTheFirstInstant(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 10, MaxAge: time.Hour})
	x.Add(each(on(1, 0, 0, 1e9)), start)
	stats := x.Link(benchProfile(benchThreads+1), Options{Now: start, Ambiguous: Skip, Shift: -1})
	require.Equal(t, int64(1), stats.Linked, "thread 0 has an observation at 0 and one later")
	require.Equal(t, int64(benchThreads), stats.Unlinked[NoSpan])
}
