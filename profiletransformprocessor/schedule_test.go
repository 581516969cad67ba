// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

func heldOf(sender string, due time.Time) *heldMessage {
	return &heldMessage{tenant: spanlink.Tenant{Authenticated: sender}, nextAttempt: due}
}

// A sender with a thousand due messages, each of which is expensive, does not delay the messages of
// another sender, whether that one has sent few or many.
func TestExpensiveSenderDelaysOnlyItself(t *testing.T) {
	var s schedule
	now := time.Now()
	for range 1000 {
		s.add(heldOf("expensive", now))
	}
	pop := func() string {
		h := s.first(now)
		s.remove(h)
		work := int64(1)
		if h.tenant.Authenticated == "expensive" {
			work = 50_000
		}
		s.workDone(h.tenant.Authenticated, work)
		return h.tenant.Authenticated
	}
	for range 10 {
		assert.Equal(t, "expensive", pop())
	}
	for range 20 { // one at a time
		now = now.Add(time.Second)
		s.add(heldOf("cheap", now))
		order := []string{pop(), pop()}
		assert.Contains(t, order, "cheap")
	}
	for range 500 { // many
		s.add(heldOf("cheap", now))
	}
	others := 0
	for range 500 + 2 {
		if pop() == "expensive" {
			others++
		}
	}
	assert.LessOrEqual(t, others, 2)
	assert.Equal(t, "expensive", pop(), "then it continues")
}

// Messages of one sender are in the order of their attempts, and none is early or lost.
func TestScheduleAgainstList(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var s schedule
	began := time.Now()
	at := func(i int) time.Time { return began.Add(time.Duration(i) * time.Second) }
	var all []*heldMessage
	for i := range 3000 {
		now := at(i)
		switch r.IntN(4) {
		case 0, 1:
			h := heldOf([]string{"a", "b", "c"}[r.IntN(3)], at(i+r.IntN(50)))
			s.add(h)
			all = append(all, h)
		case 2:
			if len(all) > 0 {
				h := all[r.IntN(len(all))]
				h.nextAttempt = at(i + r.IntN(50) - 25)
				s.moved(h)
			}
		default:
			h := s.first(now)
			if len(all) == 0 {
				require.Nil(t, h)
				continue
			}
			for _, other := range all {
				if other.tenant == h.tenant || h.nextAttempt.After(now) {
					require.False(t, other.nextAttempt.Before(h.nextAttempt))
				}
			}
			s.remove(h)
			s.workDone(h.tenant.Authenticated, r.Int64N(10))
			for j := range all {
				if all[j] == h {
					all = append(all[:j], all[j+1:]...)
					break
				}
			}
		}
		require.Equal(t, len(all), s.len())
	}
}
