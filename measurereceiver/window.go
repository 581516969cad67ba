// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// window remembers what has been taken: the last so many, for a while, of each app a fair share. Two apps may use one id.
type window struct {
	size int
	ttl  time.Duration

	mu      sync.Mutex
	running map[takenKey]struct{} // requests under way
	taken   map[takenKey]*fairshare.Entry[appID, taken]
	order   fairshare.Queue[appID, taken] // of arrival

	client storage.Client   // nil = in memory only
	slots  map[appID]uint64 // in the client's rings, one for each app
}

type takenKey struct {
	app appID
	id  uuid.UUID
}

// taken is what is known of a batch.
type taken struct {
	key      takenKey
	expires  time.Time
	complete bool
	signals  signals // that have been handed on, if it is not complete
}

// signals is a set of signals.
type signals uint8

const (
	signalTraces signals = 1 << iota
	signalLogs
	signalMetrics
)

// State of a batch that a request brings.
type state int

const (
	stateNew state = iota
	stateRunning
	stateTaken
)

func newWindow(size int, ttl time.Duration) *window {
	return &window{size: size, ttl: ttl, running: map[takenKey]struct{}{}, taken: map[takenKey]*fairshare.Entry[appID, taken]{}}
}

// begin says what is known of a batch. If it is new, the caller has to end it; signals have then been handed on already.
func (w *window) begin(ctx context.Context, key takenKey, now time.Time) (state, signals) {
	if w.takenBefore(ctx, key, now) {
		return stateTaken, 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, running := w.running[key]; running {
		return stateRunning, 0
	}
	var before taken
	if e := w.taken[key]; e != nil && now.Before(e.Value.expires) {
		before = e.Value
	}
	if before.complete { // since the first look
		return stateTaken, 0
	}
	w.running[key] = struct{}{}
	return stateNew, before.signals
}

func (w *window) takenBefore(ctx context.Context, key takenKey, now time.Time) bool {
	w.mu.Lock()
	var before taken
	e, client := w.taken[key], w.client
	if e != nil {
		before = e.Value
	}
	w.mu.Unlock()
	if e != nil || client == nil {
		return before.complete && now.Before(before.expires)
	}
	value, err := client.Get(ctx, key.text())
	return err == nil && len(value) == 8 && now.Before(time.Unix(int64(binary.BigEndian.Uint64(value)), 0))
}

// end says what has become of a batch that begin called new. The error is of the storage; the batch is remembered in memory.
func (w *window) end(ctx context.Context, key takenKey, complete bool, done signals, now time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.running, key)
	if !complete && done == 0 {
		return nil
	}
	expires := now.Add(w.ttl)
	w.remember(taken{key, expires, complete, done})
	if complete && w.client != nil {
		return w.persist(ctx, key, expires)
	}
	return nil
}

// remember puts a batch in the place of the oldest of the app that has the most.
func (w *window) remember(t taken) {
	if e := w.taken[t.key]; e != nil {
		e.Value = t
		return
	}
	w.taken[t.key] = w.order.Push(t.key.app, t, 1)
	for w.order.Len() > w.size {
		oldest := w.order.LargestOldest()
		delete(w.taken, oldest.Value.key)
		w.order.Remove(oldest)
	}
}

func (k takenKey) text() string { return hex.EncodeToString(k.app[:]) + "/" + k.id.String() }

// The storage has no list of its keys: "next/APP" counts what an app has written, and "slot/APP/N" has the key that was its Nth,
// modulo the size, so that each new one knows which to delete.
func nextName(app appID) string { return fmt.Sprintf("next/%x", app) }

func (w *window) slotName(app appID) string {
	return fmt.Sprintf("slot/%x/%d", app, w.slots[app]%uint64(w.size))
}

// persistIn keeps complete batches in a storage too, of each app as many as the size.
func (w *window) persistIn(client storage.Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.client, w.slots = client, map[appID]uint64{}
}

// findSlot finds out how far the ring of an app is, the first time.
func (w *window) findSlot(ctx context.Context, app appID) error {
	if _, known := w.slots[app]; known {
		return nil
	}
	value, err := w.client.Get(ctx, nextName(app))
	if err == nil && len(value) == 8 {
		w.slots[app] = binary.BigEndian.Uint64(value)
	}
	return err
}

func (w *window) persist(ctx context.Context, key takenKey, expires time.Time) error {
	if err := w.findSlot(ctx, key.app); err != nil {
		return err
	}
	oldest, err := w.client.Get(ctx, w.slotName(key.app))
	if err != nil {
		return err
	}
	operations := []*storage.Operation{
		storage.SetOperation(w.slotName(key.app), []byte(key.text())),
		storage.SetOperation(key.text(), binary.BigEndian.AppendUint64(nil, uint64(expires.Unix()))),
		storage.SetOperation(nextName(key.app), binary.BigEndian.AppendUint64(nil, w.slots[key.app]+1)),
	}
	if len(oldest) > 0 && string(oldest) != key.text() {
		operations = append(operations, storage.DeleteOperation(string(oldest)))
	}
	if err := w.client.Batch(ctx, operations...); err != nil {
		return err
	}
	w.slots[key.app]++
	return nil
}

func (w *window) close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.client == nil {
		return nil
	}
	client := w.client
	w.client = nil
	return client.Close(ctx)
}
