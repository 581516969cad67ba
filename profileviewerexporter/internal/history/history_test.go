// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/extension/xextension/storage"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/journal/journaltest"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline/timelinetest"
	"github.com/otelcol-sentry/otelcol-sentry/profileviewerexporter/internal/store"
)

// overhead is the number of values that are not messages: the range and the last ID.
const overhead = 2

// disk is a storage that can fail.
type disk struct {
	mu     sync.Mutex
	values map[string][]byte
	err    error
	closed bool
}

func newDisk() *disk { return &disk{values: map[string][]byte{}} }

func (d *disk) fail(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err = err
}

func (d *disk) content() map[string][]byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.values)
}

func (d *disk) Close(context.Context) error { d.closed = true; return nil }

func (d *disk) Batch(_ context.Context, operations ...*storage.Operation) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return d.err
	}
	for _, o := range operations {
		switch o.Type {
		case storage.Get:
			o.Value = d.values[o.Key]
		case storage.Set:
			d.values[o.Key] = o.Value
		case storage.Delete:
			delete(d.values, o.Key)
		}
	}
	return nil
}

// run is a store with its history.
type run struct {
	t       *testing.T
	store   *store.Store
	history *History

	mu       sync.Mutex
	failures []string
}

func start(t *testing.T, d *disk, maxBytes int64) *run {
	t.Helper()
	r := &run{t: t, store: store.New(maxBytes, time.Hour)}
	var err error
	r.history, err = Open(t.Context(), journaltest.Client{Batches: d}, r.store, func(operation string, _ error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.failures = append(r.failures, operation)
	})
	require.NoError(t, err)
	return r
}

func (r *run) failed() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.failures...)
}

// loaded waits until the messages of the previous run are loaded.
func (r *run) loaded() *run {
	r.t.Helper()
	select {
	case <-r.history.loaded:
	case <-time.After(30 * time.Second):
		require.Fail(r.t, "not loaded")
	}
	return r
}

func (r *run) stop() {
	r.t.Helper()
	require.NoError(r.t, r.history.Close(context.Background()))
}

func (r *run) addLog(body string) {
	r.t.Helper()
	r.addLogAt(body, time.Now())
}

func (r *run) addLogAt(body string, now time.Time) {
	r.t.Helper()
	logs := plog.NewLogs()
	logs.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty().Body().SetStr(body)
	ctx := tenant.NewContext(r.t.Context(), tenant.Tenant{Ingress: tenant.Sentry, Name: "42"})
	stored, err := r.store.AddLogs(ctx, logs, now)
	require.NoError(r.t, err)
	require.True(r.t, stored)
}

// content describes the messages of the store, the newest first.
func (r *run) content() (list []string) {
	for _, m := range r.store.Messages() {
		list = append(list, fmt.Sprintf("%s %v %d %d %x", m.Signal, m.Tenant, m.Arrived.UnixNano(), m.FirstID(), m.OTLP()))
	}
	return list
}

func (r *run) bodies() (list []string) {
	r.t.Helper()
	for _, m := range r.store.Messages() {
		require.NoError(r.t, m.EachRecord(func(record plog.LogRecord, _ string) { list = append(list, record.Body().Str()) }))
	}
	return list
}

