// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

// entry is a request in the forwarder, from its acceptance until it is sent or dropped.
type entry struct {
	project  string // the tenant
	endpoint string
	received time.Time
	number   uint64          // in the storage; 0 = not stored
	weight   int64           // bytes
	request  *request        // nil = in the storage only
	claim    *httpbody.Claim // for the memory of the request
	done     chan<- reply    // receives the reply for a waiting client; its buffer has size 1; nil = no client waits

	attempts int
	refusals int    // failed attempts between which Sentry accepted other requests
	accepted uint64 // requests that Sentry had accepted at the last attempt
	due      time.Time
}

// answer sends the result of the first attempt to the waiting client, if any.
func (e *entry) answer(r reply) {
	if e.done != nil {
		e.done <- r
		e.done = nil
	}
}

// leaveMemory releases the memory of an entry that is in the storage.
func (e *entry) leaveMemory() {
	if e.number != 0 {
		e.request = nil
		e.claim.Release()
	}
}

// queue is a queue of entries with fair shares for projects.
type queue struct {
	fairshare.Queue[string, *entry]
}

func (q *queue) push(e *entry) { q.Push(e.project, e, e.weight) }

// pop removes and returns the entry that has waited longest, or nil.
func (q *queue) pop() *entry {
	oldest := q.Oldest()
	if oldest == nil {
		return nil
	}
	q.Remove(oldest)
	return oldest.Value
}

// evict removes and returns the oldest entry of the project that uses the most, or nil.
func (q *queue) evict() *entry {
	oldest := q.LargestOldest()
	if oldest == nil {
		return nil
	}
	q.Remove(oldest)
	return oldest.Value
}

// popBefore is pop for entries that were received before a time.
func (q *queue) popBefore(received time.Time) *entry {
	if oldest := q.Oldest(); oldest == nil || !oldest.Value.received.Before(received) {
		return nil
	}
	return q.pop()
}
