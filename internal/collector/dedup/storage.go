// SPDX-License-Identifier: Apache-2.0

package dedup

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// The storage is a copy of the window: an ID is in "slot/N" while the window remembers it, and
// "slots" is the highest N. Slots of forgotten IDs are reused, so the storage has the same bounds
// and the same fair shares as the window. The slots are numbered because extensions cannot list
// their keys.

// storageName separates the window from other data of the receiver in the same extension.
const storageName = "dedup"

// loadBatch is the number of slots that are read at a time.
const loadBatch = 1000

const slotCountKey = "slots"

func slotKey(slot uint64) string { return fmt.Sprintf("slot/%d", slot) }

// slots assigns slots to IDs.
type slots struct {
	count uint64 // highest slot so far; the first is 1
	free  []uint64
}

func (s *slots) take() uint64 {
	if last := len(s.free) - 1; last >= 0 {
		slot := s.free[last]
		s.free = s.free[:last]
		return slot
	}
	s.count++
	return s.count
}

func (s *slots) release(slot uint64) {
	if slot > 0 {
		s.free = append(s.free, slot)
	}
}

// Start loads the IDs from the configured storage, if there is one. From then on the window keeps a
// copy of them there.
func (w *Window) Start(ctx context.Context, host component.Host, receiver component.ID, logger *zap.Logger) error {
	id := w.config.Storage
	if id == nil {
		return nil
	}
	client, err := collector.StorageClient(ctx, host, *id, component.KindReceiver, receiver, storageName)
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	damaged, err := w.load(ctx, client)
	if err != nil {
		return errors.Join(fmt.Errorf("dedup: storage: cannot read %q: %w", id, err), client.Close(ctx))
	}
	if damaged > 0 {
		logger.Warn("Dropped damaged IDs from the dedup storage: their data is accepted again", zap.Int("ids", damaged))
	}
	return nil
}

// Shutdown closes the storage.
func (w *Window) Shutdown(ctx context.Context) error {
	w.storing.Lock()
	defer w.storing.Unlock()
	if w.client == nil {
		return nil
	}
	client := w.client
	w.client = nil
	return client.Close(ctx)
}

func (w *Window) load(ctx context.Context, client storage.Client) (damaged int, err error) {
	w.storing.Lock()
	defer w.storing.Unlock()
	count, err := loadSlotCount(ctx, client)
	if errors.Is(err, collector.ErrDamaged) {
		damaged++ // the number of IDs is unknown
	} else if err != nil {
		return 0, err
	}
	var records []record
	for first := uint64(1); first <= count; first += loadBatch {
		var reads []*storage.Operation
		for slot := first; slot <= min(count, first+loadBatch-1); slot++ {
			reads = append(reads, storage.GetOperation(slotKey(slot)))
		}
		if err := client.Batch(ctx, reads...); err != nil {
			return 0, err
		}
		for i, read := range reads {
			r, err := decodeRecord(read.Value)
			if err != nil {
				damaged++
			}
			r.slot = first + uint64(i)
			records = append(records, r)
		}
	}
	w.restore(records)
	w.client, w.stored = client, count
	return damaged, nil
}

func loadSlotCount(ctx context.Context, client storage.Client) (uint64, error) {
	value, err := client.Get(ctx, slotCountKey)
	if err != nil || len(value) == 0 {
		return 0, err
	}
	count, err := collector.VerifyChecksum(value)
	if err != nil || len(count) != 8 {
		return 0, collector.ErrDamaged
	}
	return binary.BigEndian.Uint64(count), nil
}

// restore fills the window with a record per slot; those without an ID are free. An ID is in
// several slots after it was forgotten and accepted again.
func (w *Window) restore(records []record) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots.count = uint64(len(records))
	slices.SortStableFunc(records, func(a, b record) int { return a.at.Compare(b.at) })
	for _, r := range records {
		if r.parts != All {
			w.slots.release(r.slot)
			continue
		}
		if before := w.accepted[r.id]; before != nil {
			w.remove(before)
		}
		w.add(r)
	}
	w.expire(w.now())
}

// write stores the records of complete data.
func (w *Window) write(ctx context.Context, complete []record) error {
	if w.client == nil || len(complete) == 0 {
		return nil
	}
	var writes []*storage.Operation
	highest := uint64(0)
	for _, r := range complete {
		writes = append(writes, storage.SetOperation(slotKey(r.slot), encodeRecord(r)))
		highest = max(highest, r.slot)
	}
	if highest > w.stored {
		writes = append(writes, storage.SetOperation(slotCountKey, collector.AppendChecksum(binary.BigEndian.AppendUint64(nil, highest))))
	}
	if err := w.client.Batch(ctx, writes...); err != nil {
		return err
	}
	w.stored = max(w.stored, highest)
	return nil
}

// encodeRecord: the time in nanoseconds, the value, the kind, NUL, the tenant.
func encodeRecord(r record) []byte {
	text := binary.BigEndian.AppendUint64(nil, uint64(r.at.UnixNano()))
	text = append(text, r.id.Value[:]...)
	text = append(text, r.id.Kind...)
	text = append(text, 0)
	return collector.AppendChecksum(append(text, r.id.Tenant...))
}

// decodeRecord returns the zero record for an empty slot.
func decodeRecord(stored []byte) (r record, err error) {
	if len(stored) == 0 {
		return r, nil
	}
	text, err := collector.VerifyChecksum(stored)
	kind, tenant, ok := strings.Cut(string(text[min(len(text), 8+len(r.id.Value)):]), "\x00")
	if err != nil || !ok {
		return r, cmp.Or(err, collector.ErrDamaged)
	}
	r.id = ID{Tenant: tenant, Kind: kind, Value: [24]byte(text[8:])}
	r.at, r.parts = time.Unix(0, int64(binary.BigEndian.Uint64(text))), All
	return r, nil
}
