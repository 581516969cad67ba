// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// The intervals that share time with another are found, however they arrive and lie.
func TestOverlapping(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		l := track{session: &session{tracks: map[string]*track{}}}
		for range 8 {
			for range r.IntN(8) {
				from := r.Uint64N(30)
				l.add(&interval{start: from, end: from + 1 + r.Uint64N(1<<r.IntN(5))})
			}
			if len(l.intervals) > 0 && r.IntN(2) == 0 {
				if i := l.intervals[r.IntN(len(l.intervals))]; !i.removed {
					i.removed = true
					l.remove()
				}
			}
			from := r.Uint64N(40)
			to := from + 1 + r.Uint64N(10)
			var want []*interval
			for _, i := range l.intervals {
				if i.start < to && i.end > from && !i.removed {
					want = append(want, i)
				}
			}
			require.ElementsMatch(t, want, l.overlapping(from, to, nil))
		}
	}
}

// A span that begins before very many others does not move them all when the track is next looked
// at, and it is found.
func TestFewBeforeMany(t *testing.T) {
	const n = 10 * maxMoved
	l := track{}
	for i := range uint64(n) {
		l.add(&interval{start: 10*i + 100, end: 10*i + 110})
	}
	require.Empty(t, l.overlapping(0, 10, nil))
	early := &interval{start: 1, end: 2}
	l.add(early)
	require.Equal(t, []*interval{early}, l.overlapping(0, 10, nil))
	require.Equal(t, n, l.sorted, "it alone is not")
	for range 10 {
		l.add(&interval{start: 1, end: 2})
	}
	require.Len(t, l.overlapping(0, 10, nil), 11)
	require.Equal(t, n+11, l.sorted)
}

// Under a long span, those that were over before are not looked at one by one.
func TestOverlappingSkipsWhatIsOver(t *testing.T) {
	const n = 1000
	l := track{}
	l.add(&interval{start: 0, end: 10 * n})
	for i := range uint64(n) {
		l.add(&interval{start: 10*i + 1, end: 10*i + 10})
	}
	require.Len(t, l.overlapping(10*n-5, 10*n, nil), 2)
	require.Equal(t, int32(0), l.endsLater[n-1])
}
