// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"encoding/hex"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/dedup"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// identity is what the IDs of the items of an envelope are made of.
type identity struct {
	project string
	enabled bool
}

// ofItem returns the ID of an item as a list, which is empty if the item has no ID or the ID is
// not a UUID.
func (of identity) ofItem(kind sentry.ItemType, id string) []dedup.ID {
	key := dedup.ID{Tenant: of.project, Kind: string(kind)}
	id = strings.ReplaceAll(id, "-", "")
	if n, err := hex.Decode(key.Value[:16], []byte(id[:min(len(id), 32)])); !of.enabled || err != nil || n != 16 || len(id) != 32 {
		return nil
	}
	return []dedup.ID{key}
}

// ofSpans returns the IDs of all spans of a message, in order. It uses span IDs, not item IDs, so
// that a span that arrives in a transaction and in a span container is counted once.
func (of identity) ofSpans(traces ptrace.Traces) (ids []dedup.ID) {
	if !of.enabled {
		return nil
	}
	ids = make([]dedup.ID, 0, traces.SpanCount())
	removeSpans(traces, func(trace pcommon.TraceID, span pcommon.SpanID) bool {
		id := dedup.ID{Tenant: of.project, Kind: string(sentry.ItemSpan)}
		copy(id.Value[:], trace[:])
		copy(id.Value[16:], span[:])
		ids = append(ids, id)
		return false
	})
	return ids
}

// removeSpans calls remove for each span in order, and removes the spans for which it returns true.
func removeSpans(traces ptrace.Traces, remove func(pcommon.TraceID, pcommon.SpanID) bool) {
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			scope.Spans().RemoveIf(func(span ptrace.Span) bool { return remove(span.TraceID(), span.SpanID()) })
		}
	}
}
