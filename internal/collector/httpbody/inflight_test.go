// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newRoom(limit int64) *Room { return NewRoom(limit, func(context.Context, int64) {}) }

var claims atomic.Int64

// newClaim has a tenant of its own.
func newClaim(f *Room) *Claim { return claimOf(f, fmt.Sprint(claims.Add(1))) }

func claimOf(f *Room, tenant string) *Claim {
	c := f.Claim(context.Background())
	c.SetTenant(tenant)
	return c
}

// later runs acquire and waits until it is in the queue.
func later(t *testing.T, c *Claim, n int64) <-chan error {
	t.Helper()
	queued := func() int {
		c.room.mu.Lock()
		defer c.room.mu.Unlock()
		return len(c.room.queue)
	}
	before, done := queued(), make(chan error, 1)
	go func() { done <- c.Acquire(n) }()
	require.Eventually(t, func() bool { return queued() == before+1 }, 30*time.Second, time.Millisecond)
	return done
}

// Two bodies that are half inflated and both need more: one gives way at once.
func TestHalfInflatedBodiesDoNotBlockEachOther(t *testing.T) {
	f := newRoom(100)
	a, b := newClaim(f), newClaim(f)
	require.NoError(t, a.Acquire(50))
	require.NoError(t, b.Acquire(50))
	first := later(t, a, 50)
	begin := time.Now()
	assert.ErrorIs(t, b.Acquire(1), ErrNoRoom)
	assert.Less(t, time.Since(begin), maxWait/2, "there is nothing to wait for")
	b.Release()
	assert.NoError(t, <-first)
	a.Release()
	assert.Zero(t, f.used+int64(f.holders))
}

// A third that works on makes waiting worthwhile, until it too waits.
func TestWaitingForOneThatWorks(t *testing.T) {
	f := newRoom(100)
	a, b, working := newClaim(f), newClaim(f), newClaim(f)
	for c, n := range map[*Claim]int64{a: 40, b: 40, working: 20} {
		require.NoError(t, c.Acquire(n))
	}
	first, second := later(t, a, 20), later(t, b, 20)
	working.Keep(10)
	assert.Empty(t, first)
	working.Release()
	assert.NoError(t, <-first)
	assert.Empty(t, second)
	assert.ErrorIs(t, a.Acquire(1), ErrNoRoom, "now nobody works")
	a.Release()
	assert.NoError(t, <-second)
	b.Release()
	assert.Zero(t, f.used+int64(f.holders))
}

func TestNewcomersWaitBehindThoseUnderWay(t *testing.T) {
	f := newRoom(100)
	working, growing, newcomer := newClaim(f), newClaim(f), newClaim(f)
	require.NoError(t, working.Acquire(60))
	require.NoError(t, growing.Acquire(40))
	new := later(t, newcomer, 50)
	grown := later(t, growing, 40)
	working.Release()
	assert.NoError(t, <-grown)
	assert.Empty(t, new)
	growing.Release()
	assert.NoError(t, <-new)
}

func TestPatienceEnds(t *testing.T) {
	f := newRoom(100)
	holder, patient := newClaim(f), newClaim(f)
	require.NoError(t, holder.Acquire(100))
	begin := time.Now()
	assert.ErrorIs(t, patient.Acquire(1), ErrNoRoom)
	assert.GreaterOrEqual(t, time.Since(begin), maxWait)
	begin = time.Now()
	assert.ErrorIs(t, patient.Acquire(1), ErrNoRoom)
	assert.Less(t, time.Since(begin), maxWait/2, "all waits together")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	gone := f.Claim(ctx)
	assert.ErrorIs(t, gone.Acquire(1), context.Canceled)
	assert.Empty(t, f.queue)
}

