// SPDX-License-Identifier: Apache-2.0

package dedup

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func idOf(tenant string, n byte) ID { return ID{Tenant: tenant, Value: [24]byte{n}} }

// accept makes an attempt that is accepted, and returns whether the ID was accepted before.
func accept(t *testing.T, w *Window, id ID) (seen bool) {
	t.Helper()
	a, err := w.Begin(t.Context(), []ID{id})
	require.NoError(t, err)
	require.NoError(t, a.Finish(t.Context(), All))
	return a.Seen[0]
}

// TestWindow: the window is bounded by number and by age.
func TestWindow(t *testing.T) {
	w := New(Config{MaxIDs: 2, MaxAge: time.Hour})
	now := time.Now()
	w.now = func() time.Time { return now }
	assert.False(t, accept(t, w, idOf("", 1)))
	assert.True(t, accept(t, w, idOf("", 1)))
	assert.False(t, accept(t, w, ID{Kind: "span", Value: [24]byte{1}}), "another kind")
	assert.False(t, accept(t, w, idOf("", 3)))
	assert.True(t, accept(t, w, idOf("", 3)))
	assert.False(t, accept(t, w, idOf("", 1)), "two are remembered")
	assert.Len(t, w.accepted, 2)
	assert.Zero(t, w.Pending())

	now = now.Add(time.Hour)
	assert.False(t, accept(t, w, idOf("", 3)), "expired")
	assert.Len(t, w.accepted, 1)
	assert.Equal(t, 1, w.order.Len())
	assert.EqualValues(t, 2, w.slots.count, "slots are used again")
}

// TestFairShares: a tenant with many IDs evicts its own.
func TestFairShares(t *testing.T) {
	w := New(Config{MaxIDs: 10, MaxAge: time.Hour})
	for n := range byte(5) {
		require.False(t, accept(t, w, idOf("quiet", n)))
	}
	for n := range byte(200) {
		require.False(t, accept(t, w, idOf("flood", n)))
	}
	for n := range byte(5) {
		assert.True(t, accept(t, w, idOf("quiet", n)), n)
	}
	assert.Len(t, w.accepted, 10)
	assert.True(t, accept(t, w, idOf("flood", 199)))
	assert.False(t, accept(t, w, idOf("flood", 100)))
}

// TestParts: parts add up until the data is complete, and only accepted data is remembered.
func TestParts(t *testing.T) {
	w := New(Config{MaxIDs: 2, MaxAge: time.Hour})
	for _, step := range []struct {
		accepted, before Parts
		seen             bool
	}{{0, 0, false}, {1, 0, false}, {2, 1, false}, {0, 3, false}, {All, 3, false}, {0, All, true}, {0, All, true}} {
		a, err := w.TryBegin(idOf("", 1))
		require.NoError(t, err)
		assert.Equal(t, step.before, a.Parts)
		assert.Equal(t, step.seen, a.Seen[0])
		require.NoError(t, a.Finish(t.Context(), step.accepted))
	}
	assert.Equal(t, 1, w.order.Len())
}

// TestPending: an attempt waits for others with one of its IDs, or fails, and the same ID twice
// counts once.
func TestPending(t *testing.T) {
	w := New(Config{MaxIDs: 10, MaxAge: time.Hour})
	first, err := w.Begin(t.Context(), []ID{idOf("", 1), idOf("", 2), idOf("", 1)})
	require.NoError(t, err)
	assert.Equal(t, []bool{false, false, true}, first.Seen)
	assert.Equal(t, 2, w.Pending())
	_, err = w.TryBegin(idOf("", 2))
	require.ErrorIs(t, err, ErrPending)
	gone, leave := context.WithCancel(t.Context())
	leave()
	_, err = w.Begin(gone, []ID{idOf("", 2)})
	require.ErrorIs(t, err, context.Canceled)

	second := make(chan *Attempt)
	go func() {
		a, _ := w.Begin(context.Background(), []ID{idOf("", 3), idOf("", 2)})
		second <- a
	}()
	require.NoError(t, first.Finish(t.Context(), All))
	assert.Equal(t, []bool{false, true}, (<-second).Seen)
}

// TestOneOfMany: of concurrent attempts of which most fail, exactly one is accepted.
func TestOneOfMany(t *testing.T) {
	w := New(Config{MaxIDs: 10, MaxAge: time.Hour})
	var tries, accepted atomic.Int64
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			a, err := w.Begin(context.Background(), []ID{idOf("", 1), idOf("", 2)})
			if err != nil || a.Seen[0] {
				return
			}
			parts := Parts(0)
			if tries.Add(1) == 5 {
				parts = All
				accepted.Add(1)
			}
			_ = a.Finish(context.Background(), parts)
		})
	}
	all.Wait()
	assert.EqualValues(t, 5, tries.Load())
	assert.EqualValues(t, 1, accepted.Load())
	assert.Zero(t, w.Pending())
}
