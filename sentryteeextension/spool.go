// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

// spool stores requests in a storage extension, each under its own number, and the range of these
// numbers. A single goroutine writes. It combines concurrent requests and deletions into one
// transaction.
type spool struct {
	client storage.Client
	failed func(operation string, err error)

	mu      sync.Mutex
	changed *sync.Cond
	pending []*write
	present map[uint64]struct{}
	reports *reports
	first   uint64 // no stored number is lower
	next    uint64
	closing bool
	unsaved bool // the storage does not have the current reports; used by the writer only

	writer sync.WaitGroup
}

// write stores a value or, if it has none, deletes a number; number 0 means neither.
type write struct {
	number uint64
	value  []byte
	stored chan error // receives the result of storing a value

	key    key // of the losses: storing a value removes them from the losses to be reported, a deletion adds them
	losses omit.Losses
}

// sign returns 1 if a write adds its losses to those to be reported, and -1 if it removes them.
func (w *write) sign() int64 {
	if w.value != nil {
		return -1
	}
	return 1
}

const (
	keyRange  = "range"
	keyLosses = "losses"

	// maxStoredBody is the maximum size of a stored body. Minidumps are larger, but streamed; the
	// largest recorded envelope is 1.3 MB.
	maxStoredBody = 20 << 20

	// maxTransaction is the maximum size of a transaction, without its first value.
	maxTransaction = 4 << 20
)

// openSpool opens the storage of a tee.
func openSpool(ctx context.Context, host component.Host, extension, tee component.ID, losses *reports, failed func(string, error)) (*spool, error) {
	opener, err := collector.StorageExtension(host, extension)
	if err != nil {
		return nil, err
	}
	c, err := opener.GetClient(ctx, component.KindExtension, tee, "requests")
	if err != nil {
		return nil, fmt.Errorf("storage: cannot open %q: %w", extension, err)
	}
	s := &spool{client: c, failed: failed, reports: losses, present: map[uint64]struct{}{}, first: 1, next: 1}
	s.changed = sync.NewCond(&s.mu)
	return s, nil
}

// start starts the writer. It must be called after load.
func (s *spool) start() { s.writer.Go(s.writeAll) }

// put stores a request and returns its number and size. It returns when the request is stored.
func (s *spool) put(r *request) (uint64, int64, error) {
	value, err := encodeRequest(r)
	if err != nil {
		return 0, 0, err
	}
	w := &write{value: value, stored: make(chan error, 1), key: r.key(), losses: omit.LossesOf(r.Losses)}
	s.mu.Lock()
	if s.closing {
		s.mu.Unlock()
		return 0, 0, errClosed
	}
	w.number = s.next
	s.next++
	s.present[w.number] = struct{}{}
	s.pending = append(s.pending, w)
	s.mu.Unlock()
	s.changed.Signal()
	if err := <-w.stored; err != nil {
		s.forget(w.number)
		return 0, 0, err
	}
	return w.number, int64(len(value)), nil
}

var errClosed = errors.New("the storage is closed")

// get reads a request.
func (s *spool) get(ctx context.Context, number uint64) (*request, error) {
	value, err := s.client.Get(ctx, keyOf(number))
	if err != nil {
		return nil, fmt.Errorf("request %d: %w", number, err)
	}
	return decodeRequest(value)
}

// remove deletes a request later, and adds its omitted data to the losses to be reported. If the
// process is killed before the deletion, the request is sent again.
func (s *spool) remove(number uint64, k key, losses omit.Losses) {
	s.forget(number)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, &write{number: number, key: k, losses: losses})
	s.changed.Signal()
}

// note adds losses of a request that is not stored.
func (s *spool) note(k key, losses omit.Losses) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pending = append(s.pending, &write{key: k, losses: losses})
	s.changed.Signal()
}

func (s *spool) forget(number uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.present, number)
	for ; s.first < s.next; s.first++ {
		if _, present := s.present[s.first]; present {
			return
		}
	}
}

// load calls found for each request of earlier runs, in their order.
func (s *spool) load(ctx context.Context, found func(number uint64, size int64, r *request)) error {
	losses, err := s.client.Get(ctx, keyLosses)
	if err != nil {
		return fmt.Errorf("storage: cannot read the losses to report to Sentry: %w", err)
	}
	if losses != nil {
		if err := s.reports.decode(losses); err != nil {
			s.failed("losses", err)
		}
	}
	value, err := s.client.Get(ctx, keyRange)
	if err != nil {
		return fmt.Errorf("storage: cannot read the range of stored requests: %w", err)
	}
	if value == nil {
		return nil
	}
	bounds, err := collector.VerifyChecksum(value)
	if err != nil || len(bounds) != 16 { // earlier requests cannot be found; they will be overwritten
		s.failed("range", collector.ErrDamaged)
		return nil
	}
	s.first, s.next = binary.BigEndian.Uint64(bounds), binary.BigEndian.Uint64(bounds[8:])
	for number := s.first; number < s.next; number++ {
		value, err := s.client.Get(ctx, keyOf(number))
		if err == nil && value == nil {
			continue // was sent and deleted
		}
		var r *request
		if err == nil {
			r, err = decodeRequest(value)
		}
		s.present[number] = struct{}{}
		switch {
		case err == nil:
			found(number, int64(len(value)), r)
		case errors.Is(err, collector.ErrDamaged):
			s.failed("load", fmt.Errorf("request %d: %w", number, err))
			s.remove(number, key{}, nil)
		default: // kept for the next start, or for the version that wrote it
			s.failed("load", fmt.Errorf("request %d: %w", number, err))
		}
	}
	return nil
}

