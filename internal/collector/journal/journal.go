// SPDX-License-Identifier: Apache-2.0

// Package journal stores numbered records in a storage extension until they are removed, so that
// they survive a crash.
//
//	Add, Put ──▶ queued ──▶ stored ──▶ Remove ──▶ removed
//	                ╲ Remove: never written
//
// Extensions cannot list their keys. Each record is therefore under the next number, and another
// key has the range of these numbers; see format.go.
//
//   - A single goroutine writes. Concurrent changes share a transaction, which also has the range
//     and the state of the client, so that these always match the records.
//   - If a transaction fails, its removals are repeated, then each of its records on its own: on a
//     full disk, small ones may fit. A record that cannot be stored is reported to its client. A
//     failed removal is repeated later.
//   - A record that is damaged, or that its client cannot read, is removed. One that cannot be read
//     for the moment, or that a later version wrote, stays in the storage for the next start.
//   - A storage that does not respond delays neither Add nor Remove, and Close not for long.
package journal

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
)

// Operations that may fail, as in metrics.
const (
	LoadOperation   = "load"
	StoreOperation  = "store"
	DeleteOperation = "delete"
)

const (
	// maxTransaction is the maximum size of the records in a transaction, except for a single
	// record: storage extensions copy a transaction.
	maxTransaction = 4 << 20

	// retryPause is the time between a failed removal and the next attempt.
	retryPause = time.Second

	// closeTimeout is the maximum time that a storage may take to finish. The collector then stops
	// without waiting for it.
	closeTimeout = 5 * time.Second
)

// Options are the options of a journal.
type Options struct {
	Failed func(operation string, err error) // reports errors; must not block

	// Upgrade returns the record in a value of an earlier format version, which has no checksum. If
	// it is nil, these values are as those of this version.
	Upgrade func(version byte, value []byte) (Record, error)

	State *State // nil: none
}

// State is a value of the client that changes together with records.
type State struct {
	Key    string
	Encode func() ([]byte, error)
	Decode func([]byte) error
}

// Change changes the state of the client. The journal calls it with 1 for a transaction, and with
// -1 to undo that if the transaction fails. It must not call the journal.
type Change func(sign int64)

// Journal is a list of records in a storage.
type Journal struct {
	client     storage.Client
	options    Options
	earlier    bounds        // of the records of earlier runs
	wake       chan struct{} // has an entry after a change of the state below
	background sync.WaitGroup
	unsaved    bool // the storage does not have the current state; used by the writer only

	mu        sync.Mutex
	queue     list.List                // of *write: removals, then what is stored
	unwritten map[uint64]*list.Element // new records in the queue
	retryAt   time.Time                // of failed removals
	present   map[uint64]bool          // numbers in the storage, or soon; true: with the state of retries
	loaded    bool                     // present has all numbers
	bounds    bounds
	newer     bounds // of the records that a later version stored
	closing   bool
}

// write stores a record or the state of its retries, or removes a record. Number 0 means that only
// the state of the client changes.
type write struct {
	number     uint64
	record     *Record
	retries    []byte
	hasRetries bool // of a removal
	change     Change
	stored     chan error // receives the result; nil: nobody waits for it
}

func (w *write) isRemoval() bool { return w.record == nil && w.retries == nil }

// size returns the number of bytes that are stored.
func (w *write) size() int64 {
	if w.record == nil {
		return int64(len(w.retries))
	}
	return w.record.Size()
}

// Open opens a journal, and owns the client of the storage. The caller must then read all Earlier
// records.
func Open(ctx context.Context, client storage.Client, options Options) (*Journal, error) {
	j := &Journal{client: client, options: options, wake: make(chan struct{}, 1), unwritten: map[uint64]*list.Element{}, present: map[uint64]bool{}}
	if err := j.load(ctx); err != nil {
		return nil, fmt.Errorf("storage: cannot read %w", errors.Join(err, client.Close(ctx)))
	}
	j.earlier = j.bounds
	j.Go(j.run)
	return j, nil
}

// Go runs a function that Close waits for.
func (j *Journal) Go(f func()) { j.background.Go(f) }

