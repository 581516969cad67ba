// SPDX-License-Identifier: Apache-2.0

// Package gate turns away early what a pipeline would refuse.
//
// A pipeline says that it is busy (a queue is full, memory is short) when it is handed something, and by then that has been
// decoded and translated. With more clients than the collector has CPU for, that work is thrown away again and again, and what
// should empty the queue gets the less of the CPU the more is refused. So the first refusal closes a gate before that work:
// for a Pause everything is turned away, then one tries again. The pipeline decides about it, and with it about the gate.
//
//	open ──── refused ────▶ closed ─── the pause is over: one passes ───┐
//	  ▲                       ▲                                         ▼
//	  └────────── took ───────┼──────────────────────────────────── on trial
//	                          ├───────────── refused, or a pause without a word
//	                          └───────────── given up: the next one may try at once
package gate

import (
	"context"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
)

// Pause is long against the work that a trial may cost in vain (three quarters of a millisecond for the usual profile: a
// twenty-fifth of a core), and short against what a queue holds (one of 200 profiles has work for 100 ms and more): the pipeline
// has something to do until the next one is let in. With 10 and 50 ms, as much was delivered as far as a busy machine could tell.
const Pause = 20 * time.Millisecond

// Gate stands before the work that is done for one pipeline. The zero Gate is open. Its methods may be called by many at the same
// time; nobody ever waits.
//
// When it opens, all may pass at once, and the pipeline may have had room for one. That is not guarded against: a gate is asked
// right before the work, of which there is no more at a time than cores, so that when it closes again that much is in vain.
type Gate struct {
	closed atomic.Pointer[pause] // nil = open
}

type pause struct {
	until time.Time // then one is let through
	trial bool      // one has been, and it is not known what came of it
}

// Closed says whether nothing would pass now. To ask does not make it the one that tries.
func (g *Gate) Closed(now time.Time) bool {
	p := g.closed.Load()
	return p != nil && now.Before(p.until)
}

// Pass says whether the work may be done. Of all that come after a pause the first is let through, to try; the others wait for
// what comes of it, or, should it never be told, for another pause. What has passed ends in Report or GiveUp. Ask once for all
// that belongs together, such as the items of one request: asked again, the gate refuses the rest of the one that tries.
func (g *Gate) Pass(now time.Time) bool {
	p := g.closed.Load()
	if p == nil {
		return true
	}
	if now.Before(p.until) {
		return false
	}
	return g.closed.CompareAndSwap(p, &pause{until: now.Add(Pause), trial: true})
}

// GiveUp says that something has passed and never got as far as the pipeline: it could not be used, or came before. If it was to
// try, the next one may: else whoever sends what is not usable, more often than every pause, would keep out all others. Where
// it was another one that is trying, two do.
func (g *Gate) GiveUp(now time.Time) {
	if p := g.closed.Load(); p != nil && p.trial {
		g.closed.CompareAndSwap(p, &pause{until: now})
	}
}

// Report says what the pipeline has answered. It closes the gate only if it may take the same later: where it never will, it is
// not busy, nor is it where the client that ctx is of has gone, and an error says no more than that.
func (g *Gate) Report(ctx context.Context, err error, now time.Time) {
	switch {
	case err == nil || IsPermanent(err):
		if g.closed.Load() != nil { // nearly always: all cores would share a cache line that is written
			g.closed.Store(nil)
		}
	case ctx.Err() != nil:
		g.GiveUp(now)
	default:
		g.closed.Store(&pause{until: now.Add(Pause)})
	}
}

var permanent = reflect.TypeOf(consumererror.NewPermanent(nil))

// IsPermanent says whether nothing will help. Where several pipelines take a signal, their errors come joined, and one that is
// only busy is reason enough to ask for a pause: consumererror.IsPermanent would let any permanent one decide. But what one
// pipeline has called permanent is so, whatever it has joined in there.
func IsPermanent(err error) bool {
	for err != nil && reflect.TypeOf(err) != permanent {
		switch outer := err.(type) {
		case interface{ Unwrap() []error }:
			all := outer.Unwrap()
			return len(all) > 0 && !slices.ContainsFunc(all, func(err error) bool { return !IsPermanent(err) })
		case interface{ Unwrap() error }:
			err = outer.Unwrap()
		default:
			return false
		}
	}
	return err != nil
}
