// SPDX-License-Identifier: Apache-2.0

// Package dedup recognizes data that a receiver has accepted before. SDKs send data again after a
// crash, after a restart of the application, or when they did not receive a response.
//
//	attempt, err := window.Begin(ctx, ids)  // waits for other attempts with one of the IDs
//	…                                       // drop the data of attempt.Seen, deliver the rest
//	err = attempt.Finish(ctx, dedup.All)    // or 0: the data may be sent again
package dedup

import (
	"context"
	"errors"
	"math"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// ID identifies data of a tenant.
type ID struct {
	Tenant string // tenants have fair shares of a window
	Kind   string // data of different kinds may have the same value
	Value  [24]byte
}

// Parts is a set of parts of the data with one ID, for receivers that deliver it in parts. A
// receiver defines the bits.
type Parts uint8

// All is the complete data.
const All Parts = math.MaxUint8

// Window remembers the IDs that were accepted most recently: a limited number of IDs, for a limited
// time, with a fair share for each tenant.
type Window struct {
	config Config
	now    func() time.Time

	mu       sync.Mutex
	accepted map[ID]*entry
	order    queue
	pending  map[ID]chan struct{} // closed at the end of the attempt
	slots    slots

	storing sync.Mutex     // serializes writes; locked before mu
	client  storage.Client // nil = in memory only
	stored  uint64         // highest slot in the storage
}

type (
	queue = fairshare.Queue[string, record]
	entry = fairshare.Entry[string, record]
)

// record is the information that a window keeps about an ID.
type record struct {
	id    ID
	at    time.Time // of acceptance
	parts Parts
	slot  uint64 // in the storage; 0 = none, as for incomplete data
}

// New returns an empty window.
func New(config Config) *Window {
	return &Window{config: config, now: time.Now, accepted: map[ID]*entry{}, pending: map[ID]chan struct{}{}}
}

// Attempt is the delivery of data with some IDs. Those that are not Seen are pending until it is
// finished.
type Attempt struct {
	Seen  []bool // per ID: accepted before, or the same as an earlier one
	Parts Parts  // of the first ID, accepted before

	window   *Window
	fresh    []ID
	finished chan struct{}
}

// ErrPending is the error of TryBegin during another attempt with the ID.
var ErrPending = errors.New("another attempt is in progress")

// Begin starts an attempt. If one of the IDs is pending, Begin waits for the end of that attempt:
// dropping the data now could lose both copies. It claims nothing while it waits, so attempts
// cannot block each other. The error is that of the context.
func (w *Window) Begin(ctx context.Context, ids []ID) (*Attempt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for pending := w.firstPending(ids); pending != nil; pending = w.firstPending(ids) {
		w.mu.Unlock()
		var err error
		select {
		case <-pending:
		case <-ctx.Done():
			err = ctx.Err()
		}
		w.mu.Lock()
		if err != nil {
			return nil, err
		}
	}
	return w.begin(ids), nil
}

// TryBegin starts an attempt, or fails with ErrPending.
func (w *Window) TryBegin(id ID) (*Attempt, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if ids := []ID{id}; w.firstPending(ids) == nil {
		return w.begin(ids), nil
	}
	return nil, ErrPending
}

// Has reports whether complete data with the ID was accepted.
func (w *Window) Has(id ID) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.expire(w.now())
	e := w.accepted[id]
	return e != nil && e.Value.parts == All
}

// Pending returns the number of IDs with an attempt in progress.
func (w *Window) Pending() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.pending)
}

func (w *Window) firstPending(ids []ID) chan struct{} {
	for _, id := range ids {
		if pending, ok := w.pending[id]; ok {
			return pending
		}
	}
	return nil
}

func (w *Window) begin(ids []ID) *Attempt {
	w.expire(w.now())
	a := &Attempt{window: w, Seen: make([]bool, len(ids)), fresh: make([]ID, 0, len(ids)), finished: make(chan struct{})}
	for i, id := range ids {
		var before Parts
		if e := w.accepted[id]; e != nil {
			before = e.Value.parts
		}
		if i == 0 {
			a.Parts = before
		}
		_, repeated := w.pending[id]
		if a.Seen[i] = before == All || repeated; !a.Seen[i] {
			w.pending[id] = a.finished
			a.fresh = append(a.fresh, id)
		}
	}
	return a
}

// Finish ends an attempt: accepted are the parts that were delivered, 0 if nothing was. The error
// is that of the storage; the window then remembers the IDs in memory.
func (a *Attempt) Finish(ctx context.Context, accepted Parts) error {
	w := a.window
	w.storing.Lock()
	defer w.storing.Unlock()
	return w.write(ctx, w.finish(a, accepted))
}

// finish returns the records to store.
func (w *Window) finish(a *Attempt, accepted Parts) (complete []record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.expire(now)
	for _, id := range a.fresh {
		delete(w.pending, id)
		if accepted == 0 {
			continue
		}
		r := record{id: id, at: now, parts: accepted}
		if before := w.accepted[id]; before != nil {
			r.parts |= before.Value.parts
			w.remove(before)
		}
		if e := w.add(r); e != nil && r.parts == All {
			e.Value.slot = w.slots.take() // after the eviction, so that there are no more slots than IDs
			complete = append(complete, e.Value)
		}
	}
	close(a.finished)
	return complete
}

// add returns the entry, or nil if it is the one that was evicted.
func (w *Window) add(r record) *entry {
	w.accepted[r.id] = w.order.Push(r.id.Tenant, r, 1)
	for w.order.Len() > w.config.MaxIDs {
		w.remove(w.order.LargestOldest())
	}
	return w.accepted[r.id]
}

func (w *Window) expire(now time.Time) {
	for oldest := w.order.Oldest(); oldest != nil && now.Sub(oldest.Value.at) >= w.config.MaxAge; oldest = w.order.Oldest() {
		w.remove(oldest)
	}
}

func (w *Window) remove(e *entry) {
	w.slots.release(e.Value.slot)
	delete(w.accepted, e.Value.id)
	w.order.Remove(e)
}
