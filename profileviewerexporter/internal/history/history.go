// SPDX-License-Identifier: Apache-2.0

// Package history keeps a copy of the viewer's store in a storage extension, so that stored
// messages survive a restart.
//
// The storage has the messages of the store, each under a number, and the range of these numbers.
// It has the same limits as the store: an evicted message is deleted from the storage as well. All
// accesses except the first one happen in the background. If the storage fails, messages are not
// copied; the store is not affected.
package history

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// Operations that may fail.
const (
	OpenOperation   = "open"
	LoadOperation   = "load"
	StoreOperation  = "store"
	DeleteOperation = "delete"
)

const (
	keyRange = "range"

	// maxTransaction is the maximum size of the messages in a transaction, except for a single
	// message: the storage extension copies a transaction.
	maxTransaction = 4 << 20

	// retryPause is the minimum time between a failed transaction and the next one.
	retryPause = time.Second

	// closeTimeout is the maximum time that a storage may take to finish. The collector then stops
	// without waiting for it.
	closeTimeout = 5 * time.Second
)

// History copies the messages of a store. It implements [store.Recorder].
type History struct {
	client storage.Client
	store  *store.Store
	failed func(operation string, err error)
	end    chan struct{}

	mu        sync.Mutex
	changed   sync.Cond
	pending   map[uint64]*store.Message // to be written, unless they are evicted before
	queue     []uint64                  // numbers of pending messages, and of evicted ones
	deletions []uint64
	present   map[uint64]struct{} // numbers in the storage, or soon
	first     uint64              // no smaller number is in the storage
	next      uint64
	lastID    uint64 // the highest ID of a profile
	loaded    bool   // present has all numbers
	closing   bool

	restoring sync.Mutex
	discard   bool // messages that are not loaded yet are deleted

	background sync.WaitGroup
}

// Open starts to copy the messages of a store and to load those of earlier runs. The store must be
// empty. failed reports errors; it must not block.
func Open(ctx context.Context, client storage.Client, s *store.Store, failed func(operation string, err error)) (*History, error) {
	h := &History{
		client: client, store: s, failed: failed, end: make(chan struct{}),
		pending: map[uint64]*store.Message{}, present: map[uint64]struct{}{}, first: 1, next: 1,
	}
	h.changed.L = &h.mu
	if err := h.loadRange(ctx); errors.Is(err, collector.ErrDamaged) { // the messages cannot be found; they will be overwritten
		failed(LoadOperation, fmt.Errorf("range: %w", err))
	} else if err != nil {
		return nil, fmt.Errorf("cannot read the range of stored messages: %w", errors.Join(err, client.Close(ctx)))
	}
	s.Record(h, h.lastID)
	first, next := h.first, h.next
	h.background.Go(func() { h.load(first, next) })
	h.background.Go(h.write)
	return h, nil
}

func (h *History) loadRange(ctx context.Context) error {
	stored, err := h.client.Get(ctx, keyRange)
	if err != nil || stored == nil {
		return err
	}
	value, err := collector.VerifyChecksum(stored)
	if err != nil || len(value) != 3*8 {
		return collector.ErrDamaged
	}
	h.first, h.next, h.lastID = binary.BigEndian.Uint64(value), binary.BigEndian.Uint64(value[8:]), binary.BigEndian.Uint64(value[16:])
	return nil
}

// Added implements [store.Recorder].
func (h *History) Added(m *store.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if m.Number != 0 {
		return // it was loaded
	}
	m.Number = h.next
	h.next++
	h.lastID = max(h.lastID, m.LastID())
	h.pending[m.Number], h.present[m.Number] = m, struct{}{}
	h.queue = append(h.queue, m.Number)
	h.changed.Broadcast()
}

// Removed implements [store.Recorder].
func (h *History) Removed(m *store.Message) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, unwritten := h.pending[m.Number]; unwritten {
		delete(h.pending, m.Number)
		delete(h.present, m.Number)
		return
	}
	h.remove(m.Number)
}

func (h *History) remove(number uint64) {
	h.deletions = append(h.deletions, number)
	h.changed.Broadcast()
}

// Discard deletes the messages of earlier runs that are not loaded yet.
func (h *History) Discard() {
	h.restoring.Lock()
	defer h.restoring.Unlock()
	h.discard = true
}