// TestRestart: the next run has the same messages of all signals, with the same IDs, in the same
// order.
func TestRestart(t *testing.T) {
	d := newDisk()
	before := start(t, d, 1<<20)
	sample := timelinetest.Sample{Stack: "main", Span: 7, At: []time.Duration{0}}
	for range 2 {
		_, err := before.store.AddProfiles(t.Context(), timelinetest.Message("shop", timelinetest.Wall, sample), time.Now())
		require.NoError(t, err)
	}
	traces := ptrace.NewTraces()
	traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty().SetTraceID(timelinetest.Trace(7))
	_, err := before.store.AddTraces(t.Context(), traces, time.Now())
	require.NoError(t, err)
	before.addLog("hello")
	metrics := pmetric.NewMetrics()
	metrics.ResourceMetrics().AppendEmpty().ScopeMetrics().AppendEmpty().Metrics().AppendEmpty().SetEmptyGauge().DataPoints().AppendEmpty().SetIntValue(1)
	_, err = before.store.AddMetrics(t.Context(), metrics, time.Now())
	require.NoError(t, err)
	want := before.content()
	require.Len(t, want, 5)
	before.stop()
	assert.True(t, d.closed)

	for range 3 { // also over several restarts
		after := start(t, d, 1<<20).loaded()
		assert.Equal(t, want, after.content())
		assert.Equal(t, 2, after.store.LinkedCount(timelinetest.Trace(7)))
		assert.Len(t, after.store.Trace(timelinetest.Trace(7)), 1)
		assert.Empty(t, after.failed())
		after.stop()
		assert.Len(t, d.content(), 5+overhead)
	}
	after := start(t, d, 1<<20).loaded()
	_, err = after.store.AddProfiles(t.Context(), timelinetest.Message("shop", timelinetest.Wall, sample), time.Now())
	require.NoError(t, err)
	assert.Equal(t, uint64(3), after.store.Messages()[0].FirstID(), "IDs are not used again")
	after.stop()
}

// TestLimits: the storage has the messages of the store, and no others.
func TestLimits(t *testing.T) {
	d, long := newDisk(), strings.Repeat("x", 10_000)
	r := start(t, d, 1<<20)
	for i := range 1000 {
		r.addLog(fmt.Sprint(i, long))
	}
	want := r.bodies()
	require.Less(t, len(want), 100)
	r.stop()
	assert.Len(t, d.content(), len(want)+overhead)

	smaller := start(t, d, 1<<19).loaded()
	got := smaller.bodies()
	assert.Less(t, len(got), len(want))
	assert.Equal(t, want[:len(got)], got, "the latest")
	smaller.stop()
	assert.Len(t, d.content(), len(got)+overhead)

	old := start(t, d, 1<<20).loaded()
	old.store.Expire(time.Now().Add(2 * time.Hour))
	old.stop()
	assert.Len(t, d.content(), overhead)
}

// TestExpired: messages that expire while the collector does not run are deleted.
func TestExpired(t *testing.T) {
	d := newDisk()
	r := start(t, d, 1<<20)
	r.addLogAt("old", time.Now().Add(-2*time.Hour))
	r.addLog("new")
	r.stop()
	after := start(t, d, 1<<20).loaded()
	assert.Equal(t, []string{"new"}, after.bodies())
	after.stop()
	assert.Len(t, d.content(), 1+overhead)
}

// TestNewMessagesWhileLoading: messages that arrive during the load are the latest, and the last to
// be evicted.
func TestNewMessagesWhileLoading(t *testing.T) {
	d := newDisk()
	r := start(t, d, 1<<20)
	for i := range 200 {
		r.addLog(fmt.Sprint("old ", i))
	}
	r.stop()
	r = start(t, d, 1<<20)
	for i := range 200 {
		r.addLog(fmt.Sprint("new ", i))
	}
	r.loaded()
	got := r.bodies()
	require.Len(t, got, 400)
	for i := range 200 {
		assert.Equal(t, fmt.Sprint("new ", 199-i), got[i])
		assert.Equal(t, fmt.Sprint("old ", 199-i), got[200+i])
	}
	r.stop()
	again := start(t, d, 1<<20).loaded()
	assert.Equal(t, got, again.bodies())
	again.stop()
}

func TestClear(t *testing.T) {
	d := newDisk()
	r := start(t, d, 1<<20)
	for i := range 100 {
		r.addLog(fmt.Sprint(i))
	}
	r.stop()
	r = start(t, d, 1<<20)
	r.history.Discard()
	r.store.Clear()
	r.loaded().addLog("after")
	assert.Equal(t, []string{"after"}, r.bodies())
	r.stop()
	assert.Len(t, d.content(), 1+overhead)
}

