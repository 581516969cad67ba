// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// project returns the tenant of a Sentry project.
func project(id int) tenant.Tenant {
	return tenant.Tenant{Ingress: tenant.Sentry, Name: fmt.Sprint(id)}
}

// A tenant whose requests fill the queue delays another one by the file that is being opened and by
// as much work as the other one's own files take.
func TestOpenQueueIsFair(t *testing.T) {
	const files = 10
	for _, flood := range []struct{ tenants, work, most int }{
		{1, 1, 2*files + 1},         // files of equal size take turns
		{1, 1000, files + 2},        // large ones wait
		{3, 1, 4*files + 3},         // four tenants take turns
		{3, 1000, files + 2*3},      // each of the three has opened one before
		{maxQueue - 1, 1, maxQueue}, // as many tenants as places
	} {
		t.Run(fmt.Sprint(flood), func(t *testing.T) {
			q := newOpenQueue()
			ask := func() { // more than the queue has room for
				for range 2 * maxQueue / flood.tenants {
					for i := range flood.tenants {
						q.push(wanted{project(i), new(bundle)})
					}
				}
			}
			open := func() tenant.Tenant {
				w, ok := q.next()
				require.True(t, ok)
				work := int64(flood.work)
				if w.tenant == appB {
					work = 1
				}
				q.worked(w.tenant, work)
				ask()
				return w.tenant
			}
			for range 3 * flood.tenants {
				ask()
				open()
			}
			wanting := make([]wanted, files)
			if flood.tenants == maxQueue-1 {
				wanting = wanting[:1] // an equal share
			}
			for i := range wanting {
				wanting[i] = wanted{appB, new(bundle)}
			}
			turns, opened := 0, 0
			for opened < len(wanting) {
				for _, w := range wanting[opened:] { // as each message does
					q.push(w)
				}
				if open() == appB {
					opened++
				}
				turns++
				require.LessOrEqual(t, turns, flood.most)
			}
			assert.LessOrEqual(t, q.files.Len(), maxQueue)
			assert.Len(t, q.entries, q.files.Len())
		})
	}
}

// Work of a tenant that asks for nothing is forgotten, and idle tenants save no turns.
func TestOpenQueueForgets(t *testing.T) {
	q := newOpenQueue()
	for i := range 3 * maxWorkers {
		q.push(wanted{project(i), new(bundle)})
		w, _ := q.next()
		q.worked(w.tenant, 1000)
		assert.LessOrEqual(t, len(q.work), maxWorkers)
	}
	for range 100 {
		q.push(wanted{appA, new(bundle)})
		_, _ = q.next()
		q.worked(appA, 1)
	}
	turns := map[tenant.Tenant]int{}
	for range 10 { // appB was idle for 100 files
		q.push(wanted{appB, new(bundle)})
		q.push(wanted{appA, new(bundle)})
		w, _ := q.next()
		q.worked(w.tenant, 1)
		turns[w.tenant]++
	}
	assert.InDelta(t, 5, turns[appB], 1)
	_, ok := newOpenQueue().next()
	assert.False(t, ok)
}

// Chunks of a project that ask for files nobody has asked for lately do not keep another project's
// files closed: its ten files are open after 21 turns of the worker, and stay open.
func TestFloodOfFiles(t *testing.T) {
	const flood, files, size = 400, 10, openFileBytes + 4<<10
	h := start(t, fmt.Sprintf("max_open_bytes: %d", 32*size))
	id := func(i int) symbolicate.NativeID { return symbolicate.NativeID{DebugID: fmt.Sprintf("%032x", i)} }
	for i := range flood + files {
		h.write(fmt.Sprintf("%d.sym", i), breakpad(id(i).DebugID, "Shop"))
	}
	store := h.processor.(*profilesProcessor).Shared
	store.stop()
	store.worker.Wait()
	store.scan(t.Context())
	attacker, victim := store.of(project(1)), store.of(project(2))
	next := 0
	attack := func() {
		for range 300 {
			next = (next + 1) % flood
			attacker.Native(id(next))
		}
	}
	opened := func() (n int) {
		for i := range files {
			if _, status := victim.Native(id(flood + i)); status == symbols.OK {
				n++
			}
		}
		return n
	}
	attack()
	store.loadNext(t.Context())
	turns := 0
	for ; opened() < files; turns++ {
		require.Less(t, turns, 2*files+1)
		attack()
		store.loadNext(t.Context())
	}
	for range 100 {
		attack()
		store.loadNext(t.Context())
		require.Equal(t, files, opened())
	}
	assert.LessOrEqual(t, store.open.bytes, int64(32*size))
}