// TestBytesInFlight: whatever many claims do at once, there are never more bytes than the limit, all come to an end, and
// everything is given back.
func TestBytesInFlight(t *testing.T) {
	const limit = 1000
	f := newRoom(limit)
	over, refused, served := false, 0, 0
	var mu sync.Mutex
	var all sync.WaitGroup
	for i := range 300 {
		random := rand.New(rand.NewPCG(1, uint64(i)))
		all.Go(func() {
			c := f.Claim(context.Background())
			defer c.Release()
			if i%2 == 0 {
				c.SetTenant(fmt.Sprint(i % 7))
			}
			for held := int64(0); held < limit/2; {
				n := 1 + random.Int64N(limit/4)
				if err := c.Acquire(n); err != nil {
					mu.Lock()
					defer mu.Unlock()
					refused++
					return
				}
				held += n
				if random.IntN(3) == 0 {
					c.give(n)
					held -= n
				}
				if random.IntN(8) == 0 {
					c.SetTenant(fmt.Sprint(random.IntN(7)))
				}
				f.mu.Lock()
				over = over || f.used > limit
				f.mu.Unlock()
				time.Sleep(100 * time.Microsecond) // so that the others come in between
			}
			mu.Lock()
			defer mu.Unlock()
			served++
		})
	}
	all.Wait()
	assert.False(t, over)
	assert.Zero(t, f.used+int64(f.holders+len(f.queue)))
	assert.Empty(t, f.tenants)
	assert.Equal(t, 300, refused+served)
	assert.Positive(t, served)
	t.Logf("%d served, %d refused", served, refused)
}

// TestTenantsShareTheRoom: one that has many requests leaves a fifth to the next, and does not get it back while that needs it.
func TestTenantsShareTheRoom(t *testing.T) {
	f := newRoom(100)
	var flood []*Claim
	for range 8 {
		flood = append(flood, claimOf(f, "flood"))
		require.NoError(t, flood[len(flood)-1].Acquire(10))
	}
	waits := later(t, claimOf(f, "flood"), 1)
	other := claimOf(f, "other")
	require.NoError(t, other.Acquire(15), "past those that wait")
	assert.Empty(t, waits, "more than four fifths")
	second := claimOf(f, "other")
	require.NoError(t, second.Acquire(1), "not above four times the rest")
	third := later(t, claimOf(f, "other"), 1)
	flood[0].Release()
	assert.NoError(t, <-third)
	assert.Empty(t, waits, "71 bytes are more than four times 12")
	other.Release()
	assert.NoError(t, <-waits)
}

// TestOnlyRequestOfItsTenant: it may have the whole room if that is empty, and what is left of it if it is not.
func TestOnlyRequestOfItsTenant(t *testing.T) {
	f := newRoom(100)
	large, small := newClaim(f), newClaim(f)
	require.NoError(t, large.Acquire(95))
	require.NoError(t, small.Acquire(5))
	waits := later(t, large, 5)
	small.Release()
	assert.NoError(t, <-waits)
}

// TestTenantStuckInItsShare: the requests of one tenant that all wait for each other end with the refusal of one, though others run.
func TestTenantStuckInItsShare(t *testing.T) {
	f := newRoom(100)
	running, a, b := newClaim(f), claimOf(f, "stuck"), claimOf(f, "stuck")
	require.NoError(t, running.Acquire(1))
	require.NoError(t, a.Acquire(39))
	require.NoError(t, b.Acquire(39))
	first := later(t, a, 10)
	begin := time.Now()
	assert.ErrorIs(t, b.Acquire(10), ErrNoRoom)
	assert.Less(t, time.Since(begin), maxWait/2)
	b.Release()
	assert.NoError(t, <-first)
}

// TestSetTenant: what a claim holds counts against the tenant that it is found to be of.
func TestSetTenant(t *testing.T) {
	f := newRoom(100)
	unknown := f.Claim(context.Background())
	require.NoError(t, unknown.Acquire(60))
	unknown.SetTenant("a")
	unknown.SetTenant("a")
	assert.EqualValues(t, 60, f.tenants["a"].used)
	assert.NotContains(t, f.tenants, "")
	waits := later(t, claimOf(f, "a"), 30)
	require.NoError(t, f.Claim(context.Background()).Acquire(20))
	unknown.SetTenant("b")
	assert.Empty(t, waits, "its tenant holds nothing any more, but there is no room")
	unknown.Release()
	assert.NoError(t, <-waits)
}