// TestFailingStorage: the store works without it, and later messages are copied again.
func TestFailingStorage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDisk()
		r := start(t, d, 1<<20)
		r.addLog("first")
		synctest.Wait()
		d.fail(errors.New("disk full"))
		r.addLog("lost")
		synctest.Wait()
		assert.Equal(t, []string{journal.StoreOperation}, r.failed())
		d.fail(nil)
		r.addLog("late")
		assert.Len(t, r.bodies(), 3)
		r.stop()

		r = start(t, d, 1<<20)
		synctest.Wait()
		assert.Equal(t, []string{"late", "first"}, r.bodies())
		d.fail(errors.New("read-only"))
		r.store.Clear()
		time.Sleep(time.Minute)
		assert.Contains(t, r.failed(), journal.DeleteOperation)
		d.fail(nil)
		time.Sleep(time.Minute)
		r.stop()
		assert.Len(t, d.content(), overhead, "deletions are repeated")
	})
}

func TestUnreadableRange(t *testing.T) {
	d := newDisk()
	d.fail(errors.New("broken"))
	_, err := Open(t.Context(), journaltest.Client{Batches: d}, store.New(1<<20, time.Hour), nil)
	assert.ErrorContains(t, err, "broken")
	assert.True(t, d.closed)
}

// TestDamage: a damaged message is deleted; the others are loaded. A damaged range loses all of
// them.
func TestDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"changed":   func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"truncated": func(b []byte) []byte { return b[:10] },
		"empty":     func([]byte) []byte { return []byte{} },
	} {
		d := newDisk()
		r := start(t, d, 1<<20)
		for i := range 3 {
			r.addLog(fmt.Sprint(i))
		}
		r.stop()
		d.values["2"] = damage(d.values["2"])
		r = start(t, d, 1<<20).loaded()
		assert.Equal(t, []string{"2", "0"}, r.bodies(), name)
		assert.Equal(t, []string{journal.LoadOperation}, r.failed(), name)
		r.stop()
		assert.Len(t, d.content(), 2+overhead, name)

		d.values["range"] = damage(d.values["range"])
		r = start(t, d, 1<<20).loaded()
		assert.Empty(t, r.bodies(), name)
		assert.Equal(t, []string{journal.LoadOperation}, r.failed(), name)
		r.addLog("new")
		r.stop()
		r = start(t, d, 1<<20).loaded()
		assert.Equal(t, []string{"new"}, r.bodies(), name)
		r.stop()
	}
}

func TestUpgrade(t *testing.T) {
	value := []byte{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, '1', '/', '4', '2', 'x'}
	record, err := upgrade(2, value)
	require.NoError(t, err)
	read, err := messageOf(record)
	require.NoError(t, err)
	assert.Equal(t, store.Logs, read.Signal)
	assert.Equal(t, tenant.Tenant{Ingress: tenant.Sentry, Name: "42"}, read.Tenant)
	assert.Equal(t, []byte("x"), read.OTLP)
	for _, length := range []byte{6, 0xff} {
		other := slices.Clone(value)
		other[headSize] = length
		_, err := upgrade(2, other)
		assert.Error(t, err, length)
	}
	_, err = upgrade(1, value)
	assert.Error(t, err)
	for size := range headSize + 1 {
		_, err = upgrade(2, value[:size])
		assert.Error(t, err, size)
	}
	for _, head := range [][]byte{nil, record.Head[:headSize-1], append([]byte{byte(len(signals))}, record.Head[1:]...)} {
		_, err = messageOf(journal.Record{Head: head})
		assert.Error(t, err, head)
	}
}

// TestEarlierStorage: what a build of November 2026 stored before it was killed is read, and
// rewritten in the current format. IDs continue.
func TestEarlierStorage(t *testing.T) {
	d := newDisk()
	d.values = journaltest.Read(t, "testdata/stored.txt")
	for range 2 {
		r := &run{t: t, store: store.New(1<<20, 100*365*24*time.Hour)}
		var err error
		r.history, err = Open(t.Context(), journaltest.Client{Batches: d}, r.store, func(operation string, err error) { assert.NoError(t, err, operation) })
		require.NoError(t, err)
		r.loaded()
		require.Len(t, r.content(), 3)
		for _, m := range r.store.Messages() {
			assert.Equal(t, tenant.Tenant{Ingress: tenant.Sentry, Name: "42"}, m.Tenant)
		}
		r.addLog("new")
		r.stop()
		assert.Equal(t, byte(3), d.values["1"][0])
		delete(d.values, "4") // the new one, in the first run
	}
}
