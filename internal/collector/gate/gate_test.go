// SPDX-License-Identifier: Apache-2.0

package gate

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
func TestGate(t *testing.T) {
	var g Gate
	begin := time.Now()
	at := func(pauses float64) time.Time { return begin.Add(time.Duration(pauses * float64(Pause))) }

	assert.True(t, g.Pass(at(0)), "open from the start")
	assert.True(t, g.Pass(at(0)), "for all")
	g.Report(t.Context(), errBusy, at(0))
	assert.True(t, g.Closed(at(0)))
	assert.False(t, g.Pass(at(0)))
	assert.False(t, g.Pass(at(0.99)))

	assert.False(t, g.Closed(at(1)), "to ask is not to try")
	assert.False(t, g.Closed(at(1)))
	assert.True(t, g.Pass(at(1)), "one tries")
	assert.False(t, g.Pass(at(1)), "and no other")
	assert.True(t, g.Closed(at(1.5)))

	g.Report(t.Context(), errBusy, at(1.5))
	assert.False(t, g.Pass(at(2.4)), "the pause begins with the refusal")
	assert.True(t, g.Pass(at(2.5)))
	assert.True(t, g.Pass(at(3.5)), "nothing came of the last one")
	g.Report(t.Context(), nil, at(3.6))
	assert.True(t, g.Pass(at(3.6)), "open")
	assert.True(t, g.Pass(at(3.6)), "for all")
}

// TestWhatClosesAGate: nothing but an error that may go away.
func TestWhatClosesAGate(t *testing.T) {
	now := time.Now()
	for _, test := range []struct {
		name   string
		err    error
		closed bool
	}{
		{"taken", nil, false},
		{"refused", errBusy, true},
		{"rejected", errNever, false},
		{"rejected by one pipeline, refused by another", errors.Join(errNever, errBusy), true},
		{"in the other order", errors.Join(errBusy, errNever), true},
		{"rejected by both", errors.Join(errNever, errNever), false},
		{"rejected for several reasons", consumererror.NewPermanent(errors.Join(errBusy, errBusy)), false},
		{"that, wrapped once more", fmt.Errorf("no: %w", consumererror.NewPermanent(fmt.Errorf("%w: %w", errBusy, errBusy))), false},
		{"refused, wrapped", fmt.Errorf("no: %w", errors.Join(errNever, errBusy)), true},
	} {
		var open, closed Gate
		open.Report(t.Context(), test.err, now)
		assert.Equal(t, test.closed, open.Closed(now), test.name)
		closed.Report(t.Context(), errBusy, now)
		closed.Report(t.Context(), test.err, now)
		assert.Equal(t, test.closed, closed.Closed(now), "after a refusal, %s", test.name)
	}
}

// TestGivenUp: what comes to nothing before the pipeline, or because its client has gone, tells nothing about the pipeline.
func TestGivenUp(t *testing.T) {
	gone, leave := context.WithCancel(t.Context())
	leave()
	now := time.Now()
	for name, end := range map[string]func(*Gate){
		"unusable":    func(g *Gate) { g.GiveUp(now) },
		"client gone": func(g *Gate) { g.Report(gone, context.Canceled, now) },
	} {
		var g Gate
		end(&g)
		assert.True(t, g.Pass(now), "%s: stays open", name)
		g.Report(t.Context(), errBusy, now)
		end(&g)
		assert.False(t, g.Pass(now), "%s: the pause stays, it was not the one that tries", name)

		now = now.Add(Pause)
		for range 3 {
			assert.True(t, g.Pass(now), "%s: one tries", name)
			assert.False(t, g.Pass(now), name)
			end(&g)
		}
		g.Report(gone, nil, now)
		for range 2 {
			assert.True(t, g.Pass(now), "%s: taken all the same", name)
		}
	}
}

// TestOneTries: of many at the same time, after each pause.
func TestOneTries(t *testing.T) {
	var g Gate
	now := time.Now()
	g.Report(t.Context(), errBusy, now)
	for range 100 {
		now = now.Add(Pause)
		var passed atomic.Int64
		var all sync.WaitGroup
		for range 16 {
			all.Go(func() {
				if g.Pass(now) {
					passed.Add(1)
				}
			})
		}
		all.Wait()
		assert.EqualValues(t, 1, passed.Load())
	}
}

// TestQueueBehindAGate: whatever comes at random, a queue that drains at a steady rate never runs dry behind the gate, and what is
// decoded in vain is one item for each pause.
func TestQueueBehindAGate(t *testing.T) {
	const (
		tick    = 100 * time.Microsecond // of the clock: 10 000 items a second may come
		drained = 10                     // ticks for an item: 1000 a second
		places  = 200
		ticks   = 100_000
	)
	var g Gate
	random, now := rand.New(rand.NewPCG(1, 2)), time.Now()
	queued, took, vain, dry := 0, 0, 0, 0
	for i := range ticks {
		now = now.Add(tick)
		if i%drained == 0 && queued > 0 {
			queued--
		} else if i%drained == 0 && i > 0 {
			dry++
		}
		if random.IntN(2) == 0 || !g.Pass(now) {
			continue
		}
		if queued == places {
			vain++
			g.Report(t.Context(), errBusy, now)
			continue
		}
		queued++
		took++
		g.Report(t.Context(), nil, now)
	}
	assert.Zero(t, dry)
	assert.InDelta(t, ticks/drained+places, took, places)
	assert.Less(t, vain, int(ticks*tick/Pause)+1)
}
