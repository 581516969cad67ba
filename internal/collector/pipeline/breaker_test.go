// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/consumer/consumererror"
)

var (
	errBusy  = errors.New("queue is full")
	errNever = consumererror.NewPermanent(errors.New("not like this"))
)

// TestGate walks through the states by a clock that stands still in between.
func TestBreaker(t *testing.T) {
	var b Breaker
	begin := time.Now()
	at := func(pauses float64) time.Time { return begin.Add(time.Duration(pauses * float64(BreakerPause))) }

	assert.True(t, b.Allow(at(0)), "closed from the start")
	assert.True(t, b.Allow(at(0)), "for all")
	b.Report(t.Context(), errBusy, at(0))
	assert.True(t, b.Open(at(0)))
	assert.False(t, b.Allow(at(0)))
	assert.False(t, b.Allow(at(0.99)))

	assert.False(t, b.Open(at(1)), "Open starts no trial")
	assert.False(t, b.Open(at(1)))
	assert.True(t, b.Allow(at(1)), "one trial")
	assert.False(t, b.Allow(at(1)), "and no other")
	assert.True(t, b.Open(at(1.5)))

	b.Report(t.Context(), errBusy, at(1.5))
	assert.False(t, b.Allow(at(2.4)), "the pause begins with the refusal")
	assert.True(t, b.Allow(at(2.5)))
	assert.True(t, b.Allow(at(3.5)), "the last trial has no result")
	b.Report(t.Context(), nil, at(3.6))
	assert.True(t, b.Allow(at(3.6)), "closed")
	assert.True(t, b.Allow(at(3.6)), "for all")
}

// TestErrorsThatOpenABreaker: only errors that may go away.
func TestErrorsThatOpenABreaker(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name string
		err  error
		open bool
	}{
		{"accepted", nil, false},
		{"refused", errBusy, true},
		{"rejected", errNever, false},
		{"rejected by one pipeline, refused by another", errors.Join(errNever, errBusy), true},
		{"in the other order", errors.Join(errBusy, errNever), true},
		{"rejected by both", errors.Join(errNever, errNever), false},
		{"rejected for several reasons", consumererror.NewPermanent(errors.Join(errBusy, errBusy)), false},
		{"that, wrapped once more", fmt.Errorf("no: %w", consumererror.NewPermanent(fmt.Errorf("%w: %w", errBusy, errBusy))), false},
		{"refused, wrapped", fmt.Errorf("no: %w", errors.Join(errNever, errBusy)), true},
	} {
		var closed, open Breaker
		closed.Report(t.Context(), test.err, now)
		assert.Equal(t, test.open, closed.Open(now), test.name)
		open.Report(t.Context(), errBusy, now)
		open.Report(t.Context(), test.err, now)
		assert.Equal(t, test.open, open.Open(now), "after a refusal, %s", test.name)
	}
}

// TestAbandon: data that does not reach the pipeline, or whose client disconnects, says nothing
// about the pipeline.
func TestAbandon(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	now := time.Now()
	for name, end := range map[string]func(*Breaker){
		"unusable":    func(b *Breaker) { b.Abandon() },
		"client gone": func(b *Breaker) { b.Report(gone, context.Canceled, now) },
	} {
		var b Breaker
		end(&b)
		assert.True(t, b.Allow(now), "%s: stays closed", name)
		b.Report(t.Context(), errBusy, now)
		end(&b)
		assert.False(t, b.Allow(now), "%s: still open, it was not the trial", name)

		now = now.Add(BreakerPause)
		for range 3 {
			assert.True(t, b.Allow(now), "%s: one trial", name)
			assert.False(t, b.Allow(now), name)
			end(&b)
		}
		b.Report(gone, nil, now)
		for range 2 {
			assert.True(t, b.Allow(now), "%s: accepted all the same", name)
		}
	}
}

// TestOneTrial: of many concurrent calls after each pause, one is allowed.
func TestOneTrial(t *testing.T) {
	var b Breaker
	now := time.Now()
	b.Report(t.Context(), errBusy, now)
	for range 100 {
		now = now.Add(BreakerPause)
		var passed atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if b.Allow(now) {
					passed.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, passed.Load())
	}
}

// TestQueueBehindABreaker: with random arrivals, a queue that drains at a steady rate never runs
// dry behind a breaker, and at most one item per pause is decoded in vain.
func TestQueueBehindABreaker(t *testing.T) {
	const (
		tick    = 100 * time.Microsecond // of the clock: 10 000 items a second may come
		drained = 10                     // ticks for an item: 1000 a second
		places  = 200
		ticks   = 100_000
	)
	var b Breaker
	random, now := rand.New(rand.NewPCG(1, 2)), time.Now()
	queued, took, vain, dry := 0, 0, 0, 0
	for i := range ticks {
		now = now.Add(tick)
		if i%drained == 0 && queued > 0 {
			queued--
		} else if i%drained == 0 && i > 0 {
			dry++
		}
		if random.IntN(2) == 0 || !b.Allow(now) {
			continue
		}
		if queued == places {
			vain++
			b.Report(t.Context(), errBusy, now)
			continue
		}
		queued++
		took++
		b.Report(t.Context(), nil, now)
	}
	assert.Zero(t, dry)
	assert.InDelta(t, ticks/drained+places, took, places)
	assert.Less(t, vain, int(ticks*tick/BreakerPause)+1)
}
