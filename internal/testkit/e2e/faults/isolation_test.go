// SPDX-License-Identifier: Apache-2.0

//go:build faults

package faults

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// latestAllowed is the maximum time from the acknowledgement of an item to its arrival while the
// backend refuses other items.
const latestAllowed = 30 * time.Second

// alwaysRefused: the backend never accepts some messages, with an error or without an answer, and
// accepts all others. With held profiles, the exporter has no queue, so that the processor receives
// the refusal; otherwise, the exporter's queue receives it.
func alwaysRefused(r *rig) {
	r.setup.mark = marking{oneIn: 5 + r.some(20)}
	r.giveUp = time.Second
	r.noQueue = !r.setup.sentry && r.setup.wait > 0
	if !r.setup.sentry { // each refused message occupies the processor, or one of ten consumers of the queue
		r.setup.mark.oneIn += 20
		r.consumers = 10
	}
	r.backend.beForMarked(mood{{Status: http.StatusServiceUnavailable}, {Reset: true}, {Status: http.StatusBadGateway},
		{Delay: exporterTimeout + 200*time.Millisecond, Status: http.StatusGatewayTimeout}})
	stopWatching := r.watchArrivals()
	r.start()
	stop := r.send()
	for range r.some(3) {
		r.awaitAnswers(r.some(500))
		if r.random.IntN(3) == 0 && !(r.noQueue && !r.setup.stored) { // profiles that are only in memory would be lost
			r.Stop()
			r.start()
		}
	}
	r.awaitAnswers(r.some(50))
	stop()
	r.awaitUnmarked()
	stopWatching()
}

// limitedForAnHour: the backend limits one category for an hour, and accepts all others. With
// Sentry, the category is browser chunks; with OTLP, it is a signal. After a restart, the backend
// accepts the limited items.
func limitedForAnHour(r *rig) {
	const limit = 3600
	header := map[string]string{"Retry-After": strconv.Itoa(limit)}
	r.setup.mark = marking{oneIn: 1, kind: aSpan}
	if r.setup.sentry {
		r.setup.mark = marking{oneIn: 2, kind: aProfile, platform: "javascript"}
		header["X-Sentry-Rate-Limits"] = strconv.Itoa(limit) + ":profile_chunk_ui:organization:quota"
	}
	r.backend.beForMarked(mood{{Status: http.StatusTooManyRequests, Header: header}})
	stopWatching := r.watchArrivals()
	r.start()
	stop := r.send()
	r.awaitAnswers(r.some(500))
	stop()
	r.awaitUnmarked()
	stopWatching()
	r.backend.beForMarked(nil)
	r.Stop()
	r.start()
}

// watchArrivals records the times at which items arrive, until stop is called.
func (r *rig) watchArrivals() (stop func()) {
	over := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-over:
				tick.Stop()
				return
			case <-tick.C:
				r.backend.arrivals(r.t)
			}
		}
	})
	stop = sync.OnceFunc(func() {
		close(over)
		watching.Wait()
	})
	r.t.Cleanup(stop) // in case the test ends before
	return stop
}

// awaitUnmarked waits until all items that the backend accepts have arrived, and records the
// longest delay.
func (r *rig) awaitUnmarked() {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		for i := range r.ledger.undelivered(r.backend.arrivals(r.t)) {
			if !i.marked() {
				return false
			}
		}
		return true
	}, drainTimeout, 20*time.Millisecond, "what the backend accepts arrives while it refuses the rest")
	r.latest = r.ledger.latest(r.backend)
	assert.LessOrEqual(r.t, r.latest, latestAllowed, "from the acknowledgement to the arrival")
}

// latest returns the longest time from the acknowledgement of an unmarked item to its arrival.
func (l *ledger) latest(b *backend) (latest time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range l.entries {
		if seen, arrived := b.seen[i]; arrived && e.fate == acknowledged && !i.marked() {
			latest = max(latest, seen.Sub(e.at))
		}
	}
	return latest
}
