// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// An instant is found in its piece, however the pieces are spread, and wherever the observations begin and end.
func TestTimelineFindsPieces(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var m timelines
	for range 300 {
		var f forest
		var runs []run
		base, spread := r.Uint64(), uint64(1)<<r.IntN(64) // some instants pass the last that there is, and begin anew
		instant := func() uint64 { return base + r.Uint64N(spread) }
		for i := range r.Int32N(40) {
			a, b := instant(), instant()
			f.trees = append(f.trees, tree{id: spanID(uint64(i)), above: none})
			runs = append(runs, run{min(a, b), max(a, b) + 1, i})
		}
		f.number()
		instants := []uint64{instant(), 0, math.MaxUint64}[:1+r.IntN(3)]
		for range 50 {
			instants = append(instants, instant())
		}
		p := place{first: math.MaxUint64}
		for _, i := range instants {
			p.first, p.last = min(p.first, i), max(p.last, i)
		}
		m.begin()
		line := m.make(&f, runs, Skip, p.first, p.last)
		require.LessOrEqual(t, len(line.cells), 4*len(line.pieces)+2)
		for _, i := range instants {
			want := line.pieces[0]
			for _, piece := range line.pieces {
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

// A shift may bring some instants of a place before the first that there is.
func TestShiftBeyondTheFirstInstant(t *testing.T) {
	x := NewIndex(Sentry, Limits{Spans: 10, Keep: time.Hour})
	x.Add(each(on(1, 0, 0, 1e9)), start)
	stats := x.Link(benchProfile(benchThreads+1), Options{Now: start, Ambiguous: Skip, Shift: -1})
	require.Equal(t, int64(1), stats.Linked, "thread 0 has an observation at 0 and one later")
	require.Equal(t, int64(benchThreads), stats.Unlinked[NoSpan])
}
