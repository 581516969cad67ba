// SPDX-License-Identifier: Apache-2.0

package httpbody

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newRoom(limit int64) *Budget { return NewBudget(limit, func(context.Context, int64) {}) }

var claims atomic.Int64

// newClaim returns a claim with its own tenant.
func newClaim(f *Budget) *Claim { return claimOf(f, fmt.Sprint(claims.Add(1))) }

func claimOf(f *Budget, tenant string) *Claim {
	c := f.Claim(context.Background())
	c.SetTenant(tenant)
	return c
}

// later starts an acquisition and waits until it is in the queue, in the bubble of a fake clock.
func later(t *testing.T, c *Claim, n int64) <-chan error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- c.Acquire(n) }()
	assertWaits(t, done)
	return done
}

// assertWaits asserts that an acquisition waits, after all goroutines have done what they can.
func assertWaits(t *testing.T, done <-chan error, why ...any) {
	t.Helper()
	synctest.Wait()
	assert.Empty(t, done, why...)
}

// TestDeadlock: of two half-decompressed bodies that need more memory, one fails at once.
func TestDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		a, b := newClaim(f), newClaim(f)
		require.NoError(t, a.Acquire(50))
		require.NoError(t, b.Acquire(50))
		first := later(t, a, 50)
		begin := time.Now()
		assert.ErrorIs(t, b.Acquire(1), ErrNoMemory)
		assert.Zero(t, time.Since(begin), "there is nothing to wait for")
		b.Release()
		assert.NoError(t, <-first)
		a.Release()
		assert.Zero(t, f.used+int64(f.holders))
	})
}

// TestNoDeadlock: they wait while a third request is running, until it waits as well.
func TestNoDeadlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		a, b, working := newClaim(f), newClaim(f), newClaim(f)
		for c, n := range map[*Claim]int64{a: 40, b: 40, working: 20} {
			require.NoError(t, c.Acquire(n))
		}
		first, second := later(t, a, 20), later(t, b, 20)
		working.ShrinkTo(10)
		assertWaits(t, first)
		working.Release()
		assert.NoError(t, <-first)
		assertWaits(t, second)
		assert.ErrorIs(t, a.Acquire(1), ErrNoMemory, "now nobody works")
		a.Release()
		assert.NoError(t, <-second)
		b.Release()
		assert.Zero(t, f.used+int64(f.holders))
	})
}

// TestTryDoesNotWait: a request that does not wait is not a part of a deadlock, so that no other
// one fails because of it.
func TestTryDoesNotWait(t *testing.T) {
	for name, try := range map[string]func(*Claim) error{
		"TryAcquire": func(c *Claim) error { return c.TryAcquire(50) },
		"NeverWait":  func(c *Claim) error { return c.NeverWait().Acquire(50) },
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newRoom(100)
			waiting, working := newClaim(f), newClaim(f)
			require.NoError(t, waiting.Acquire(45))
			require.NoError(t, working.Acquire(35))
			first := later(t, waiting, 50)
			assert.ErrorIs(t, try(working), ErrNoMemory, name)
			assertWaits(t, first, name)
			working.Release()
			assert.NoError(t, <-first, name)
			waiting.Release()
			assert.Zero(t, f.used+int64(f.holders)+int64(len(f.tenants)), name)
		})
	}
}

func TestHoldersPrecedeNewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		working, growing, newcomer := newClaim(f), newClaim(f), newClaim(f)
		require.NoError(t, working.Acquire(60))
		require.NoError(t, growing.Acquire(40))
		new := later(t, newcomer, 50)
		grown := later(t, growing, 40)
		working.Release()
		assert.NoError(t, <-grown)
		assertWaits(t, new)
		growing.Release()
		assert.NoError(t, <-new)
	})
}

func TestMaxWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		holder, patient := newClaim(f), newClaim(f)
		require.NoError(t, holder.Acquire(100))
		begin := time.Now()
		assert.ErrorIs(t, patient.Acquire(1), ErrNoMemory)
		assert.Equal(t, maxWait, time.Since(begin))
		begin = time.Now()
		assert.ErrorIs(t, patient.Acquire(1), ErrNoMemory)
		assert.Zero(t, time.Since(begin), "all waits together")

		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		gone := f.Claim(ctx)
		assert.ErrorIs(t, gone.Acquire(1), context.Canceled)
		assert.Empty(t, f.queue)
	})
}

