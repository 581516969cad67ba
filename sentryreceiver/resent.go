// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/fairshare"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// ResentConfig is a window of ids: what has one that was accepted before is dropped. Native sends an event again after a
// crash, java and cocoa what they got no answer for.
type ResentConfig struct {
	// MaxIDs is how many ids are remembered, the latest accepted; 0 = nothing is dropped. Each takes about 320 bytes.
	MaxIDs int `mapstructure:"max_ids"`
	// MaxAge is for how long.
	MaxAge time.Duration `mapstructure:"max_age"`
}

const (
	// defaultMaxResentAge: an SDK with an offline cache sends again when the application starts the next time.
	defaultMaxResentAge = 24 * time.Hour

	// maxResentIDs take some 3 GB.
	maxResentIDs = 10_000_000

	// reasonResent is why items and spans are discarded that were accepted before.
	reasonResent = "resent"
)

// resentID is what is the same when it comes again. Spans are compared by themselves, not by the item they come in: what a
// transaction and a span container both have is counted once.
type resentID struct {
	project string
	kind    sentry.ItemType
	id      [24]byte // 16 of the item; of a span, trace id and span id
}

// resent remembers what was accepted, of each project a fair share. A nil resent remembers nothing.
type resent struct {
	ResentConfig

	mu       sync.Mutex
	accepted map[resentID]*acceptedEntry
	order    acceptedQueue              // of acceptance
	pending  map[resentID]chan struct{} // being handed on; closed when it is known what became of it
}

type (
	acceptedQueue = fairshare.Queue[string, acceptedID]
	acceptedEntry = fairshare.Entry[string, acceptedID]
)

type acceptedID struct {
	id resentID
	at time.Time
}

func newResent(config ResentConfig) *resent {
	if config.MaxIDs == 0 {
		return nil
	}
	return &resent{ResentConfig: config, accepted: map[resentID]*acceptedEntry{}, pending: map[resentID]chan struct{}{}}
}

// begin says which ids were accepted before, or stand in the list before; the others are pending until done is called. Where
// one is pending already, it waits to see what becomes of that: to drop the second while the first may still fail could lose
// both. It waits holding nothing, so that no two wait for each other.
func (r *resent) begin(ctx context.Context, ids []resentID) (seen []bool, done func(accepted bool), err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for first := r.firstPending(ids); first != nil; first = r.firstPending(ids) {
		r.mu.Unlock()
		select {
		case <-first:
		case <-ctx.Done():
			err = ctx.Err()
		}
		r.mu.Lock()
		if err != nil {
			return nil, nil, err
		}
	}
	r.forget(time.Now())
	seen = make([]bool, len(ids))
	fresh, finished := make([]resentID, 0, len(ids)), make(chan struct{})
	for i, id := range ids {
		_, accepted := r.accepted[id]
		_, twice := r.pending[id]
		if seen[i] = accepted || twice; !seen[i] {
			r.pending[id] = finished
			fresh = append(fresh, id)
		}
	}
	return seen, func(accepted bool) { r.done(fresh, accepted, finished) }, nil
}

func (r *resent) firstPending(ids []resentID) chan struct{} {
	for _, id := range ids {
		if pending, ok := r.pending[id]; ok {
			return pending
		}
	}
	return nil
}

func (r *resent) done(ids []resentID, accepted bool, finished chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	for _, id := range ids {
		delete(r.pending, id)
		if accepted {
			r.accepted[id] = r.order.Push(id.project, acceptedID{id, now}, 1)
		}
	}
	r.forget(now)
	close(finished)
}

// forget drops what is too old, and of what is too much the oldest of the project that has the most.
func (r *resent) forget(now time.Time) {
	for oldest := r.order.Oldest(); oldest != nil && now.Sub(oldest.Value.at) >= r.MaxAge; oldest = r.order.Oldest() {
		r.remove(oldest)
	}
	for r.order.Len() > r.MaxIDs {
		r.remove(r.order.LargestOldest())
	}
}

func (r *resent) remove(e *acceptedEntry) {
	delete(r.accepted, e.Value.id)
	r.order.Remove(e)
}

// itemIDs is the id of an item that has one of its own; none where it is no UUID.
func (in *ingestion) itemIDs(kind sentry.ItemType, id string) []resentID {
	key := resentID{project: in.auth.ProjectID, kind: kind}
	id = strings.ReplaceAll(id, "-", "")
	if n, err := hex.Decode(key.id[:16], []byte(id[:min(len(id), 32)])); in.resent == nil || err != nil || n != 16 || len(id) != 32 {
		return nil
	}
	return []resentID{key}
}

// spanIDs are those of all spans of a message, in its order.
func (in *ingestion) spanIDs(traces ptrace.Traces) (ids []resentID) {
	if in.resent == nil {
		return nil
	}
	ids = make([]resentID, 0, traces.SpanCount())
	removeSpans(traces, func(trace pcommon.TraceID, span pcommon.SpanID) bool {
		id := resentID{project: in.auth.ProjectID, kind: sentry.ItemSpan}
		copy(id.id[:], trace[:])
		copy(id.id[16:], span[:])
		ids = append(ids, id)
		return false
	})
	return ids
}

// removeSpans visits all spans in order, and removes those for which the visit says so.
func removeSpans(traces ptrace.Traces, visit func(pcommon.TraceID, pcommon.SpanID) bool) {
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			scope.Spans().RemoveIf(func(span ptrace.Span) bool { return visit(span.TraceID(), span.SpanID()) })
		}
	}
}
