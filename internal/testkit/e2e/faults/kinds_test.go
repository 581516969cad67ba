// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// fault is a way in which things go wrong. happen starts the collector, lets it go wrong while clients send, and leaves a
// collector that runs.
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

// some is between 1 and n.
func (r *rig) some(n int) int { return 1 + r.random.IntN(n) }

// interrupted lets it happen one to three times, at any moment while clients send.
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

// killed: while the backend has a bad day.
func killed(r *rig) {
	r.backend.be(r.setup.badDay())
	r.interrupted(func() {
		r.Crash()
		r.start()
	})
}

// killedEarly: again and again within a second of the start, which takes half of one, with a queue that has something.
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

// terminated: as killed; at times the backend is down.
func terminated(r *rig) {
	r.backend.be([]mood{r.setup.badDay(), down}[r.random.IntN(2)])
	r.interrupted(func() {
		r.Stop()
		r.start()
	})
}

// reloaded: with another number of consumers, and where profiles wait, another wait.
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

// backendDown: the queue fills, at times until it is full.
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

// backendSlow: some of what the exporter gives up the backend takes nevertheless, and then again.
func backendSlow(r *rig) {
	r.backend.be(slow)
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(200))
	stop()
}

// backendRefuses: what it will never take must be counted.
func backendRefuses(r *rig) {
	r.backend.be(refusing)
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(200))
	stop()
	r.drain()
}
