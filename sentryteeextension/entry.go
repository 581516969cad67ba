// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/schedule"
)

// entry is a request in the forwarder, from its acceptance until it is sent or dropped.
type entry struct {
	schedule.Request
	endpoint string
	number   uint64          // in the storage; 0 = not stored
	request  *request        // nil = in the storage only
	claim    *httpbody.Claim // for the memory of the request
	done     chan<- reply    // receives the reply for a waiting client; its buffer has size 1; nil = no client waits
}

// newEntry returns an entry for a request in memory.
func newEntry(r *request, claim *httpbody.Claim) *entry {
	return &entry{
		Request:  schedule.Request{Project: r.Project, Received: r.Received, Weight: r.size() + int64(len(r.Body))},
		endpoint: r.Endpoint, request: r, claim: claim,
	}
}

// canWait reports whether an entry can wait in the storage until Sentry works again.
func (e *entry) canWait() bool { return e.number != 0 && e.done == nil }

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
