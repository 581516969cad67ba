// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"math/rand/v2"
	"time"
)

// breaker pauses forwarding while Sentry does not answer. After each pause, which is longer than the one before, one request tries.
type breaker struct {
	failures int           // in a row
	pause    time.Duration // 0 = closed: everything may pass
	until    time.Time     // then one may try
	trying   bool
}

const (
	// tolerated is how many requests may fail in a row: some fail by themselves, whatever becomes of others.
	tolerated = 10

	// firstPause and maxPause are Relay's of its own upstream.
	firstPause = time.Second
	maxPause   = time.Minute
)

// wait returns how long nothing may pass; negative means: until the one that tries has an answer.
func (b *breaker) wait(now time.Time) time.Duration {
	switch {
	case b.pause == 0:
		return 0
	case b.trying:
		return -1
	}
	return max(b.until.Sub(now), 0)
}

// begin notes that a request is on its way.
func (b *breaker) begin() { b.trying = b.pause > 0 }

// end notes what came of one, whose first attempt it was or not: those that have failed before fail again, whatever becomes of others.
// It reports whether forwarding has just been paused.
func (b *breaker) end(failed, first bool, now time.Time) (opened bool) {
	if !failed {
		*b = breaker{}
		return false
	}
	if first {
		b.failures++
	}
	if b.failures < tolerated || b.pause > 0 && !b.trying {
		return false // those that were under way when the pause began do not make it longer
	}
	opened = b.pause == 0
	b.pause = min(max(2*b.pause, firstPause), maxPause)
	b.until = now.Add(b.pause/2 + rand.N(b.pause/2+1)) // not all replicas at once
	b.trying = false
	return opened
}
