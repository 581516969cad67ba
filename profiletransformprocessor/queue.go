// SPDX-License-Identifier: Apache-2.0

package profiletransformprocessor

import (
	"context"
	"errors"
	"sync"
	"time"

	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/notices"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/spanlink"
)

// heldMessage is a message that waits for its spans, or for the next component to accept it.
type heldMessage struct {
	parts      []pprofile.Profiles // one message, or those of a batch, until it is due, then the transformed messages that the next component has not accepted yet
	compressed []compressedMessage // instead of the parts
	isDue      bool
	client     client.Info // the sender, which exporters may depend on
	tenant     spanlink.Tenant
	arrived    time.Time
	bytes      int64  // encoded as OTLP, or compressed
	storageKey uint64 // 0 if not stored
	group      string // of messages that may share a batch
	retries    retries

	separated bool // the parts are single profiles of a batch

	joined []*heldMessage // messages whose parts this one has; they only have their place in the storage

	// Owned by the queue.
	nextAttempt      time.Time
	batch            *batch // nil = none
	queued           bool   // in a schedule, at index
	index            int
	byCount, byBytes place
}

// waitQueue contains the held messages. They do not block each other: each message is forwarded
// when it is due, and retried later if the next component refuses it (see retry.go).
//
// Tenants share the limits of the queue, see shares. When it is full, the tenant that uses the most
// of the exhausted limit, messages or bytes, loses its oldest message.
type waitQueue struct {
	maxCount   int
	maxBytes   int64
	wait       time.Duration
	maxElapsed time.Duration // of the retries of a message; 0 = no limit
	batching   BatchConfig
	telemetry  *telemetry
	wake       chan struct{} // signals that messages may be due earlier than planned

	mu               sync.Mutex
	byCount, byBytes shares // including messages that are reserved but not scheduled yet
	schedules        [numSchedules]schedule
	turn             int               // the schedule of the last due message
	batches          map[string]*batch // that accept messages, by group
	next             nextState
}

func newWaitQueue(cfg *Config, t *telemetry) *waitQueue {
	return &waitQueue{
		maxCount: cfg.Link.MaxHeldProfiles, maxBytes: cfg.Link.MaxHeldBytes, wait: cfg.Link.Wait,
		maxElapsed: cfg.RetryOnFailure.MaxElapsedTime, batching: cfg.Batch, batches: map[string]*batch{}, telemetry: t, wake: make(chan struct{}, 1),
	}
}

// errQueueFull is the error for the sender of a message that the processor can neither hold nor
// forward.
var errQueueFull = errors.New("the queue of held profiles is full and the next component refuses profiles")

// decision states what to do with a message that needs memory in the queue.
type decision int

const (
	admit   decision = iota // memory is reserved
	release                 // forward the other message, then try again
	evict                   // drop the other message, then try again
	bypass                  // forward this message at once
	refuse                  // return errQueueFull
)

// reserve reserves memory for a message, or decides how to proceed without it. The oldest message
// of the tenant that uses the most is forwarded early. If the next component refuses that message,
// it is dropped only in favor of a tenant below an equal share; otherwise, new messages do not
// displace accepted ones.
func (q *waitQueue) reserve(ctx context.Context, h *heldMessage, now time.Time) (d decision, other *heldMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.addUse(h)
	full, limit := &q.byCount, int64(q.maxCount)
	switch {
	case q.byCount.senders.Size() > limit:
	case q.byBytes.senders.Size() > q.maxBytes:
		full, limit = &q.byBytes, q.maxBytes
	default:
		return admit, nil
	}
	other = full.largestOldest()
	belowShare := full.belowShare(h, other, limit)
	q.removeUse(h)
	switch canTry := !other.retries.suspect && q.next.canRetry(now); {
	case !other.queued: // this message, or another one that is not scheduled yet
		return bypass, nil
	case canTry:
		return release, q.dequeueBatch(ctx, other)
	case belowShare:
		q.dequeue(ctx, other)
		return evict, other
	case q.next.canBypass(now):
		return bypass, nil
	}
	return refuse, nil
}

// compresses reports whether new messages are compressed. uncounted bytes will be added.
func (q *waitQueue) compresses(uncounted int64) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.byBytes.senders.Size()+uncounted > q.maxBytes/compressedShare
}

