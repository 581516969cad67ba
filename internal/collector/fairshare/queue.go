// SPDX-License-Identifier: Apache-2.0

// Package fairshare shares one limit between tenants: entries are kept in order of arrival, and
// when there are too many, the tenant that uses the most loses its oldest entry. A single tenant
// may use the whole limit; a tenant that stays below an equal share of it never loses an entry to
// another tenant.
//
// The tenant is whatever the caller authenticates, for instance a Sentry project. Where anyone may
// invent a tenant, no share is fair: n invented tenants leave every other tenant 1/(n+1) of the
// limit.
package fairshare

import (
	"container/list"

	"github.com/otelcol-sentry/otelcol-sentry/internal/heap"
)

// Queue holds entries of tenants K in order of arrival. It has no limit and no lock of its own:
// after a Push, its owner removes LargestOldest until the rest fits. Every method takes O(log n)
// time for n tenants.
type Queue[K comparable, V any] struct {
	oldest, newest *Entry[K, V]
	tenants        map[K]*tenant[K, V]
	largest        heap.Heap[*tenant[K, V]] // the one that uses the most is first
	turns          list.List                // tenants
	size           int64
	len            int
}

// Entry is one value in a queue. Its zero value is in no queue.
type Entry[K comparable, V any] struct {
	Value V

	size         int64
	tenant       *tenant[K, V] // nil after its removal
	older, newer *Entry[K, V]  // of all tenants
	before, next *Entry[K, V]  // of its own tenant
}

// Size returns the size that the entry was pushed with.
func (e *Entry[K, V]) Size() int64 { return e.size }

// Tenant returns the tenant of an entry that is in a queue.
func (e *Entry[K, V]) Tenant() K { return e.tenant.key }

// Newer returns the entry of any tenant that arrived after this one, or nil.
func (e *Entry[K, V]) Newer() *Entry[K, V] { return e.newer }

type tenant[K comparable, V any] struct {
	key            K
	use            int64
	place          int // in the heap
	turn           *list.Element
	oldest, newest *Entry[K, V]
}

// Before and Place implement heap.Item.
func (t *tenant[K, V]) Before(other *tenant[K, V]) bool { return t.use > other.use }
func (t *tenant[K, V]) Place() *int                     { return &t.place }

// Len returns the number of entries.
func (q *Queue[K, V]) Len() int { return q.len }

// Size returns the sum of the sizes of all entries.
func (q *Queue[K, V]) Size() int64 { return q.size }

// Tenants returns the number of tenants that have an entry.
func (q *Queue[K, V]) Tenants() int { return len(q.tenants) }

// Use returns the sum of the sizes of a tenant's entries.
func (q *Queue[K, V]) Use(key K) int64 {
	if t := q.tenants[key]; t != nil {
		return t.use
	}
	return 0
}

// Push adds the newest entry. A size is not negative.
func (q *Queue[K, V]) Push(key K, value V, size int64) *Entry[K, V] {
	t := q.tenantOf(key)
	return q.add(&Entry[K, V]{Value: value, size: size, tenant: t, older: q.newest, before: t.newest})
}

// PushOldest adds the oldest entry.
func (q *Queue[K, V]) PushOldest(key K, value V, size int64) *Entry[K, V] {
	t := q.tenantOf(key)
	return q.add(&Entry[K, V]{Value: value, size: size, tenant: t, newer: q.oldest, next: t.oldest})
}

// Renew makes an entry the newest, like Remove and Push of the same value. It does nothing if the
// entry is in no queue.
func (q *Queue[K, V]) Renew(e *Entry[K, V]) {
	if e.tenant != nil {
		q.unlink(e)
		e.older, e.before = q.newest, e.tenant.newest
		q.link(e)
	}
}

func (q *Queue[K, V]) add(e *Entry[K, V]) *Entry[K, V] {
	q.link(e)
	q.grow(e.tenant, e.size)
	q.len++
	return e
}

// link adds an entry to the lists, beside its neighbors.
func (q *Queue[K, V]) link(e *Entry[K, V]) {
	newer, older, next, before := q.neighbors(e)
	*newer, *older, *next, *before = e, e, e, e
}

// unlink is the inverse of link. The entry has no neighbors afterwards.
func (q *Queue[K, V]) unlink(e *Entry[K, V]) {
	newer, older, next, before := q.neighbors(e)
	*newer, *older, *next, *before = e.newer, e.older, e.next, e.before
	e.older, e.newer, e.before, e.next = nil, nil, nil, nil
}

// neighbors returns the references to an entry, in its neighbors or in the ends of the lists.
func (q *Queue[K, V]) neighbors(e *Entry[K, V]) (newer, older, next, before **Entry[K, V]) {
	newer, older, next, before = &q.oldest, &q.newest, &e.tenant.oldest, &e.tenant.newest
	if e.older != nil {
		newer = &e.older.newer
	}
	if e.newer != nil {
		older = &e.newer.older
	}
	if e.before != nil {
		next = &e.before.next
	}
	if e.next != nil {
		before = &e.next.before
	}
	return newer, older, next, before
}

// tenantOf returns the tenant with a key. A new one must get an entry.
func (q *Queue[K, V]) tenantOf(key K) *tenant[K, V] {
	t := q.tenants[key]
	if t == nil {
		if q.tenants == nil {
			q.tenants = map[K]*tenant[K, V]{}
		}
		t = &tenant[K, V]{key: key}
		q.tenants[key] = t
		q.largest.Push(t)
		t.turn = q.turns.PushBack(t)
	}
	return t
}

// Oldest returns the entry that arrived first, or nil.
func (q *Queue[K, V]) Oldest() *Entry[K, V] { return q.oldest }

// LargestOldest returns the oldest entry of the tenant that uses the most, or nil: the one to
// evict.
func (q *Queue[K, V]) LargestOldest() *Entry[K, V] {
	if len(q.largest) == 0 {
		return nil
	}
	return q.largest[0].oldest
}

// OldestOf returns the oldest entry of a tenant, or nil.
func (q *Queue[K, V]) OldestOf(key K) *Entry[K, V] {
	if t := q.tenants[key]; t != nil {
		return t.oldest
	}
	return nil
}

// TakeTurn returns the oldest and the newest entry of the tenant whose turn it is, or nil. The next
// call returns those of the next tenant.
func (q *Queue[K, V]) TakeTurn() (oldest, newest *Entry[K, V]) {
	first := q.turns.Front()
	if first == nil {
		return nil, nil
	}
	q.turns.MoveToBack(first)
	t := first.Value.(*tenant[K, V])
	return t.oldest, t.newest
}

// Remove removes an entry. It does nothing if the entry is in no queue.
func (q *Queue[K, V]) Remove(e *Entry[K, V]) {
	t := e.tenant
	if t == nil {
		return
	}
	q.unlink(e)
	e.tenant = nil
	q.len--
	q.grow(t, -e.size)
	if t.oldest == nil {
		q.largest.Remove(t)
		q.turns.Remove(t.turn)
		delete(q.tenants, t.key)
	}
}

func (q *Queue[K, V]) grow(t *tenant[K, V], size int64) {
	t.use += size
	q.size += size
	q.largest.Fix(t)
}