// load reads the range and the state. A damaged range loses the records: they cannot be found, and
// will be overwritten.
func (j *Journal) load(ctx context.Context) error {
	value, err := j.client.Get(ctx, keyRange)
	if err != nil {
		return fmt.Errorf("%s: %w", keyRange, err)
	}
	var state []byte
	if j.bounds, state, err = decodeBounds(value); err != nil {
		j.failed(LoadOperation, keyRange, err)
	}
	if value, err = j.client.Get(ctx, keyNewer); err != nil {
		return fmt.Errorf("%s: %w", keyNewer, err)
	}
	if j.newer, _, err = decodeBounds(value); err != nil {
		j.failed(LoadOperation, keyNewer, err)
	}
	s := j.options.State
	if s == nil {
		return nil
	}
	if value, err = j.client.Get(ctx, s.Key); err != nil {
		return fmt.Errorf("%s: %w", s.Key, err)
	}
	if value != nil {
		_, state, err = open(value)
	}
	if err == nil && state != nil {
		err = s.Decode(state)
	}
	if err != nil {
		j.failed(LoadOperation, s.Key, err)
	}
	return nil
}

func (j *Journal) failed(operation, key string, err error) {
	j.options.Failed(operation, fmt.Errorf("%s: %w", key, err))
}

// Earlier returns the records of earlier runs, by number, the oldest or the newest ones first.
// Those of an earlier format version are stored again. It ends early when the journal is closed.
func (j *Journal) Earlier(ctx context.Context, newestFirst bool) iter.Seq2[uint64, Record] {
	return func(yield func(uint64, Record) bool) {
		upgraded := int64(0) // bytes in the queue
		newer, skipped := bounds{j.newer.next, j.newer.next}, []uint64(nil)
		kept := j.newer.next - j.newer.first
		all := kept + j.earlier.next - j.earlier.first
		for i := range all {
			if newestFirst {
				i = all - 1 - i
			}
			number := j.newer.first + i
			if i >= kept {
				number = j.earlier.first + i - kept
				if j.newer.has(number) {
					continue // it was, or will be, in the other range
				}
			}
			r, version, err := j.get(ctx, number)
			if errors.Is(err, errMissing) {
				continue
			}
			if !j.found(number) {
				return
			}
			if j.newer.has(number) || errors.Is(err, ErrNewer) {
				newer = newer.with(number)
			}
			switch {
			case errors.Is(err, collector.ErrDamaged):
				j.Unreadable(number, err)
				continue
			case errors.Is(err, ErrNewer):
				skipped = append(skipped, number)
				continue
			case err != nil:
				j.failed(LoadOperation, keyOf(number), err)
				continue
			case version < formatVersion:
				w := &write{number: number, record: &r, stored: make(chan error, 1)}
				j.enqueue(w)
				if upgraded += w.size(); upgraded >= maxTransaction {
					<-w.stored
					upgraded = 0
				}
			}
			if !yield(number, r) {
				return
			}
		}
		if len(skipped) > 0 {
			j.failed(LoadOperation, keyNewer, fmt.Errorf("%d records: %w", len(skipped), ErrNewer))
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		for _, number := range skipped {
			delete(j.present, number)
		}
		j.newer, j.loaded = newer, true
	}
}

// found adds a number to those in the storage, unless the journal is closed.
func (j *Journal) found(number uint64) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if !j.closing {
		j.present[number] = false
	}
	return !j.closing
}

// Get reads a record.
func (j *Journal) Get(ctx context.Context, number uint64) (Record, error) {
	r, _, err := j.get(ctx, number)
	return r, err
}

var errMissing = fmt.Errorf("%w: is missing", collector.ErrDamaged)

// get returns a record and the version of its format.
func (j *Journal) get(ctx context.Context, number uint64) (r Record, version byte, err error) {
	value, err := j.client.Get(ctx, keyOf(number))
	switch {
	case err != nil:
		return r, 0, err
	case value == nil:
		return r, 0, errMissing
	}
	return j.decode(value)
}

// Unreadable removes a record of an earlier run that the client cannot read.
func (j *Journal) Unreadable(number uint64, err error) {
	j.failed(LoadOperation, keyOf(number), err)
	j.Remove(number, nil)
}

// Add stores a record later and returns its number. The record must not change.
func (j *Journal) Add(r Record, change Change) (number uint64) {
	return j.add(&write{record: &r, change: change})
}

