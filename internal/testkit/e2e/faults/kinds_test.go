// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// fault is a kind of failure. happen starts the collector, causes the failure while clients send,
// and returns with a running collector.
type fault struct {
	name   string
	happen func(r *rig)
}

var faults = []fault{
	{"kill -9", killed},
	{"kill -9 during the start", killedEarly},
	{"SIGTERM", terminated},
	{"reload", reloaded},
	{"backend down", backendDown},
	{"backend slow", backendSlow},
	{"backend refuses", backendRefuses},
	{"one message always refused", alwaysRefused},
	{"one category limited for an hour", limitedForAnHour},
	{"disk full", diskFull},
	{"restart on a full disk", restartOnFullDisk},
	{"corrupt file", corruptFile},
}

// some returns a random number from 1 to n.
func (r *rig) some(n int) int { return 1 + r.random.IntN(n) }

// interrupted calls happen one to three times, at random moments while clients send.
func (r *rig) interrupted(happen func()) {
	r.start()
	stop := r.send()
	for range r.some(3) {
		r.awaitAnswers(r.some(200))
		happen()
	}
	r.awaitAnswers(r.some(50))
	stop()
}

// killed kills the collector while the backend fails in various ways.
func killed(r *rig) {
	r.backend.be(r.setup.badDay())
	r.interrupted(func() {
		r.Crash()
		r.start()
	})
}

// killedEarly kills the collector repeatedly within a second of its start, which takes half a
// second, with a filled queue.
func killedEarly(r *rig) {
	r.start()
	stop := r.send()
	r.backend.be(down)
	r.awaitAnswers(r.some(100))
	r.Crash()
	for range r.some(5) {
		r.use(harness.Launch(r.t, r.settings()))
		time.Sleep(time.Duration(r.random.IntN(1000)) * time.Millisecond)
		r.Crash()
	}
	r.start()
	r.awaitAnswers(r.some(50))
	stop()
}

// terminated is like killed, but with SIGTERM; in some rounds, the backend is down.
func terminated(r *rig) {
	r.backend.be([]mood{r.setup.badDay(), down}[r.random.IntN(2)])
	r.interrupted(func() {
		r.Stop()
		r.start()
	})
}

// reloaded reloads the collector with a different number of consumers and, with held profiles, a
// different wait.
func reloaded(r *rig) {
	r.backend.be(r.setup.badDay())
	r.interrupted(func() {
		r.consumers = r.some(10)
		if r.setup.wait > 0 {
			r.setup.wait = time.Duration(r.some(2)) * waitForSpans
		}
		r.Reload()
	})
}

// backendDown: the queue fills, in some rounds completely.
func backendDown(r *rig) {
	r.queueSize = 20 * r.some(20)
	r.start()
	stop := r.send()
	for range r.some(3) {
		r.awaitAnswers(r.some(100))
		r.backend.be(down)
		r.awaitAnswers(r.some(300))
		r.backend.be(well)
	}
	r.awaitAnswers(r.some(50))
	stop()
}

// backendSlow: the backend accepts some requests that the exporter has given up on, and receives
// them again.
func backendSlow(r *rig) {
	r.backend.be(slow)
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(200))
	stop()
}

// backendRefuses: items that the backend rejects permanently must be counted.
func backendRefuses(r *rig) {
	r.backend.be(refusing)
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(200))
	stop()
	r.drain()
}
