// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
)

// disk is a storage that can fail, fill up or block. Its transactions are complete or have no
// effect.
type disk struct {
	mu      sync.Mutex
	values  map[string][]byte
	err     error         // of all accesses
	unread  string        // reading this key fails
	most    int           // size of all values, when it grows; 0: no limit
	block   chan struct{} // if not nil, accesses wait until it is closed
	batches int
}

func newDisk() *disk { return &disk{values: map[string][]byte{}} }

func (d *disk) Close(context.Context) error { return nil }

func (d *disk) Batch(_ context.Context, operations ...*storage.Operation) error {
	if d.block != nil {
		<-d.block
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	changed := maps.Clone(d.values)
	for _, o := range operations {
		switch o.Type {
		case storage.Get:
			if o.Key == d.unread {
				return errors.New("bad sector")
			}
			o.Value = bytes.Clone(d.values[o.Key])
			continue
		case storage.Set:
			changed[o.Key] = bytes.Clone(o.Value)
		case storage.Delete:
			delete(changed, o.Key)
		}
	}
	if size := sizeOf(changed); d.most > 0 && size > d.most && size > sizeOf(d.values) {
		return storage.ErrStorageFull
	}
	d.values = changed
	d.batches++
	return nil
}

func sizeOf(values map[string][]byte) (size int) {
	for _, value := range values {
		size += len(value)
	}
	return size
}

func (d *disk) change(f func(d *disk)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f(d)
}

// copied is the disk after a kill.
func (d *disk) copied() *disk {
	d.mu.Lock()
	defer d.mu.Unlock()
	return &disk{values: maps.Clone(d.values)}
}

// run is a journal whose client sums up the numbers of its records that were removed.
type run struct {
	*Journal
	t      *testing.T
	mu     sync.Mutex
	sum    int64
	errors []string
}

func start(t *testing.T, d *disk) *run {
	t.Helper()
	r := &run{t: t}
	var err error
	r.Journal, err = Open(t.Context(), journaltest.Client{Batches: d}, Options{
		Failed: func(operation string, _ error) {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.errors = append(r.errors, operation)
		},
		State: &State{
			Key:    "sum",
			Encode: func() ([]byte, error) { return binary.BigEndian.AppendUint64(nil, uint64(r.current())), nil },
			Decode: func(value []byte) error { r.add(int64(binary.BigEndian.Uint64(value)))(1); return nil },
		},
	})
	require.NoError(t, err)
	return r
}

func (r *run) current() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sum
}

func (r *run) add(n int64) Change {
	return func(sign int64) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.sum += sign * n
	}
}

func (r *run) failed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.errors)
}

func record(text string) Record { return Record{Head: []byte("head " + text), Body: []byte(text)} }

func (r *run) put(text string) uint64 {
	r.t.Helper()
	number, err := r.Put(r.t.Context(), record(text), nil)
	require.NoError(r.t, err)
	return number
}

// found returns the bodies of earlier records.
func (r *run) found() (bodies []string) {
	for _, earlier := range r.Earlier(r.t.Context(), false) {
		assert.Equal(r.t, "head "+string(earlier.Body), string(earlier.Head))
		bodies = append(bodies, string(earlier.Body))
	}
	return bodies
}

func (r *run) close() {
	r.t.Helper()
	require.NoError(r.t, r.Close(context.Background()))
}

