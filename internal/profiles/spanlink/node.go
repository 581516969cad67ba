// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"bytes"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// spanKey names a span.
type spanKey struct {
	tenant *tenant
	trace  pcommon.TraceID
	id     pcommon.SpanID
}

// inTrace names another span of the trace.
func (k spanKey) inTrace(id pcommon.SpanID) spanKey { return spanKey{k.tenant, k.trace, id} }

// node is a span as a part of its trace. A span may come twice: by a retry, or in two formats while an application is being
// upgraded. The node is one, with an interval for each time and place it was said to have run.
type node struct {
	spanKey
	parent    pcommon.SpanID
	segment   pcommon.SpanID
	intervals *interval

	// Its number in the forest of this epoch.
	epoch  uint64
	number int32
}

// interval is a time that a span ran, on one thread.
type interval struct {
	node         *node
	start, end   uint64
	lane         *lane // nil while it waits for its segment, and for segments that ran nowhere
	arrived      time.Duration
	older, newer *interval // of the index, by arrival
	before, next *interval // of its share
	sibling      *interval // of the same node
	waits        *orphan   // for its segment; nil if it does not wait
	kind         kind
	gone         bool // from the index; its lane gets rid of it when it next looks
}

func (i *interval) share() *share { return &i.node.tenant.shares[i.kind] }

// maxIntervals of a node: two formats, each with a retry that has other times.
const maxIntervals = 4

// has says whether there is no need for an interval.
func (n *node) has(start, end uint64, l *lane) bool {
	count := 0
	for i := n.intervals; i != nil; i = i.sibling {
		if i.start == start && i.end == end && i.lane == l {
			return true
		}
		count++
	}
	return count >= maxIntervals
}

// sayAgain makes the answer to who is above the span independent of which copy of it came first.
func (n *node) sayAgain(s Span) {
	if bytes.Compare(s.Parent[:], n.parent[:]) > 0 {
		n.parent = s.Parent
	}
	if bytes.Compare(s.Segment[:], n.segment[:]) > 0 {
		n.segment = s.Segment
	}
}

// remove takes an interval out of the list, and says whether it was the last.
func (n *node) remove(i *interval) bool {
	at := &n.intervals
	for *at != i {
		at = &(*at).sibling
	}
	*at = i.sibling
	i.sibling = nil
	return n.intervals == nil
}

// complete fills in what a span below this segment does not say itself.
func (n *node) complete(sessions []Session, thread string) ([]Session, string) {
	stated := len(sessions) > 0
	for i := n.intervals; i != nil; i = i.sibling {
		if i.lane == nil {
			continue
		}
		if !stated {
			sessions = append(sessions, i.lane.session.Session)
		}
		if thread == "" {
			thread = i.lane.thread
		}
	}
	return sessions, thread
}