// writeAll executes writes until the spool is closed.
func (s *spool) writeAll() {
	for {
		writes, bounds, ok := s.nextWrites()
		if !ok {
			return
		}
		if err := s.transact(writes, bounds); err == nil || len(writes) == 1 {
			s.tell(writes, err)
			continue
		}
		for _, w := range writes { // deletions first: they free space on a full disk
			s.tell([]*write{w}, s.transact([]*write{w}, bounds))
		}
	}
}

// nextWrites waits for writes, and returns as many as fit in a transaction, deletions first.
func (s *spool) nextWrites() (writes []*write, bounds []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.pending) == 0 {
		if s.closing {
			return nil, nil, false
		}
		s.changed.Wait()
	}
	var later []*write
	size := 0
	for _, deletions := range []bool{true, false} {
		for _, w := range s.pending {
			if (w.value == nil) != deletions {
				continue
			}
			if size > 0 && size+len(w.value) > maxTransaction {
				later = append(later, w)
				continue
			}
			size += len(w.value)
			writes = append(writes, w)
		}
	}
	s.pending = later
	return writes, s.bounds(), true
}

// bounds returns the range of numbers in its stored form.
func (s *spool) bounds() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, s.first), s.next)
}

// transact executes writes in one transaction. Losses change in the same transaction as their
// requests.
func (s *spool) transact(writes []*write, bounds []byte) error {
	operations := make([]*storage.Operation, 0, len(writes)+2)
	changed := s.unsaved
	for _, w := range writes {
		if len(w.losses) > 0 {
			s.reports.add(w.key, w.losses, w.sign())
			changed = true
		}
		switch {
		case w.value != nil:
			operations = append(operations, storage.SetOperation(keyOf(w.number), w.value))
		case w.number != 0:
			operations = append(operations, storage.DeleteOperation(keyOf(w.number)))
		}
	}
	if changed {
		losses, err := s.reports.encode()
		if err != nil {
			return err
		}
		operations = append(operations, storage.SetOperation(keyLosses, losses))
	}
	err := s.client.Batch(context.Background(), append(operations, storage.SetOperation(keyRange, collector.AppendChecksum(bounds)))...)
	if err != nil {
		for _, w := range writes {
			s.reports.add(w.key, w.losses, -w.sign())
		}
		return err
	}
	s.unsaved = false
	return nil
}

func (s *spool) tell(writes []*write, err error) {
	for _, w := range writes {
		operation := "delete"
		if w.stored != nil {
			operation = "store"
			w.stored <- err
		}
		if err != nil {
			s.failed(operation, err)
		}
		if err != nil && w.value == nil {
			s.reports.add(w.key, w.losses, 1) // for this run, the request is deleted
			s.unsaved = s.unsaved || len(w.losses) > 0
		}
	}
}

// close executes pending writes and closes the storage.
func (s *spool) close(ctx context.Context) error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.changed.Broadcast()
	s.writer.Wait()
	if s.unsaved {
		if err := s.transact(nil, s.bounds()); err != nil {
			s.failed("losses", err)
		}
	}
	return s.client.Close(ctx)
}

func keyOf(number uint64) string { return strconv.FormatUint(number, 10) }

// formatVersion is the first byte of a stored request.
const formatVersion = 1

var (
	errNewerFormat = fmt.Errorf("has a newer format than this collector can read, which is version %d", formatVersion)
)

// encodeRequest returns the stored form of a request: the format version, the length of the head,
// the head as JSON, the body, and a checksum.
func encodeRequest(r *request) ([]byte, error) {
	head, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	value := append(make([]byte, 0, 1+4+len(head)+len(r.Body)+4), formatVersion)
	value = binary.BigEndian.AppendUint32(value, uint32(len(head)))
	return collector.AppendChecksum(append(append(value, head...), r.Body...)), nil
}

// decodeRequest is the inverse of encodeRequest.
func decodeRequest(sealed []byte) (*request, error) {
	value, err := collector.VerifyChecksum(sealed)
	switch {
	case err != nil:
		return nil, err
	case len(value) > 0 && value[0] > formatVersion:
		return nil, errNewerFormat
	case len(value) < 5 || uint32(len(value)-5) < binary.BigEndian.Uint32(value[1:]):
		return nil, fmt.Errorf("%w: is cut off", collector.ErrDamaged)
	}
	end := 5 + binary.BigEndian.Uint32(value[1:])
	r := &request{Body: value[end:]}
	if err := json.Unmarshal(value[5:end], r); err != nil {
		return nil, fmt.Errorf("%w: head: %w", collector.ErrDamaged, err)
	}
	return r, nil
}