// load loads the messages of earlier runs, the latest first: if the store has no room for all of
// them, it evicts the oldest ones.
func (h *History) load(first, next uint64) {
	for number := next; number > first; {
		number--
		select {
		case <-h.end:
			return
		default:
		}
		h.loadOne(number)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.loaded = true
}

func (h *History) loadOne(number uint64) {
	value, err := h.client.Get(context.Background(), keyOf(number))
	if err == nil && value == nil {
		return // it was evicted
	}
	h.mu.Lock()
	h.present[number] = struct{}{}
	h.mu.Unlock()
	stored := false
	if err == nil {
		stored, err = h.restore(number, value)
	}
	if err != nil {
		h.failed(LoadOperation, fmt.Errorf("message %d: %w", number, err))
	}
	if !stored {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.remove(number)
	}
}

func (h *History) restore(number uint64, value []byte) (stored bool, err error) {
	m, err := decode(value)
	if err != nil {
		return false, err
	}
	m.Number = number
	h.restoring.Lock()
	defer h.restoring.Unlock()
	if h.discard {
		return false, nil
	}
	return h.store.Restore(m, time.Now())
}

// write executes changes until the history is closed.
func (h *History) write() {
	for {
		deletions, messages, ok := h.nextChanges()
		if !ok {
			return
		}
		deleted := h.delete(deletions)
		if h.storeAll(messages) && deleted {
			continue
		}
		select {
		case <-time.After(retryPause):
		case <-h.end:
		}
	}
}

// nextChanges waits for changes. It returns no more messages than fit in a transaction.
func (h *History) nextChanges() (deletions []uint64, messages []*store.Message, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for len(h.deletions) == 0 && len(h.pending) == 0 {
		if h.closing {
			return nil, nil, false
		}
		h.changed.Wait()
	}
	deletions, h.deletions = h.deletions, nil
	size := 0
	for len(h.queue) > 0 && size < maxTransaction {
		m := h.pending[h.queue[0]]
		if m != nil && size > 0 && size+m.EncodedSize() > maxTransaction {
			break
		}
		h.queue = h.queue[1:]
		if m != nil {
			delete(h.pending, m.Number)
			messages, size = append(messages, m), size+m.EncodedSize()
		}
	}
	return deletions, messages, true
}

// delete deletes messages. If this fails, the next transaction tries again, unless the history is
// closed.
func (h *History) delete(numbers []uint64) (ok bool) {
	if len(numbers) == 0 {
		return true
	}
	h.mu.Lock()
	for _, number := range numbers {
		delete(h.present, number)
	}
	h.mu.Unlock()
	var operations []*storage.Operation
	for _, number := range numbers {
		operations = append(operations, storage.DeleteOperation(keyOf(number)))
	}
	err := h.transact(operations)
	if err == nil {
		return true
	}
	h.failed(DeleteOperation, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, number := range numbers {
		h.present[number], h.first = struct{}{}, min(h.first, number)
	}
	if !h.closing {
		h.deletions = append(h.deletions, numbers...)
	}
	return false
}

// storeAll stores messages. If this fails, they are not copied.
func (h *History) storeAll(messages []*store.Message) (ok bool) {
	if len(messages) == 0 {
		return true
	}
	var operations []*storage.Operation
	for _, m := range messages {
		operations = append(operations, storage.SetOperation(keyOf(m.Number), encode(m)))
	}
	err := h.transact(operations)
	if err == nil {
		return true
	}
	h.failed(StoreOperation, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, m := range messages {
		delete(h.present, m.Number)
	}
	return false
}

// transact executes operations and stores the range of numbers after them.
func (h *History) transact(operations []*storage.Operation) error {
	return h.client.Batch(context.Background(), append(operations, storage.SetOperation(keyRange, h.bounds()))...)
}

func (h *History) bounds() []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ; h.loaded && h.first < h.next; h.first++ {
		if _, present := h.present[h.first]; present {
			break
		}
	}
	bounds := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, h.first), h.next)
	return collector.AppendChecksum(binary.BigEndian.AppendUint64(bounds, h.lastID))
}

// errSlow is the error of Close if the storage does not finish.
var errSlow = errors.New("storage: did not finish in time; the last messages may be lost")

// Close writes the latest messages and closes the storage.
func (h *History) Close(ctx context.Context) error {
	h.mu.Lock()
	h.closing = true
	h.changed.Broadcast()
	h.mu.Unlock()
	close(h.end)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h.background.Wait()
	}()
	select {
	case <-done:
		return h.client.Close(ctx)
	case <-time.After(closeTimeout):
		return errSlow
	}
}

func keyOf(number uint64) string { return strconv.FormatUint(number, 10) }