// TestRestart: the records that were not removed are there after a restart, in order, with the
// state of the client and of retries.
func TestRestart(t *testing.T) {
	d := newDisk()
	r := start(t, d)
	assert.Empty(t, r.found())
	var numbers []uint64
	for i := range 5 {
		numbers = append(numbers, r.put(fmt.Sprint(i)))
	}
	r.Remove(numbers[0], r.add(10))
	r.Remove(numbers[3], r.add(20))
	r.SetRetries(numbers[1], []byte("twice"))
	r.Change(r.add(1))
	r.close()

	r = start(t, d)
	assert.Equal(t, []string{"1", "2", "4"}, r.found())
	assert.Equal(t, int64(31), r.current())
	assert.Equal(t, []byte("twice"), r.Retries(t.Context(), numbers[1]))
	assert.Nil(t, r.Retries(t.Context(), numbers[2]))
	read, err := r.Get(t.Context(), numbers[4])
	require.NoError(t, err)
	assert.Equal(t, record("4"), read)
	assert.Greater(t, r.put("new"), numbers[4])
	r.close()

	r = start(t, d)
	var bodies []string
	for number, earlier := range r.Earlier(t.Context(), true) {
		bodies = append(bodies, string(earlier.Body))
		r.Retries(t.Context(), number)
		r.Remove(number, nil)
	}
	assert.Equal(t, []string{"new", "4", "2", "1"}, bodies)
	r.close()
	assert.Equal(t, []string{keyRange, "sum"}, slices.Sorted(maps.Keys(d.values)))
	assert.Empty(t, r.failed())
}

// TestKills: at each kill, the storage has exactly the records that were stored and not removed; of
// those that were being stored or removed, any.
func TestKills(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	d := newDisk()
	stored := map[string]uint64{}
	for round := range 50 {
		synctest.Test(t, func(t *testing.T) {
			r := start(t, d)
			found := r.found()
			slices.Sort(found)
			require.Equal(t, slices.Sorted(maps.Keys(stored)), found)
			for i := range random.IntN(20) {
				if text := fmt.Sprint(round, "/", i); random.IntN(3) > 0 {
					stored[text] = r.put(text)
				}
				for text, number := range stored {
					if random.IntN(4) == 0 {
						r.Remove(number, r.add(1))
						delete(stored, text)
					}
					break
				}
			}
			synctest.Wait() // removals are written
			killed := d.copied()
			r.Add(record("not answered"), nil)
			r.close()
			d = killed
		})
	}
	bounds, _, err := decodeBounds(d.values[keyRange])
	require.NoError(t, err)
	assert.Less(t, bounds.first, bounds.next)
}

// TestDamage: damaged records and those of no journal are counted and removed, those that a later
// version wrote or that cannot be read now stay, and new records do not replace them.
func TestDamage(t *testing.T) {
	newer := collector.AppendChecksum([]byte{formatVersion + 1, 1, 2})
	for name, c := range map[string]struct {
		value []byte
		stays bool
	}{
		"changed":     {value: func() []byte { r := record("x"); v := r.encode(); v[8] ^= 1; return v }()},
		"cut off":     {value: collector.AppendChecksum([]byte{formatVersion, 0, 0, 0, 9, 'x'})},
		"foreign":     {value: []byte(`{"some": "text"}`)},
		"empty":       {value: []byte{}},
		"no version":  {value: collector.AppendChecksum([]byte{0, 0, 0, 0, 0})},
		"newer":       {value: newer, stays: true},
		"unreadable":  {stays: true},
		"by a client": {},
	} {
		d := newDisk()
		r := start(t, d)
		r.found()
		for i := range 3 {
			r.put(fmt.Sprint(i))
		}
		r.close()
		want := []string{"0", "2"}
		switch {
		case c.value != nil:
			d.values["2"] = c.value
		case name == "unreadable":
			d.unread = "2"
		default:
			want = []string{"0", "1", "2"}
		}
		r = start(t, d)
		assert.Equal(t, want, r.found(), name)
		if name == "by a client" {
			r.Unreadable(2, errors.New("no request"))
		}
		assert.Equal(t, []string{LoadOperation}, r.failed(), name)
		assert.Equal(t, uint64(4), r.put("new"), name)
		r.close()
		_, stays := d.values["2"]
		assert.Equal(t, c.stays, stays, name)
	}
}

