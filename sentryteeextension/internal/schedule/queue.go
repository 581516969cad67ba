// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
)

// queue is a queue of requests, in their order of arrival, with fair shares for projects.
type queue[E Entry] struct {
	fairshare.Queue[string, E]
}

func (q *queue[E]) push(e E) {
	r := e.Scheduled()
	q.Push(r.Project, e, r.Weight)
}

// take removes an entry. It reports false if the entry is nil, because the queue is empty.
func (q *queue[E]) take(entry *fairshare.Entry[string, E]) (e E, ok bool) {
	if entry == nil {
		return e, false
	}
	q.Remove(entry)
	return entry.Value, true
}

// pop removes and returns the request that has waited longest.
func (q *queue[E]) pop() (E, bool) { return q.take(q.Oldest()) }

// popInTurn removes and returns the oldest request of the next project that may send.
func (q *queue[E]) popInTurn(may func(project string) bool) (e E, ok bool) {
	for range q.Tenants() {
		if oldest, _ := q.TakeTurn(); may(oldest.Tenant()) {
			return q.take(oldest)
		}
	}
	return e, false
}

// popNewestInTurn removes and returns the newest request of the next project.
func (q *queue[E]) popNewestInTurn() (E, bool) {
	_, newest := q.TakeTurn()
	return q.take(newest)
}

// popBefore is like pop, but only returns a request that was received before a given time.
func (q *queue[E]) popBefore(received time.Time) (e E, ok bool) {
	if oldest := q.Oldest(); oldest != nil && oldest.Value.Scheduled().Received.Before(received) {
		return q.take(oldest)
	}
	return e, false
}
