// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"math/rand/v2"
	"time"
)

// breaker pauses forwarding while Sentry does not respond. Each pause ends with one request as a
// probe.
type breaker struct {
	failures int           // in a row
	pause    time.Duration // 0 = closed: all requests may be sent
	until    time.Time     // end of the pause
	probing  bool
}

const (
	// tolerated is the number of consecutive failures that do not pause forwarding: single requests
	// may fail while Sentry works.
	tolerated = 10

	// firstPause and maxPause are the same as Relay's for its own upstream.
	firstPause = time.Second
	maxPause   = time.Minute
)

// wait returns the time until a request may be sent. A negative result means that the probe has no
// reply yet.
func (b *breaker) wait(now time.Time) time.Duration {
	switch {
	case b.pause == 0:
		return 0
	case b.probing:
		return -1
	}
	return max(b.until.Sub(now), 0)
}

// succeeded ends the pause.
func (b *breaker) succeeded() { *b = breaker{} }

// failed records a failed attempt, and reports whether it paused forwarding. Only first attempts
// count as failures and prolong the next pause: retries may fail again while Sentry accepts others.
// Requests that were sent before the pause do not prolong it.
func (b *breaker) failed(first, probe bool, now time.Time) (opened bool) {
	if first {
		b.failures++
	}
	if b.failures < tolerated || b.pause > 0 && !probe {
		return false
	}
	opened = b.pause == 0
	if first {
		b.pause = min(max(2*b.pause, firstPause), maxPause)
	}
	b.until = now.Add(b.pause/2 + rand.N(b.pause/2+1)) // random, so that replicas do not probe at the same time
	b.probing = false
	return opened
}