// add queues a message with reserved memory until its wait is over.
func (q *waitQueue) add(ctx context.Context, h *heldMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h.compressed != nil { // it needs less than it reserved
		q.removeUse(h)
		q.addUse(h)
	}
	q.scheduleNew(ctx, h)
}

// cancel releases reserved memory.
func (q *waitQueue) cancel(h *heldMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.removeUse(h)
}

// restore queues a message from the storage, regardless of the limits.
func (q *waitQueue) restore(ctx context.Context, h *heldMessage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.addUse(h)
	q.scheduleNew(ctx, h)
}

// scheduleNew queues a message until its wait is over. Messages that were refused before a restart
// are in no batch.
func (q *waitQueue) scheduleNew(ctx context.Context, h *heldMessage) {
	h.nextAttempt = h.arrived.Add(q.wait)
	if q.batching.enabled() && !h.retries.suspect {
		q.addToBatch(h)
	}
	q.schedule(ctx, h)
}

// isEmpty reports whether the queue has no messages.
func (q *waitQueue) isEmpty() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.byCount.senders.Len() == 0
}

// minPause limits how often a processor without a wait time checks the queue.
const minPause = 100 * time.Millisecond

// popDue removes and returns a due message, from each schedule in turn. If there is none, it
// returns nil and the time until the next one may be due.
func (q *waitQueue) popDue(ctx context.Context, now time.Time) (h *heldMessage, pause time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	pause = max(q.wait, q.batching.Timeout, minPause) // messages that arrive meanwhile are due later
	for i := range numSchedules {
		s := (q.turn + 1 + i) % numSchedules
		h := q.schedules[s].first(now)
		if h == nil {
			continue
		}
		due := h.nextAttempt
		if s == refused {
			due = q.next.retryAt(due)
		}
		if due.After(now) {
			pause = min(pause, due.Sub(now))
			continue
		}
		if s == refused {
			q.next.retriedAt = now
		}
		q.turn = s
		return q.dequeueBatch(ctx, h), 0
	}
	return nil, pause
}

// popAny removes and returns any message, or nil. Messages that were never refused come first.
func (q *waitQueue) popAny(ctx context.Context) *heldMessage {
	q.mu.Lock()
	defer q.mu.Unlock()
	for s := range numSchedules {
		if h := q.schedules[s].first(time.Time{}); h != nil {
			return q.dequeueBatch(ctx, h)
		}
	}
	return nil
}

// addUse counts a message against the limits of its tenant.
func (q *waitQueue) addUse(h *heldMessage) {
	h.byCount, h.byBytes = q.byCount.add(h, 1), q.byBytes.add(h, h.bytes)
}

func (q *waitQueue) removeUse(h *heldMessage) {
	q.byCount.remove(h, h.byCount)
	q.byBytes.remove(h, h.byBytes)
}

// workDone counts the work of linking and transforming a message, which orders the due messages of
// senders.
func (q *waitQueue) workDone(h *heldMessage, work int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.schedules[waiting].workDone(h.tenant.Authenticated, work)
}

func (q *waitQueue) schedule(ctx context.Context, h *heldMessage) {
	q.schedules[h.retries.schedule()].add(h)
	h.queued = true
	q.heldChanged(ctx, h, 1)
}

func (q *waitQueue) dequeue(ctx context.Context, h *heldMessage) {
	q.schedules[h.retries.schedule()].remove(h)
	h.queued = false
	q.removeUse(h)
	if q.next.lastRefused == h {
		q.next.lastRefused = nil
	}
	if b := h.batch; b != nil && q.batches[b.group] == b {
		delete(q.batches, b.group)
	}
	q.heldChanged(ctx, h, -1)
}

// heldChanged counts a message that is now held, or no longer. Those that wait for the next
// component do not wait for their spans.
func (q *waitQueue) heldChanged(ctx context.Context, h *heldMessage, messages int64) {
	q.telemetry.heldChanged(ctx, messages, messages*h.bytes)
	if h.retries.schedule() == waiting {
		notices.Shared.Hold(componentType.String(), messages, q.wait)
	}
}
