// SPDX-License-Identifier: Apache-2.0

// Package history keeps a copy of the viewer's store in a storage extension, so that stored
// messages survive a restart.
//
// It has the same limits as the store: an evicted message is removed from the storage as well. All
// accesses except the first one happen in the background. If the storage fails, messages are not
// copied; the store is not affected.
package history

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// OpenOperation is an operation that may fail, in addition to those of the journal.
const OpenOperation = "open"

// keyLastID is the key of the highest ID of a profile.
const keyLastID = "last_id"

// History copies the messages of a store. It implements [store.Recorder].
type History struct {
	journal *journal.Journal
	store   *store.Store
	lastID  atomic.Uint64
	loaded  chan struct{} // closed after the load

	restoring sync.Mutex
	discard   bool // messages that are not loaded yet are removed
}

// Open starts to copy the messages of a store and to load those of earlier runs. The store must be
// empty. failed reports errors; it must not block.
func Open(ctx context.Context, client storage.Client, s *store.Store, failed func(operation string, err error)) (*History, error) {
	h := &History{store: s, loaded: make(chan struct{})}
	var err error
	h.journal, err = journal.Open(ctx, client, journal.Options{
		Failed: failed, Upgrade: upgrade, State: &journal.State{Key: keyLastID, Encode: h.encodeLastID, Decode: h.decodeLastID},
	})
	if err != nil {
		return nil, err
	}
	s.Record(h, h.lastID.Load())
	h.journal.Go(h.load)
	return h, nil
}

func (h *History) encodeLastID() ([]byte, error) {
	return binary.BigEndian.AppendUint64(nil, h.lastID.Load()), nil
}

func (h *History) decodeLastID(value []byte) error {
	if len(value) != 8 {
		return collector.ErrDamaged
	}
	h.lastID.Store(binary.BigEndian.Uint64(value))
	return nil
}

// Added implements [store.Recorder].
func (h *History) Added(m *store.Message) {
	if m.Number != 0 {
		return // it was loaded
	}
	h.lastID.Store(max(h.lastID.Load(), m.LastID()))
	m.Number = h.journal.Add(recordOf(m), func(int64) {})
}

// Removed implements [store.Recorder].
func (h *History) Removed(m *store.Message) {
	if m.Number != 0 {
		h.journal.Remove(m.Number, nil)
	}
}

// Discard removes the messages of earlier runs that are not loaded yet.
func (h *History) Discard() {
	h.restoring.Lock()
	defer h.restoring.Unlock()
	h.discard = true
}

// load loads the messages of earlier runs, the latest first: if the store has no room for all of
// them, it evicts the oldest ones.
func (h *History) load() {
	defer close(h.loaded)
	for number, record := range h.journal.Earlier(context.Background(), true) {
		switch stored, err := h.restore(number, record); {
		case err != nil:
			h.journal.Unreadable(number, err)
		case !stored:
			h.journal.Remove(number, nil)
		}
	}
}

func (h *History) restore(number uint64, record journal.Record) (stored bool, err error) {
	m, err := messageOf(record)
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

// Close writes the latest messages and closes the storage.
func (h *History) Close(ctx context.Context) error { return h.journal.Close(ctx) }

var errNoMessage = errors.New("is not a message")
