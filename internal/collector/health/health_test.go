// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestOutageOrPoison: a failed attempt counts against a message only if the destination accepted
// another one since the last attempt, or says that it does.
func TestOutageOrPoison(t *testing.T) {
	var d Destination
	var m Message
	d.Accepted()
	for range 100 { // accepted before the first attempt
		d.Begin(&m)
		d.Failed(&m, false)
	}
	assert.Equal(t, Message{Failures: 100, accepted: 1}, m, "an outage")
	for range 3 {
		d.Accepted()
		assert.True(t, d.AcceptedSince(&m))
		d.Begin(&m)
		d.Failed(&m, false)
		assert.False(t, d.AcceptedSince(&m))
	}
	d.Failed(&m, true)
	assert.Equal(t, 4, m.Refusals)

	var concurrent Message
	d.Begin(&concurrent)
	d.Accepted()
	d.Failed(&concurrent, false)
	assert.Equal(t, 1, concurrent.Refusals, "another message was accepted during the first attempt")
}

func TestVerdictOf(t *testing.T) {
	for status, want := range map[int]Verdict{
		101: Failed, 200: Accepted, 202: Accepted, 301: Refused, 308: Refused, 400: Refused, 403: Refused, 404: Refused, 408: Failed,
		413: Refused, 429: Limited, 499: Refused, 500: Failed, 503: Failed, 599: Failed,
	} {
		assert.Equal(t, want, VerdictOf(status), status)
	}
}

var begin = time.Date(2026, 11, 28, 0, 0, 0, 0, time.UTC)

// TestBreaker: failures in a row open it, and each failed trial doubles the pause.
func TestBreaker(t *testing.T) {
	b := Breaker{Policy: Policy{Failures: 3, First: time.Second, Longest: 5 * time.Second}}
	now := begin
	for range 10 { // retries do not count
		assert.False(t, b.Failed(false, false, now))
	}
	b.Failed(true, false, now)
	b.Succeeded()
	for _, opened := range []bool{false, false, true} {
		assert.Zero(t, b.Wait(now))
		assert.Equal(t, opened, b.Failed(true, false, now))
	}
	assert.False(t, b.Failed(true, false, now.Add(time.Second)), "began before the pause")
	for _, pause := range []time.Duration{1, 2, 4, 5, 5} {
		assert.Equal(t, pause*time.Second, b.Wait(now))
		now = now.Add(pause * time.Second)
		assert.Zero(t, b.Wait(now))
		b.Try(now)
		assert.Negative(t, b.Wait(now.Add(time.Hour)), "one trial at a time")
		assert.False(t, b.Failed(true, true, now))
	}
	now = now.Add(5 * time.Second)
	b.Try(now)
	b.Abandon()
	assert.Zero(t, b.Wait(now), "the next trial may start")
	b.Try(now)
	b.Failed(false, true, now)
	assert.Equal(t, 5*time.Second, b.Wait(now), "a retry does not prolong the pause")
	assert.True(t, b.Paused())
	b.Succeeded()
	assert.False(t, b.Paused())
	assert.Zero(t, b.Wait(now))
}

// TestTrialWithoutResult: another trial starts.
func TestTrialWithoutResult(t *testing.T) {
	b := Breaker{Policy: Policy{Failures: 1, First: time.Second, Longest: time.Second, Trial: 2 * time.Second}}
	assert.True(t, b.Failed(true, false, begin))
	b.Try(begin.Add(time.Second))
	assert.Equal(t, 2*time.Second, b.Wait(begin.Add(time.Second)))
	assert.Zero(t, b.Wait(begin.Add(3*time.Second)))
}

// TestRandomPauses: half of a pause is random.
func TestRandomPauses(t *testing.T) {
	pauses := map[time.Duration]bool{}
	for range 100 {
		b := Breaker{Policy: Policy{Failures: 1, First: time.Minute, Longest: time.Minute, Random: true}}
		b.Failed(true, false, begin)
		pauses[b.Wait(begin)] = true
		assert.GreaterOrEqual(t, b.Wait(begin), 30*time.Second)
		assert.LessOrEqual(t, b.Wait(begin), time.Minute)
	}
	assert.Greater(t, len(pauses), 50)
}
