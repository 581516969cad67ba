// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"bytes"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// spanKey identifies a span.
type spanKey struct {
	tenant *tenant
	trace  pcommon.TraceID
	id     pcommon.SpanID
}

// inTrace returns the key of another span of the trace.
func (k spanKey) inTrace(id pcommon.SpanID) spanKey { return spanKey{k.tenant, k.trace, id} }

// indexedSpan is a span as part of its trace. A span may arrive twice: after a retry, or in two
// formats while an application is upgraded. It is one indexedSpan with an interval for each
// distinct time and track.
type indexedSpan struct {
	spanKey
	parent    pcommon.SpanID
	segment   pcommon.SpanID
	intervals *interval

	// Its position in the span tree of this epoch.
	treeEpoch uint64
	treeIndex int32
}

// interval is the time that a span ran on one track.
type interval struct {
	span                     *indexedSpan
	start, end               uint64
	track                    *track // nil while it waits for its segment, and for segments without a session
	arrived                  time.Duration
	older, newer             *interval // of the index, by arrival
	prevInShare, nextInShare *interval // of its share, by arrival
	sibling                  *interval // next interval of the same span
	orphan                   *orphan   // nil unless it waits for its segment
	kind                     kind
	removed                  bool // from the index; its track drops it at the next sweep
}

func (i *interval) share() *share { return &i.span.tenant.shares[i.kind] }

// maxIntervals of a span: two formats, each with a retry that has other times.
const maxIntervals = 4

// contains reports whether the span has the interval already, or has too many to add it.
func (n *indexedSpan) contains(start, end uint64, l *track) bool {
	count := 0
	for i := n.intervals; i != nil; i = i.sibling {
		if i.start == start && i.end == end && i.track == l {
			return true
		}
		count++
	}
	return count >= maxIntervals
}

// merge makes parent and segment independent of the order in which copies of a span arrive.
func (n *indexedSpan) merge(s Span) {
	if bytes.Compare(s.Parent[:], n.parent[:]) > 0 {
		n.parent = s.Parent
	}
	if bytes.Compare(s.Segment[:], n.segment[:]) > 0 {
		n.segment = s.Segment
	}
}

// removeInterval removes an interval and reports whether it was the last.
func (n *indexedSpan) removeInterval(i *interval) bool {
	at := &n.intervals
	for *at != i {
		at = &(*at).sibling
	}
	*at = i.sibling
	i.sibling = nil
	return n.intervals == nil
}

// completeChild returns session and thread of a child of this segment, with the segment's values
// for those that the child does not state.
func (n *indexedSpan) completeChild(sessions []Session, thread string) ([]Session, string) {
	stated := len(sessions) > 0
	for i := n.intervals; i != nil; i = i.sibling {
		if i.track == nil {
			continue
		}
		if !stated {
			sessions = append(sessions, i.track.session.Session)
		}
		if thread == "" {
			thread = i.track.thread
		}
	}
	return sessions, thread
}
