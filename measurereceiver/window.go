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
)

// window remembers what has been taken: the last so many, for a while. Two apps may use one id.
type window struct {
	size int
	ttl  time.Duration

	mu      sync.Mutex
	running map[takenKey]struct{} // requests under way
	taken   map[takenKey]taken
	ring    []takenKey // of taken, the oldest at next once it is full
	next    int

	client storage.Client // nil = in memory only
	slot   uint64         // in the client's ring
}

type takenKey struct {
	app appID
	id  uuid.UUID
}

// taken is what is known of a batch.
type taken struct {
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
	return &window{size: size, ttl: ttl, running: map[takenKey]struct{}{}, taken: map[takenKey]taken{}}
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
	before, known := w.taken[key]
	known = known && now.Before(before.expires)
	if known && before.complete { // since the first look
		return stateTaken, 0
	}
	w.running[key] = struct{}{}
	if !known {
		return stateNew, 0
	}
	return stateNew, before.signals
}

func (w *window) takenBefore(ctx context.Context, key takenKey, now time.Time) bool {
	w.mu.Lock()
	before, known := w.taken[key]
	client := w.client
	w.mu.Unlock()
	if known || client == nil {
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
	if _, known := w.taken[key]; !known {
		w.remember(key)
	}
	expires := now.Add(w.ttl)
	w.taken[key] = taken{expires, complete, done}
	if complete && w.client != nil {
		return w.persist(ctx, key, expires)
	}
	return nil
}

// remember takes the place of the oldest.
func (w *window) remember(key takenKey) {
	if len(w.ring) < w.size {
		w.ring = append(w.ring, key)
		return
	}
	delete(w.taken, w.ring[w.next])
	w.ring[w.next] = key
	w.next = (w.next + 1) % w.size
}

func (k takenKey) text() string { return hex.EncodeToString(k.app[:]) + "/" + k.id.String() }

// The storage has no list of its keys: "next" counts what was written, and "slot/N" has the key that was the Nth, modulo the
// size, so that each new one knows which to delete.
const slotKey = "next"

func (w *window) slotName() string { return fmt.Sprintf("slot/%d", w.slot%uint64(w.size)) }

// persistIn keeps complete batches in a storage too.
func (w *window) persistIn(ctx context.Context, client storage.Client) error {
	value, err := client.Get(ctx, slotKey)
	if err != nil {
		return fmt.Errorf("dedup: storage: %w", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(value) == 8 {
		w.slot = binary.BigEndian.Uint64(value)
	}
	w.client = client
	return nil
}

func (w *window) persist(ctx context.Context, key takenKey, expires time.Time) error {
	oldest, err := w.client.Get(ctx, w.slotName())
	if err != nil {
		return err
	}
	operations := []*storage.Operation{
		storage.SetOperation(w.slotName(), []byte(key.text())),
		storage.SetOperation(key.text(), binary.BigEndian.AppendUint64(nil, uint64(expires.Unix()))),
		storage.SetOperation(slotKey, binary.BigEndian.AppendUint64(nil, w.slot+1)),
	}
	if len(oldest) > 0 && string(oldest) != key.text() {
		operations = append(operations, storage.DeleteOperation(string(oldest)))
	}
	if err := w.client.Batch(ctx, operations...); err != nil {
		return err
	}
	w.slot++
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
