// SPDX-License-Identifier: Apache-2.0

package pipeline

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/health"
)

// BreakerPause is long compared with the work that a trial may waste (0.75 ms for a typical
// profile: 4% of a core), and short compared with the work in a queue (a queue of 200 profiles
// lasts 100 ms or more), so the pipeline has work until the next trial. On a busy machine, 10 and
// 50 ms delivered as much.
const BreakerPause = 20 * time.Millisecond

var policy = health.Policy{Failures: 1, First: BreakerPause, Longest: BreakerPause, Trial: BreakerPause}

// Breaker is a health.Breaker in front of the work for one pipeline.
//
// A pipeline reports that it is busy (a queue is full, memory is short) when it receives data,
// which has been decoded and translated by then. With more clients than the collector has CPU for,
// that work is wasted again and again, and slows down whatever empties the queue. So the first
// refusal opens the breaker, which rejects data before that work.
//
// The zero Breaker is closed. Its methods are safe for concurrent use and never block.
//
// A breaker that closes allows all data, although the pipeline may have room for one message.
// Callers ask right before the work, so at most one message per core is wasted.
type Breaker struct {
	state atomic.Pointer[health.Breaker] // nil = closed
}

// Open reports whether Allow would reject data now. It starts no trial.
func (b *Breaker) Open(now time.Time) bool {
	s := b.state.Load()
	return s != nil && s.Wait(now) > 0
}

// Allow reports whether the work may be done. After a pause it allows one trial, and rejects all
// other data until the trial has a result, or for another pause. Allowed work ends in Report or
// Abandon. Call it once for data that belongs together, such as the items of a request: a second
// call would reject the rest of the trial.
func (b *Breaker) Allow(now time.Time) bool {
	s := b.state.Load()
	if s == nil {
		return true
	}
	return s.Wait(now) == 0 && b.change(s, func(next *health.Breaker) { next.Try(now) })
}

// Abandon reports that allowed data does not reach the pipeline: it was unusable, or a duplicate.
// The next trial may start at once; otherwise a client that sends unusable data in each pause would
// lock out all others. If the trial was another request, there are two trials.
func (b *Breaker) Abandon() {
	if s := b.state.Load(); s != nil {
		b.change(s, (*health.Breaker).Abandon)
	}
}

// change replaces a state, unless another goroutine has done so.
func (b *Breaker) change(s *health.Breaker, change func(*health.Breaker)) bool {
	next := *s
	change(&next)
	return b.state.CompareAndSwap(s, &next)
}

// Report reports the result of the pipeline. Only a temporary error opens the breaker: a permanent
// error does not mean that the pipeline is busy, nor does an error because ctx, the client's
// request, has ended.
func (b *Breaker) Report(ctx context.Context, err error, now time.Time) {
	switch {
	case err == nil || collector.IsPermanent(err):
		if b.state.Load() != nil { // rarely true; a write on each call would make all cores contend for a cache line
			b.state.Store(nil)
		}
	case ctx.Err() != nil:
		b.Abandon()
	default:
		opened := &health.Breaker{Policy: policy}
		opened.Failed(true, true, now)
		b.state.Store(opened)
	}
}
