package profiletransformprocessor

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"
)

// held is a message that waits for its spans.
type held struct {
	parts   []pprofile.Profiles // one until it is due; then what it became, as far as the next consumer has not taken it
	due     bool
	client  client.Info // who sent it: exporters may go by that
	arrived time.Time
	bytes   int64
	key     uint64 // in the storage; 0 for none
}

// waitingRoom has the messages that wait, by arrival. All wait equally long, so that this is also the order of leaving. What the
// next consumer refuses comes back to the front, and nothing is due until a pause is over.
type waitingRoom struct {
	maxCount  int
	maxBytes  int64
	telemetry *telemetry

	mu      sync.Mutex
	queue   []*held
	count   int // of messages, with those that have a place and are not in the queue yet
	bytes   int64
	pauses  int       // in a row
	blocked time.Time // until then the next consumer is left alone
}

// errNoRoom is for the sender of a message: it is refused as the next consumer would refuse it.
var errNoRoom = errors.New("too many profiles wait, and the next component refuses to take any")

// reserve gives a message of some bytes a place, or the first one if that has to go before. Then it is to be asked again.
func (r *waitingRoom) reserve(ctx context.Context, bytes int64, now time.Time) (goesFirst *held, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	fits := r.count < r.maxCount && r.bytes+bytes <= r.maxBytes
	switch {
	case fits || len(r.queue) == 0:
		r.count++
		r.bytes += bytes
		return nil, nil
	case now.Before(r.blocked):
		return nil, errNoRoom
	}
	return r.take(ctx), nil
}

// add puts a message in the place that it was given.
func (r *waitingRoom) add(ctx context.Context, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = append(r.queue, h)
	r.telemetry.heldChanged(ctx, 1, h.bytes)
}

// cancel takes a place back.
func (r *waitingRoom) cancel(bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count--
	r.bytes -= bytes
}

// readmit takes a message in again, however many wait.
func (r *waitingRoom) readmit(ctx context.Context, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count++
	r.bytes += h.bytes
	r.queue = append(r.queue, h)
	r.telemetry.heldChanged(ctx, 1, h.bytes)
}

// leastPause keeps a processor that lets nothing wait, or hardly, from asking all the time.
const leastPause = 100 * time.Millisecond

// takeDue gives the first if it has waited long enough; else nil, and for how long there is nothing to do.
func (r *waitingRoom) takeDue(ctx context.Context, now time.Time, wait time.Duration) (h *held, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return nil, max(wait, leastPause)
	}
	if pause := max(wait-now.Sub(r.queue[0].arrived), r.blocked.Sub(now)); pause > 0 {
		return nil, pause
	}
	return r.take(ctx), 0
}

// takeFirst gives the first, nil if there is none.
func (r *waitingRoom) takeFirst(ctx context.Context) *held {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return nil
	}
	return r.take(ctx)
}

func (r *waitingRoom) take(ctx context.Context) *held {
	h := r.queue[0]
	r.queue[0] = nil
	r.queue = r.queue[1:]
	r.count--
	r.bytes -= h.bytes
	r.telemetry.heldChanged(ctx, -1, -h.bytes)
	return h
}

// Pauses double from the first to the longest. They are not shorter since of several next consumers, those that do take a message get it
// again with each attempt.
const (
	firstPause   = time.Second
	longestPause = 30 * time.Second
)

// putBack puts a message that was refused in front of all others; first is whether the one before was taken.
func (r *waitingRoom) putBack(ctx context.Context, h *held, now time.Time) (first bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue = slices.Insert(r.queue, 0, h)
	r.count++
	r.bytes += h.bytes
	r.telemetry.heldChanged(ctx, 1, h.bytes)
	if now.Before(r.blocked) {
		return false // several were refused at a time
	}
	r.blocked = now.Add(min(firstPause<<min(r.pauses, 10), longestPause))
	r.pauses++
	return r.pauses == 1
}

// unblock says that the next consumer takes messages.
func (r *waitingRoom) unblock() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pauses, r.blocked = 0, time.Time{}
}