// Put stores a record and returns its number. When the context ends before, the record is removed.
func (j *Journal) Put(ctx context.Context, r Record, change Change) (number uint64, err error) {
	w := &write{record: &r, change: change, stored: make(chan error, 1)}
	number = j.add(w)
	select {
	case err = <-w.stored:
		return number, err
	case <-ctx.Done():
	}
	j.Remove(number, nil)
	err = fmt.Errorf("%w: the storage is busy", ctx.Err())
	j.failed(StoreOperation, keyOf(number), err)
	return number, err
}

func (j *Journal) add(w *write) (number uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	w.number = j.bounds.next
	if e := j.push(w); e != nil {
		j.bounds.next++
		j.present[w.number], j.unwritten[w.number] = false, e
	}
	return w.number
}

var errClosed = errors.New("the storage is closed")

// Remove removes a record later. A record that is not yet written never is: then neither its change
// nor this one is made. If the process is killed before the removal, the next run has the record
// again.
func (j *Journal) Remove(number uint64, change Change) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if e := j.unwritten[number]; e != nil {
		j.queue.Remove(e)
		delete(j.unwritten, number)
		delete(j.present, number)
		return
	}
	j.push(&write{number: number, change: change, hasRetries: j.present[number]})
}

// Change changes the state only.
func (j *Journal) Change(change Change) { j.enqueue(&write{change: change}) }

// SetRetries stores the state of the attempts to deliver a record, which is removed with it.
func (j *Journal) SetRetries(number uint64, state []byte) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, present := j.present[number]; present {
		j.present[number] = true
		j.push(&write{number: number, retries: state})
	}
}

// Retries returns the state of SetRetries in an earlier run, or nil.
func (j *Journal) Retries(ctx context.Context, number uint64) []byte {
	value, err := j.client.Get(ctx, retriesKeyOf(number))
	if err != nil || value == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.present[number] = true
	_, state, _ := open(value) // nil if it is damaged
	return state
}

func (j *Journal) enqueue(w *write) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.push(w)
}

// push adds a write to the queue. It returns nil if the journal is closed.
func (j *Journal) push(w *write) (e *list.Element) {
	switch {
	case j.closing:
		w.end(errClosed)
	case w.isRemoval():
		e = j.queue.PushFront(w)
	default:
		e = j.queue.PushBack(w)
	}
	j.signal()
	return e
}

func (j *Journal) signal() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}

func (w *write) end(err error) {
	if w.stored != nil {
		w.stored <- err
	}
}

// run writes the queue until the journal is closed.
func (j *Journal) run() {
	for {
		writes, pause, ok := j.next(time.Now())
		if len(writes) > 0 {
			j.apply(writes)
			continue
		}
		if !ok {
			break
		}
		var retry <-chan time.Time
		if pause > 0 {
			retry = time.After(pause)
		}
		select {
		case <-j.wake:
		case <-retry:
		}
	}
	if j.unsaved {
		if err := j.transact(nil); err != nil {
			j.failed(StoreOperation, j.options.State.Key, err)
		}
	}
}

// next returns the writes of a transaction. If there are none, it returns how long to wait, 0
// meaning for the next change, and whether the journal is open.
func (j *Journal) next(now time.Time) (writes []*write, pause time.Duration, ok bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	last := j.queue.Back()
	if last == nil {
		return nil, 0, !j.closing
	}
	if pause = j.retryAt.Sub(now); pause > 0 && !j.closing && last.Value.(*write).isRemoval() {
		return nil, pause, true
	}
	size := int64(0)
	for e := j.queue.Front(); e != nil; e = j.queue.Front() {
		w := e.Value.(*write)
		if size += w.size(); len(writes) > 0 && size > maxTransaction {
			break
		}
		j.queue.Remove(e)
		delete(j.unwritten, w.number)
		writes = append(writes, w)
	}
	return writes, 0, true
}

