// SPDX-License-Identifier: Apache-2.0

package health

import (
	"math/rand/v2"
	"time"
)

// Breaker pauses attempts while a destination fails. Each pause ends with one attempt, a trial.
//
//	closed ──── failures ────▶ open ─── end of the pause: one trial ─────┐
//	  ▲                         ▲                                        ▼
//	  └──────── success ────────┼──────────────────────────────────── half-open
//	                            ├──────────── failure, or a trial without a result
//	                            └──────────── abandoned: the next trial may start at once
type Breaker struct {
	Policy

	failures int           // in a row
	pause    time.Duration // 0 = closed
	until    time.Time     // end of the pause, or of the time for the trial
	trial    bool
}

// Policy states when a breaker opens, and for how long.
type Policy struct {
	Failures       int           // failures in a row that open it
	First, Longest time.Duration // pauses, each twice as long as the one before
	Random         bool          // subtracts up to half of a pause, so that replicas do not try at the same time
	Trial          time.Duration // maximum time of a trial; 0 = every trial has a result
}

// Paused reports whether the breaker is not closed: attempts are trials.
func (b *Breaker) Paused() bool { return b.pause > 0 }

// Wait returns the time until an attempt may be made. A negative result means that a trial is in
// progress.
func (b *Breaker) Wait(now time.Time) time.Duration {
	if b.trial && b.Trial == 0 {
		return -1
	}
	return max(b.until.Sub(now), 0)
}

// Try starts a trial.
func (b *Breaker) Try(now time.Time) { b.trial, b.until = true, now.Add(b.Trial) }

// Abandon ends a trial, if one is in progress, that has not reached the destination.
func (b *Breaker) Abandon() {
	if b.trial {
		b.trial, b.until = false, time.Time{}
	}
}

// Succeeded closes the breaker.
func (b *Breaker) Succeeded() { *b = Breaker{Policy: b.Policy} }

// Failed records a failed attempt, and reports whether it opened the breaker. Only first attempts
// count and prolong the next pause: retries may fail again while the destination accepts others. An
// attempt that began before the pause does not prolong it.
func (b *Breaker) Failed(first, trial bool, now time.Time) (opened bool) {
	if first {
		b.failures++
	}
	if b.failures < b.Failures || b.Paused() && !trial {
		return false
	}
	opened = !b.Paused()
	if first {
		b.pause = min(max(2*b.pause, b.First), b.Longest)
	}
	pause := b.pause
	if b.Random {
		pause = pause/2 + rand.N(pause/2+1)
	}
	b.until, b.trial = now.Add(pause), false
	return opened
}
