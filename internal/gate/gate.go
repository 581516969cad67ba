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
//	                          └───────────── refused, or a pause without a word
package gate

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/consumer/consumererror"
)

// Pause is long against the work that a trial may cost in vain (three quarters of a millisecond for the usual profile: a
// twenty-fifth of a core), and short against what a queue holds (one of 200 profiles has work for 100 ms and more): the pipeline
// has something to do until the next one is let in. With 10 and 50 ms, as much was delivered as far as a busy machine could tell.
const Pause = 20 * time.Millisecond

// Gate stands before the work that is done for one pipeline. The zero Gate is open. Pass and Report may be called by many at
// the same time; nobody ever waits.
//
// When it opens, all may pass at once, and the pipeline may have had room for one. That is not guarded against: a gate is asked
// right before the work, of which there is no more at a time than cores, so that when it closes again that much is in vain.
type Gate struct {
	until atomic.Pointer[time.Time] // closed before; then one is let through. nil = open
}

// Closed says whether nothing would pass now. To ask does not make it the one that tries.
func (g *Gate) Closed(now time.Time) bool {
	until := g.until.Load()
	return until != nil && now.Before(*until)
}

// Pass says whether the work may be done. Of all that come after a pause the first is let through, to try; the others wait for
// what comes of it, or, should it never get as far as the pipeline, for another pause.
func (g *Gate) Pass(now time.Time) bool {
	until := g.until.Load()
	if until == nil {
		return true
	}
	if now.Before(*until) {
		return false
	}
	next := now.Add(Pause)
	return g.until.CompareAndSwap(until, &next)
}

// Report says what the pipeline has answered. It closes the gate only if it may take the same later: where it never will, it is
// not busy.
func (g *Gate) Report(err error, now time.Time) {
	if err == nil || IsPermanent(err) {
		if g.until.Load() != nil { // nearly always: all cores would share a cache line that is written
			g.until.Store(nil)
		}
		return
	}
	until := now.Add(Pause)
	g.until.Store(&until)
}

// IsPermanent says whether nothing will help. Where several pipelines take a signal, their errors come joined, and one that is
// only busy is reason enough to ask for a pause: consumererror.IsPermanent would let any permanent one decide.
func IsPermanent(err error) bool {
	if joined, ok := errors.AsType[interface {
		error
		Unwrap() []error
	}](err); ok {
		return !slices.ContainsFunc(joined.Unwrap(), func(err error) bool { return !IsPermanent(err) })
	}
	return consumererror.IsPermanent(err)
}