// TestNewerRecords: after a downgrade, the records of the later version are reported once per
// start, and a start reads no more than them, however many records have come and gone. After the
// upgrade, they are read and removed like others.
func TestNewerRecords(t *testing.T) {
	for _, newestFirst := range []bool{false, true} {
		d := newDisk()
		r := start(t, d)
		r.found()
		for i := range 6 {
			r.put(fmt.Sprint(i))
		}
		r.close()
		change := func(version byte) {
			for _, number := range []uint64{2, 3, 5} {
				value := bytes.Clone(d.values[keyOf(number)])
				d.values[keyOf(number)] = collector.AppendChecksum(append([]byte{version}, value[1:len(value)-checksumSize]...))
			}
		}
		change(formatVersion + 1)
		for restart, want := range [][]string{{"0", "3", "5"}, {"3"}, nil} {
			before := d.batches
			r = start(t, d)
			var bodies []string
			for number, earlier := range r.Earlier(t.Context(), newestFirst) {
				if bodies = append(bodies, string(earlier.Body)); restart > 0 || number != 4 {
					r.Remove(number, nil)
				}
			}
			assert.ElementsMatch(t, want, bodies)
			assert.Equal(t, []string{LoadOperation}, r.failed())
			if restart == 2 {
				d.change(func(d *disk) { assert.Less(t, d.batches-before, 20) })
			}
			for i := range 100 {
				r.Remove(r.put(fmt.Sprint(restart, i)), nil)
			}
			r.close()
		}
		change(formatVersion)
		for _, want := range [][]string{{"1", "2", "4"}, nil} {
			r = start(t, d)
			var bodies []string
			for number, earlier := range r.Earlier(t.Context(), newestFirst) {
				bodies = append(bodies, string(earlier.Body))
				r.Remove(number, nil)
			}
			assert.ElementsMatch(t, want, bodies)
			assert.Empty(t, r.failed())
			r.close()
		}
		assert.ElementsMatch(t, []string{keyRange, keyNewer}, slices.Collect(maps.Keys(d.values)))
	}
}

// TestDamagedRange: the records are lost, and the journal starts again.
func TestDamagedRange(t *testing.T) {
	huge := collector.AppendChecksum(append(bytes.Repeat([]byte{0xff}, 8), make([]byte, 8)...))
	for _, broken := range [][]byte{{}, []byte("short"), collector.AppendChecksum([]byte("short")), append(bytes.Repeat([]byte{0xf}, 16), 0, 0, 0, 0), huge} {
		d := newDisk()
		d.values[keyRange], d.values["sum"] = broken, []byte("?")
		r := start(t, d)
		assert.Equal(t, []string{LoadOperation, LoadOperation}, r.failed())
		assert.Empty(t, r.found())
		assert.Equal(t, uint64(1), r.put("new"))
		r.close()
	}
	d := newDisk()
	d.err = errors.New("broken")
	_, err := Open(t.Context(), journaltest.Client{Batches: d}, Options{})
	assert.ErrorContains(t, err, "broken")
}

// TestEarlierFormat: values of an earlier version are read once, and rewritten.
func TestEarlierFormat(t *testing.T) {
	d := newDisk()
	r := start(t, d)
	r.found()
	large := strings.Repeat("x", maxTransaction/3)
	for i := range 10 {
		r.put(fmt.Sprint(i, large))
	}
	r.close()
	for key, value := range d.values {
		if key != keyRange && key != "sum" {
			value, err := collector.VerifyChecksum(value)
			require.NoError(t, err)
			d.values[key] = collector.AppendChecksum(append([]byte{1}, value[1:]...))
		}
	}
	r = start(t, d)
	for number := range r.Earlier(t.Context(), false) {
		if number == 3 {
			r.Remove(number, nil)
		}
	}
	r.close()
	for number := range uint64(10) {
		if number+1 != 3 {
			assert.Equal(t, byte(formatVersion), d.values[keyOf(number+1)][0])
		}
	}
	assert.NotContains(t, d.values, "3")
	r = start(t, d)
	assert.Len(t, r.found(), 9)
	r.close()
}

