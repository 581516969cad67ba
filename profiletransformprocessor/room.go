// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// held is a message that waits for its spans, or for the next component to accept it.
type held struct {
	parts   []pprofile.Profiles // one until it is due; then what it became, as far as the next consumer has not taken it
	due     bool
	client  client.Info // who sent it: exporters may go by that
	tenant  string
	arrived time.Time
	bytes   int64
	key     uint64 // in the storage; 0 for none
	retries retries

	retriesStored bool // beside the message

	// Owned by the waiting room.
	next             time.Time // when to forward it
	queued           bool      // in a schedule, at an index
	index            int
	byCount, byBytes *fairshare.Entry[string, *held]
}

// waitingRoom has the messages that wait. None holds up another: each is forwarded when it is due, whatever became of the others, and
// is retried later if the next component refuses it: see retry.go.
//
// Tenants share the room. When it is full, the tenant that uses the most of what is exhausted, places or bytes, makes room.
type waitingRoom struct {
	maxCount   int
	maxBytes   int64
	wait       time.Duration
	maxElapsed time.Duration // of the retries of a message; 0 is no limit
	telemetry  *telemetry
	wake       chan struct{} // the next component accepts messages

	mu               sync.Mutex
	byCount, byBytes fairshare.Queue[string, *held] // with those that have a place and are not queued yet
	queues           [schedules]schedule
	turn             int // the schedule of the last message that was due
	next             nextState
}

func newWaitingRoom(cfg *Config, t *telemetry) *waitingRoom {
	return &waitingRoom{
		maxCount: cfg.Link.MaxHeldProfiles, maxBytes: cfg.Link.MaxHeldBytes, wait: cfg.Link.Wait,
		maxElapsed: cfg.RetryOnFailure.MaxElapsedTime, telemetry: t, wake: make(chan struct{}, 1),
	}
}

// errNoRoom is for the sender of a message: it is refused as the next consumer would refuse it.
var errNoRoom = errors.New("too many profiles wait, and the next component refuses to take any")

// decision is what to do with a message that asks for a place.
type decision int

const (
	admit   decision = iota // it has a place
	release                 // forward the other message, and ask again
	evict                   // drop the other message, and ask again
	bypass                  // forward this message at once
	refuse                  // answer errNoRoom
)

// reserve gives a message a place, or decides how to go on without. The tenant that uses the most makes room: its oldest message is
// forwarded early. If the next component refuses that, the message is dropped where it makes room for a tenant below an equal share.
// Others cannot displace messages that were accepted by new ones.
func (r *waitingRoom) reserve(ctx context.Context, h *held, now time.Time) (d decision, other *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.occupy(h)
	full, limit := &r.byCount, int64(r.maxCount)
	switch {
	case r.byCount.Size() > limit:
	case r.byBytes.Size() > r.maxBytes:
		full, limit = &r.byBytes, r.maxBytes
	default:
		return admit, nil
	}
	other = full.LargestOldest().Value
	belowShare := other.tenant != h.tenant && full.Use(h.tenant) <= limit/int64(full.Tenants())
	r.vacate(h)
	switch canTry := !other.retries.suspect && r.next.mayTry(now); {
	case !other.queued: // this message, or one that is about to be queued
		return bypass, nil
	case canTry:
		r.take(ctx, other)
		return release, other
	case belowShare:
		r.take(ctx, other)
		return evict, other
	case r.next.mayBypass(now):
		return bypass, nil
	}
	return refuse, nil
}

// add queues a message that has a place, until its wait is over.
func (r *waitingRoom) add(ctx context.Context, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h.next = h.arrived.Add(r.wait)
	r.queue(ctx, h)
}

// cancel takes a place back.
func (r *waitingRoom) cancel(h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.vacate(h)
}

// readmit queues a message from the storage, however many wait.
func (r *waitingRoom) readmit(ctx context.Context, h *held) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.occupy(h)
	h.next = h.arrived.Add(r.wait)
	r.queue(ctx, h)
}

// isEmpty reports whether nothing waits.
func (r *waitingRoom) isEmpty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byCount.Len() == 0
}

// leastPause keeps a processor that lets nothing wait, or hardly, from asking all the time.
const leastPause = 100 * time.Millisecond

// takeDue takes a message that is due, of each schedule in turn; else nil, and for how long there is nothing to do.
func (r *waitingRoom) takeDue(ctx context.Context, now time.Time) (h *held, pause time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	pause = max(r.wait, leastPause) // what comes in the meantime is not due before that
	for i := range schedules {
		s := (r.turn + 1 + i) % schedules
		h := r.queues[s].first()
		if h == nil {
			continue
		}
		due := h.next
		if s == refused {
			due = r.next.retryAt(due)
		}
		if due.After(now) {
			pause = min(pause, due.Sub(now))
			continue
		}
		if s == refused {
			r.next.retriedAt = now
		}
		r.turn = s
		r.take(ctx, h)
		return h, 0
	}
	return nil, pause
}

// takeFirst takes any message, those first that were not refused so far; nil if there is none.
func (r *waitingRoom) takeFirst(ctx context.Context) *held {
	r.mu.Lock()
	defer r.mu.Unlock()
	for s := range schedules {
		if h := r.queues[s].first(); h != nil {
			r.take(ctx, h)
			return h
		}
	}
	return nil
}

// occupy gives a message a place.
func (r *waitingRoom) occupy(h *held) {
	h.byCount = r.byCount.Push(h.tenant, h, 1)
	h.byBytes = r.byBytes.Push(h.tenant, h, h.bytes)
}

func (r *waitingRoom) vacate(h *held) {
	r.byCount.Remove(h.byCount)
	r.byBytes.Remove(h.byBytes)
}

func (r *waitingRoom) queue(ctx context.Context, h *held) {
	r.queues[h.retries.schedule()].add(h)
	h.queued = true
	r.telemetry.heldChanged(ctx, 1, h.bytes)
}

func (r *waitingRoom) take(ctx context.Context, h *held) {
	r.queues[h.retries.schedule()].remove(h)
	h.queued = false
	r.vacate(h)
	if r.next.lastRefused == h {
		r.next.lastRefused = nil
	}
	r.telemetry.heldChanged(ctx, -1, -h.bytes)
}
