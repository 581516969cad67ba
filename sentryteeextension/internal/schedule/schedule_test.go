// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// named is a request with a name.
type named struct {
	Request
	name string
}

func of(project, name string, at time.Time) *named {
	return &named{Request{Project: project, Received: at, Weight: 1}, name}
}

var start = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

// next returns the next request, which must exist.
func next(t *testing.T, s *Schedule[*named], now time.Time) *named {
	t.Helper()
	e, wait, ok := s.Next(now)
	require.True(t, ok, "wait %s", wait)
	return e
}

// addFailed adds requests that have failed a number of times, and returns the time when their
// pauses are over.
func addFailed(s *Schedule[*named], now time.Time, requests, times int) time.Time {
	for i := range requests {
		e := of("1", fmt.Sprint("bad", i), now)
		e.health.Failures = times
		s.Retry(e, now)
	}
	return now.Add(maxPause)
}

// TestFewestFailuresFirst: of the requests whose pause is over, the one with the fewest failures is
// sent, until it has failed as often as the others.
func TestFewestFailuresFirst(t *testing.T) {
	s := New[*named](Limits{Consumers: 64, DrainRate: 1e9, MaxAge: time.Hour * 100})
	addFailed(s, start, 20, 5)
	now := start.Add(maxPause)
	good := of("1", "good", now)
	good.health.Failures = 1
	s.Retry(good, now)
	for failures := 1; failures < 5; failures++ {
		now = now.Add(maxPause)
		require.Same(t, good, next(t, s, now), "after %d failures", failures)
		s.Failed(good, now)
		s.Retry(good, now)
	}
	assert.NotSame(t, good, next(t, s, now.Add(maxPause)))
}

// TestConsumersOfEachKind: whatever waits, new requests and drained requests each have a quarter of
// the consumers, and retries at most half of those of drained requests.
func TestConsumersOfEachKind(t *testing.T) {
	for _, consumers := range []int{1, 2, 3, 4, 5, 8, 64} {
		s := New[*named](Limits{Consumers: consumers, DrainRate: 1e9, MaxAge: time.Hour * 100})
		now := addFailed(s, start, 100, 1)
		for i := range 100 {
			s.Wait(of(fmt.Sprint(i), fmt.Sprint("waiting", i), now))
		}
		attempts := func() (n int) {
			for range consumers - s.UnderWay() {
				if _, _, ok := s.Next(now); ok {
					n++
				}
				now = now.Add(time.Microsecond)
			}
			return n
		}
		quarter := consumers / 4
		assert.Equal(t, consumers-quarter, attempts(), "without new requests")
		assert.LessOrEqual(t, s.underWay[fromAgain], (consumers-quarter+1)/2)
		for i := range 100 {
			s.Add(of(fmt.Sprint(i), fmt.Sprint("new", i), now))
		}
		assert.Equal(t, quarter, attempts(), "new requests")
		assert.Equal(t, quarter, s.underWay[fromFresh])

		s.underWay = [3]int{}
		assert.Equal(t, consumers, attempts(), "with all kinds")
		assert.Equal(t, quarter, s.underWay[fromWaiting]+s.underWay[fromAgain])
	}
}

// TestSilentServers: the servers of two projects never respond. Whatever kind of requests they
// have, requests of another project are sent at once, and most of the consumers are used.
func TestSilentServers(t *testing.T) {
	const consumers = 64
	kinds := map[string]func(*Schedule[*named], *named){
		"new": (*Schedule[*named]).Add, "waiting": (*Schedule[*named]).Wait, "failed": func(s *Schedule[*named], e *named) { s.Retry(e, start) },
	}
	for name, add := range kinds {
		s := New[*named](Limits{Consumers: consumers, DrainRate: 1e9, MaxAge: time.Hour})
		now := start.Add(maxPause)
		for _, silent := range []string{"silent", "silent too"} {
			for i := range 1000 {
				e := of(silent, fmt.Sprint(silent, i), now)
				add(s, e)
			}
			for ok := true; ok && s.UnderWay() < consumers; now = now.Add(time.Microsecond) {
				_, _, ok = s.Next(now)
			}
			if name != "failed" {
				assert.GreaterOrEqual(t, s.UnderWay(), consumers/2, name)
			}
		}
		for _, other := range []string{"other", "another"} {
			require.Less(t, s.UnderWay(), consumers, "%s: a free consumer", name)
			e := of(other, other, now)
			s.Add(e)
			require.Same(t, e, next(t, s, now), name)
			s.Replied(e)
			s.Wait(e)
			require.Same(t, e, next(t, s, now.Add(time.Microsecond)), "%s: drained", name)
			s.Replied(e)
			now = now.Add(time.Millisecond)
		}
	}
}