// TestFullDisk: what does not fit is refused, and neither it nor its change remains; what is small
// enough is stored; removals make room.
func TestFullDisk(t *testing.T) {
	d := newDisk()
	r := start(t, d)
	r.found()
	first := r.put(strings.Repeat("x", 1000))
	d.change(func(d *disk) { d.most = sizeOf(d.values) + 100 })
	_, err := r.Put(t.Context(), record(strings.Repeat("y", 1000)), r.add(5))
	assert.ErrorIs(t, err, storage.ErrStorageFull)
	assert.Zero(t, r.current())
	r.put("small")
	r.Remove(first, r.add(1))
	r.put(strings.Repeat("z", 900))
	assert.Equal(t, []string{StoreOperation}, r.failed())
	r.close()
	r = start(t, d)
	assert.Len(t, r.found(), 2)
	assert.Equal(t, int64(1), r.current())
	r.close()
}

// TestFailingRemovals: they are repeated once per retryPause until they succeed; their changes
// apply at once.
func TestFailingRemovals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		r := start(t, d)
		r.found()
		one, two := r.put("one"), r.put("two")
		d.change(func(d *disk) { d.err = errors.New("read-only") })
		r.Remove(one, r.add(1))
		r.Remove(two, r.add(2))
		time.Sleep(10*retryPause + retryPause/2)
		assert.Equal(t, int64(3), r.current())
		assert.Len(t, r.failed(), 11)
		d.change(func(d *disk) { d.err = nil })
		time.Sleep(retryPause)
		assert.Equal(t, []string{keyRange, "sum"}, slices.Sorted(maps.Keys(d.copied().values)))
		r.put("three")
		r.close()
		r = start(t, d)
		assert.Equal(t, []string{"three"}, r.found())
		assert.Equal(t, int64(3), r.current())
		r.close()
	})
}

// TestHangingStorage: it delays neither Add nor Remove, uses no memory for records that were
// removed, and delays Close for closeTimeout.
func TestHangingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		r := start(t, d)
		r.found()
		synctest.Wait()
		d.block = make(chan struct{})
		for range 10_000 {
			r.Remove(r.Add(record("evicted"), nil), nil)
		}
		r.Add(record("kept"), nil)
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.Put(soon, record("refused"), nil)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		r.Journal.mu.Lock()
		assert.LessOrEqual(t, r.queue.Len()+len(r.present), 6)
		r.Journal.mu.Unlock()
		begin := time.Now()
		assert.ErrorIs(t, r.Close(t.Context()), ErrSlow)
		assert.Equal(t, closeTimeout, time.Since(begin))
		close(d.block)
		synctest.Wait()
		_, err = r.Put(t.Context(), record("late"), nil)
		assert.ErrorIs(t, err, errClosed)
	})
}

// TestSharedTransactions: concurrent changes share a transaction, of a limited size.
func TestSharedTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		r := start(t, d)
		r.found()
		synctest.Wait()
		d.block = make(chan struct{})
		var clients sync.WaitGroup
		for i := range 1000 {
			clients.Go(func() { r.put(fmt.Sprint(i)) })
		}
		large := strings.Repeat("x", maxTransaction/2+1)
		for range 4 {
			clients.Go(func() { r.put(large) })
		}
		synctest.Wait()
		close(d.block)
		clients.Wait()
		assert.LessOrEqual(t, d.batches, 20)
		r.close()
	})
}

// FuzzOpen: whatever a storage returns, it is rejected or a record.
func FuzzOpen(f *testing.F) {
	r := record("x")
	f.Add(r.encode())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, stored []byte) {
		read, _, err := new(Journal).decode(collector.AppendChecksum(bytes.Clone(stored)))
		if err != nil {
			return
		}
		again, version, err := new(Journal).decode(read.encode())
		require.NoError(t, err)
		require.Equal(t, byte(formatVersion), version)
		require.True(t, bytes.Equal(read.Head, again.Head) && bytes.Equal(read.Body, again.Body))
	})
}
