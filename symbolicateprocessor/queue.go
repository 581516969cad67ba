// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"maps"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

// openQueue holds the files that tenants wait for. The next file is that of the tenant whose files
// have taken the least work so far: a tenant with large files waits for the others, and a tenant
// that has asked for nothing lately waits only for the file that is being opened.
type openQueue struct {
	files   fairshare.Queue[tenant.Tenant, *bundle]
	entries map[wanted]*fairshare.Entry[tenant.Tenant, *bundle]

	// A tenant starts at the clock, and its work is added. The clock is the start of the tenant
	// that went last, so that no tenant saves turns while it asks for nothing (start-time fair
	// queueing, Goyal, Vin and Cheng 1996).
	clock int64
	work  map[tenant.Tenant]int64 // those beyond the clock
}

// wanted is a file that a tenant waits for.
type wanted struct {
	tenant tenant.Tenant
	bundle *bundle
}

const (
	// maxQueue is the maximum number of files waiting to be opened. A web page has about ten
	// bundles.
	maxQueue = 256

	// maxWorkers limits the number of tenants whose work is known. Beyond it, all start again.
	maxWorkers = 4096
)

func newOpenQueue() *openQueue {
	return &openQueue{entries: map[wanted]*fairshare.Entry[tenant.Tenant, *bundle]{}, work: map[tenant.Tenant]int64{}}
}

// push adds a file, unless it is in the queue. When the queue is full, a tenant that has fewer
// files than another takes a place of the tenant with the most. A later message asks again for
// files without a place.
func (q *openQueue) push(w wanted) {
	if q.entries[w] != nil {
		return
	}
	if q.files.Len() >= maxQueue {
		e := q.files.LargestOldest()
		if q.files.Use(e.Tenant()) <= q.files.Use(w.tenant)+1 {
			return
		}
		q.remove(e)
	}
	q.entries[w] = q.files.Push(w.tenant, w.bundle, 1)
}

// next removes the file to open next. ok is false if there is none.
func (q *openQueue) next() (w wanted, ok bool) {
	var first *fairshare.Entry[tenant.Tenant, *bundle]
	for range q.files.Tenants() {
		if oldest, _ := q.files.TakeTurn(); first == nil || q.start(oldest.Tenant()) < q.start(first.Tenant()) {
			first = oldest
		}
	}
	if first == nil {
		return w, false
	}
	q.clock = q.start(first.Tenant())
	return q.remove(first), true
}

// worked adds work to a tenant, at least 1.
func (q *openQueue) worked(t tenant.Tenant, work int64) {
	q.work[t] = q.start(t) + max(work, 1)
	if len(q.work) <= maxWorkers {
		return
	}
	maps.DeleteFunc(q.work, func(_ tenant.Tenant, until int64) bool { return until <= q.clock })
	if len(q.work) > maxWorkers {
		clear(q.work)
	}
}

func (q *openQueue) start(t tenant.Tenant) int64 { return max(q.work[t], q.clock) }

func (q *openQueue) remove(e *fairshare.Entry[tenant.Tenant, *bundle]) wanted {
	w := wanted{e.Tenant(), e.Value}
	delete(q.entries, w)
	q.files.Remove(e)
	return w
}
