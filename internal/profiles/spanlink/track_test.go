// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// trackOf is the only track of an index, for tests of it alone.
type trackOf struct {
	*Index
	*track
}

func newTrack() trackOf {
	x := NewIndex(Sentry, Limits{Spans: 1e6, MaxAge: time.Hour})
	return trackOf{x, x.track(sessionOf("session"), "0", start)}
}

// addSpan adds a span of its own.
func (l trackOf) addSpan(from, to uint64) intervalRef {
	s := Span{Trace: traceID(1), ID: spanID(rand.Uint64()), Start: from, End: to}
	r := l.insert(spanKey{s.Trace, s.ID, l.tenant("").ref}, s, l.ref, stated, start)
	l.track.add(r)
	return r
}

func (l trackOf) overlapping(from, to uint64) []intervalRef {
	return l.track.overlapping(&l.Index.intervals, from, to, nil)
}

// The intervals that overlap a range are found, in any order of arrival and at any positions.
func TestOverlapping(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		l := newTrack()
		l.addSpan(1e6, 1e6+1) // is never removed
		for range 8 {
			for range r.IntN(8) {
				from := r.Uint64N(30)
				l.addSpan(from, from+1+r.Uint64N(1<<r.IntN(5)))
			}
			for range r.IntN(3) {
				if i := l.track.intervals[r.IntN(len(l.track.intervals))]; !l.intervals().At(i).isRemoved() && l.intervals().At(i).start < 1e6 {
					l.remove(i)
				}
			}
			from := r.Uint64N(40)
			to := from + 1 + r.Uint64N(10)
			var want []intervalRef
			live := 0
			for _, ref := range l.track.intervals {
				if i := l.intervals().At(ref); !i.isRemoved() {
					live++
					if i.start < to && i.end > from {
						want = append(want, ref)
					}
				}
			}
			require.ElementsMatch(t, want, l.overlapping(from, to))
			require.Equal(t, l.live, live)
			require.Equal(t, len(l.track.intervals), l.intervals().Len(), "records of other tracks do not exist")
			require.LessOrEqual(t, maxRemoved*(len(l.track.intervals)-live), len(l.track.intervals))
		}
	}
}

func (l trackOf) intervals() *intervals { return &l.Index.intervals }

// A span that starts before very many others does not move all of them at the next lookup, and is
// found.
func TestFewBeforeMany(t *testing.T) {
	const n = 10 * maxMoved
	l := newTrack()
	for i := range uint64(n) {
		l.addSpan(10*i+100, 10*i+110)
	}
	require.Empty(t, l.overlapping(0, 10))
	early := l.addSpan(1, 2)
	require.Equal(t, []intervalRef{early}, l.overlapping(0, 10))
	require.Equal(t, n, l.sorted, "it alone is not")
	for range 10 {
		l.addSpan(1, 2)
	}
	require.Len(t, l.overlapping(0, 10), 11)
	require.Equal(t, n+11, l.sorted)
}

// Under a long span, earlier intervals are not visited one by one.
func TestOverlappingSkipsWhatIsOver(t *testing.T) {
	const n = 1000
	l := newTrack()
	l.addSpan(0, 10*n)
	for i := range uint64(n) {
		l.addSpan(10*i+1, 10*i+10)
	}
	require.Len(t, l.overlapping(10*n-5, 10*n), 2)
	require.Equal(t, int32(0), l.endsLater[n-1])
}