// TestBytesInFlight runs many claims: they never exceed the limit, all finish, and all bytes are
// released.
func TestBytesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
						c.shrinkBy(n)
						held -= n
					}
					if random.IntN(8) == 0 {
						c.SetTenant(fmt.Sprint(random.IntN(7)))
					}
					f.mu.Lock()
					over = over || f.used > limit
					f.mu.Unlock()
					time.Sleep(100 * time.Microsecond) // so that others run in between
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
	})
}

// TestTenantsShareTheBudget: a tenant with many requests leaves a fifth to the next one, as long as
// that one needs it.
func TestTenantsShareTheBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		var flood []*Claim
		for range 8 {
			flood = append(flood, claimOf(f, "flood"))
			require.NoError(t, flood[len(flood)-1].Acquire(10))
		}
		waits := later(t, claimOf(f, "flood"), 1)
		other := claimOf(f, "other")
		require.NoError(t, other.Acquire(15), "past those that wait")
		assertWaits(t, waits, "more than four fifths")
		second := claimOf(f, "other")
		require.NoError(t, second.Acquire(1), "not above four times the rest")
		third := later(t, claimOf(f, "other"), 1)
		flood[0].Release()
		assert.NoError(t, <-third)
		assertWaits(t, waits, "71 bytes are more than four times 12")
		other.Release()
		assert.NoError(t, <-waits)
	})
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(900)
		claims := []*Claim{claimOf(f, "flood"), claimOf(f, "flood"), claimOf(f, "other"), claimOf(f, "other")}
		for round := range 400 { // the second claim of each, because a tenant with one may use all
			if round == 0 {
				require.NoError(t, claims[0].Acquire(1))
				require.NoError(t, claims[2].Acquire(1))
				continue
			}
			require.NoError(t, claims[1].Acquire(1))
			require.NoError(t, claims[3].Acquire(1))
		}
		first, second := later(t, claims[1], 1), later(t, claims[3], 1)
		assertWaits(t, first, "400 of 900 bytes are four ninths")
		assertWaits(t, second, "the same")
		assert.EqualValues(t, 800, f.Used())
		assert.ErrorIs(t, <-first, ErrNoMemory)
		assert.ErrorIs(t, <-second, ErrNoMemory)
	})
}

// TestOnlyRequestOfItsTenant: the only request of a tenant may use all free bytes.
func TestOnlyRequestOfItsTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		large, small := newClaim(f), newClaim(f)
		require.NoError(t, large.Acquire(95))
		require.NoError(t, small.Acquire(5))
		waits := later(t, large, 5)
		small.Release()
		assert.NoError(t, <-waits)
	})
}

// TestDeadlockOfATenant: if all requests of a tenant wait for each other, one is rejected, even
// while other tenants run.
func TestDeadlockOfATenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRoom(100)
		running, a, b := newClaim(f), claimOf(f, "stuck"), claimOf(f, "stuck")
		require.NoError(t, running.Acquire(1))
		require.NoError(t, a.Acquire(39))
		require.NoError(t, b.Acquire(39))
		first := later(t, a, 10)
		begin := time.Now()
		assert.ErrorIs(t, b.Acquire(10), ErrNoMemory)
		assert.Zero(t, time.Since(begin))
		b.Release()
		assert.NoError(t, <-first)
	})
}

// TestSetTenant: the bytes of a claim move to its new tenant.
func TestSetTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
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
		assertWaits(t, waits, "its tenant holds nothing any more, but there is no budget")
		unknown.Release()
		assert.NoError(t, <-waits)
	})
}

// TestNoLimit: with the largest limit, which users set for none, tenants have no threshold.
func TestNoLimit(t *testing.T) {
	room := newRoom(math.MaxInt64)
	for range 3 {
		require.NoError(t, room.Claim(t.Context()).TryAcquire(1<<20))
	}
}
