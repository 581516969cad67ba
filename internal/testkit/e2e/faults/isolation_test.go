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

// latestAllowed is how much later than its acknowledgement an item may arrive while the backend refuses other items.
const latestAllowed = 30 * time.Second

// alwaysRefused: the backend never accepts some messages, by an error or by no answer, and accepts all others. Where profiles are
// held, the exporter has no queue, so that the processor meets the refusal; elsewhere the exporter's queue does.
func alwaysRefused(r *rig) {
	r.setup.mark = marking{oneIn: 5 + r.some(20)}
	r.giveUp = time.Second
	r.noQueue = !r.setup.sentry && r.setup.wait > 0
	if !r.setup.sentry { // its sender waits for each answer: the processor, or one of ten consumers, which the collector's retries occupy
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
		if r.random.IntN(3) == 0 && !(r.noQueue && !r.setup.stored) { // what only memory holds a shutdown must deliver or lose
			r.Stop()
			r.start()
		}
	}
	r.awaitAnswers(r.some(50))
	stop()
	r.awaitUnmarked()
	stopWatching()
}

// limitedForAnHour: the backend limits one category for an hour, and accepts all others. Sentry limits by category, here the chunks of
// browsers; of OTLP it is a signal. After a restart the backend accepts what was limited.
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

// watchArrivals notes when items arrive, until stop is called.
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
	r.t.Cleanup(stop) // should the test end before
	return stop
}

// awaitUnmarked waits until everything that the backend accepts has arrived, and notes how late.
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
