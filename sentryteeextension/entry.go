// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
)

// entry is a request from its acceptance to its end.
type entry struct {
	project  string // the tenant
	endpoint string
	received time.Time
	number   uint64          // in the storage; 0 = it is not there
	weight   int64           // bytes
	request  *request        // nil = it is only in the storage
	claim    *httpbody.Claim // for the memory of the request
	done     chan<- reply    // for a client that waits, of size 1; nil = there is none

	attempts int
	refusals int    // failed attempts since which, or since the ones before, Sentry has accepted other requests
	accepted uint64 // requests that Sentry had accepted at the last attempt
	due      time.Time
}

// answer tells the client that waits what came of the first attempt.
func (e *entry) answer(r reply) {
	if e.done != nil {
		e.done <- r
		e.done = nil
	}
}

// leaveMemory keeps an entry in the storage only, if it is there.
func (e *entry) leaveMemory() {
	if e.number != 0 {
		e.request = nil
		e.claim.Release()
	}
}

// queue holds entries of which projects have fair shares.
type queue struct {
	fairshare.Queue[string, *entry]
}

func (q *queue) push(e *entry) { q.Push(e.project, e, e.weight) }

// pop removes the entry that has waited for the longest time, if there is any.
func (q *queue) pop() *entry {
	oldest := q.Oldest()
	if oldest == nil {
		return nil
	}
	q.Remove(oldest)
	return oldest.Value
}

// evict removes the oldest entry of the project that has the most, if there is any.
func (q *queue) evict() *entry {
	oldest := q.LargestOldest()
	if oldest == nil {
		return nil
	}
	q.Remove(oldest)
	return oldest.Value
}

// popBefore removes the entry that has waited for the longest time if it was received before then.
func (q *queue) popBefore(received time.Time) *entry {
	if oldest := q.Oldest(); oldest == nil || !oldest.Value.received.Before(received) {
		return nil
	}
	return q.pop()
}