// apply executes writes, and reports the results. Removals are first: they free space on a full
// disk.
func (j *Journal) apply(writes []*write) {
	err := j.transact(writes)
	stores := slices.IndexFunc(writes, func(w *write) bool { return !w.isRemoval() })
	if err == nil || len(writes) == 1 || stores < 0 {
		j.end(writes, err)
		return
	}
	if removals := writes[:stores]; stores > 0 {
		j.end(removals, j.transact(removals))
	}
	for one := range slices.Chunk(writes[stores:], 1) {
		j.end(one, j.transact(one))
	}
}

// transact executes writes in one transaction.
func (j *Journal) transact(writes []*write) error {
	var operations []*storage.Operation
	changed := j.unsaved
	for _, w := range writes {
		operations = append(operations, j.operations(w)...)
		if w.change != nil {
			w.change(1)
			changed = true
		}
	}
	err := error(nil)
	if changed {
		var state []byte
		state, err = j.options.State.Encode()
		operations = append(operations, storage.SetOperation(j.options.State.Key, seal(state)))
	}
	if err == nil {
		err = j.client.Batch(context.Background(), append(operations, j.ranges()...)...)
	}
	if err == nil {
		j.unsaved = false
		return nil
	}
	for _, w := range writes {
		if w.change != nil {
			w.change(-1)
		}
	}
	return err
}

// operations returns the operations of a write: none if its record was removed meanwhile.
func (j *Journal) operations(w *write) (operations []*storage.Operation) {
	switch key, retriesKey := keyOf(w.number), retriesKeyOf(w.number); {
	case !j.begin(w):
	case w.record != nil:
		operations = append(operations, storage.SetOperation(key, w.record.encode()))
	case w.retries != nil:
		operations = append(operations, storage.SetOperation(retriesKey, seal(w.retries)))
	default:
		operations = append(operations, storage.DeleteOperation(key))
		if w.hasRetries {
			operations = append(operations, storage.DeleteOperation(retriesKey))
		}
	}
	return operations
}

// begin updates the numbers in the storage, and reports whether a write changes the storage.
func (j *Journal) begin(w *write) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w.isRemoval() {
		delete(j.present, w.number)
		return w.number != 0
	}
	_, present := j.present[w.number]
	return present
}

// ranges returns the operations that store the ranges.
func (j *Journal) ranges() []*storage.Operation {
	j.mu.Lock()
	defer j.mu.Unlock()
	for ; j.loaded && j.bounds.first < j.bounds.next; j.bounds.first++ {
		if _, present := j.present[j.bounds.first]; present {
			break
		}
	}
	all := []*storage.Operation{storage.SetOperation(keyRange, j.bounds.encode())}
	if j.newer.next > 1 {
		all = append(all, storage.SetOperation(keyNewer, j.newer.encode()))
	}
	return all
}

// end reports the result of writes: each record that is not stored, and failed removals once.
func (j *Journal) end(writes []*write, err error) {
	for i, w := range writes {
		switch {
		case err == nil:
		case !w.isRemoval():
			j.failed(StoreOperation, keyOf(w.number), err)
			j.notStored(w)
		default:
			if i == 0 {
				j.failed(DeleteOperation, keyOf(w.number), err)
			}
			j.notRemoved(w)
		}
		w.end(err)
	}
}

// notStored forgets a new record that could not be stored.
func (j *Journal) notStored(w *write) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if w.number >= j.earlier.next && w.record != nil {
		delete(j.present, w.number)
	}
}

// notRemoved repeats a removal later. For this run the record is removed, so its change applies.
func (j *Journal) notRemoved(w *write) {
	if w.change != nil {
		w.change(1)
		w.change, j.unsaved = nil, true
	}
	if w.number == 0 {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.present[w.number], j.bounds.first = w.hasRetries, min(j.bounds.first, w.number)
	j.retryAt = time.Now().Add(retryPause)
	j.push(w)
}

// ErrSlow is the error of Close if the storage does not finish.
var ErrSlow = errors.New("storage: did not finish in time; the last changes may be lost")

// Close writes the latest changes and closes the storage. It does nothing if the journal is nil.
func (j *Journal) Close(ctx context.Context) error {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	j.closing = true
	j.signal()
	j.mu.Unlock()
	done := make(chan error, 1)
	go func() {
		j.background.Wait()
		done <- j.client.Close(ctx) // waits for Get
	}()
	timer := time.NewTimer(closeTimeout)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		return ErrSlow
	}
}