// TestProbes: after a restart, the oldest requests are those that Sentry refused before. The probes
// are the newest, of projects in turn.
func TestProbes(t *testing.T) {
	s := New[*named](Limits{Consumers: 4, DrainRate: 1e9, MaxAge: time.Hour})
	now := start
	for i := range 20 {
		s.Wait(of("1", fmt.Sprint("old", i), now))
	}
	for range tolerated {
		e := next(t, s, now)
		paused, _ := s.Failed(e, now)
		s.Retry(e, now)
		now = now.Add(time.Millisecond)
		require.Equal(t, s.Paused(), paused)
	}
	require.True(t, s.Paused())
	s.Wait(of("1", "newest of 1", now))
	s.Wait(of("2", "newest of 2", now))
	var probes []string
	for range 2 {
		_, wait, ok := s.Next(now)
		require.False(t, ok)
		now = now.Add(wait)
		probe := next(t, s, now)
		_, _, ok = s.Next(now)
		assert.False(t, ok, "one probe at a time")
		s.Failed(probe, now)
		s.Retry(probe, now)
		probes = append(probes, probe.name)
	}
	assert.ElementsMatch(t, []string{"newest of 1", "newest of 2"}, probes)
}

// TestPausesOfRetries: while there are only retries, their failures do not prolong the pause, which
// new requests must wait for.
func TestPausesOfRetries(t *testing.T) {
	s := New[*named](Limits{Consumers: 4, DrainRate: 1e9, MaxAge: time.Hour * 100})
	now := start
	for i := range tolerated {
		s.Add(of("1", fmt.Sprint("bad", i), now))
	}
	for end, failed := now.Add(time.Hour), false; now.Before(end) || !failed; {
		e, wait, ok := s.Next(now)
		if failed = ok; !ok {
			require.Positive(t, wait)
			now = now.Add(wait)
			continue
		}
		s.Failed(e, now)
		s.Retry(e, now)
	}
	s.Add(of("1", "new", now))
	_, wait, ok := s.Next(now)
	assert.False(t, ok)
	assert.LessOrEqual(t, wait, firstPause)
}

// TestScheduleKeepsAll: with random calls, each request is returned once, never more requests are
// being sent than there are consumers of a kind, and requests never fail to be sent in the end.
func TestScheduleKeepsAll(t *testing.T) {
	for seed := range uint64(100) {
		random := rand.New(rand.NewPCG(seed, 0))
		consumers := 1 + random.IntN(9)
		s := New[*named](Limits{Consumers: consumers, DrainRate: 1 + random.IntN(1000), MaxAge: 24 * time.Hour})
		now, added, gone := start, 0, map[string]bool{}
		var sending []*named
		end := func(e *named) {
			require.False(t, gone[e.name], "%s, seed %d", e.name, seed)
			gone[e.name] = true
		}
		for range 500 {
			now = now.Add(time.Duration(random.IntN(2000)) * time.Millisecond)
			switch random.IntN(8) {
			case 0, 1:
				s.Add(of(fmt.Sprint(random.IntN(3)), fmt.Sprint(added), now))
				added++
			case 2:
				s.Wait(of(fmt.Sprint(random.IntN(3)), fmt.Sprint(added), now))
				added++
			case 3:
				s.Park(func(*named) bool { return random.IntN(2) == 0 })
			case 4:
				if e, ok := s.Evict(func(*named) bool { return true }); ok && random.IntN(4) == 0 {
					end(e)
				} else if ok {
					s.Wait(e)
				}
			default:
				if e, _, ok := s.Next(now); ok && len(sending) < consumers {
					sending = append(sending, e)
				} else if ok {
					s.Unsent(e)
					s.Retry(e, now)
				}
			}
			for len(sending) > 0 && random.IntN(2) == 0 {
				e := sending[0]
				sending = sending[1:]
				if random.IntN(3) == 0 {
					s.Replied(e)
					s.Accepted()
					end(e)
				} else if _, exhausted := s.Failed(e, now); exhausted {
					end(e)
				} else {
					s.Retry(e, now)
				}
			}
			require.Equal(t, added-len(gone), s.Queued()+s.UnderWay(), "seed %d", seed)
		}
		for _, e := range sending {
			s.Replied(e)
			end(e)
		}
		for limit := now.Add(time.Hour); s.Queued() > 0; {
			require.True(t, now.Before(limit), "seed %d: %d left", seed, s.Queued())
			e, wait, ok := s.Next(now)
			if !ok {
				require.Positive(t, wait, "seed %d: nothing to wait for", seed)
				now = now.Add(wait)
				continue
			}
			s.Replied(e)
			end(e)
		}
		require.Len(t, gone, added)
	}
}
