// SPDX-License-Identifier: Apache-2.0

package spanlink

import (
	"encoding/hex"
	"iter"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Span has the fields of a span that the index needs.
type Span struct {
	Tenant     Tenant
	Trace      pcommon.TraceID
	ID, Parent pcommon.SpanID
	Segment    pcommon.SpanID // its own ID if it is a segment; zero if not stated
	Start, End uint64         // Unix nanoseconds
	Sessions   []Session      // its session, of the same tenant, once per way to identify it; empty if not stated. Valid only during the call
	Thread     string         // "" if not stated
	OnMain     bool           // Thread is the main thread, see Keys.ThreadName
	Program    *Session       // of its resource, see Keys.Program; nil if not stated
	Streamed   bool           // it was sent individually, see Keys.Streamed
}

// spanBatch has spans that are added to the index together: reading their attributes does not need
// the lock.
type spanBatch struct {
	spans    []Span
	sessions []Session // of the spans, each with space for one more, which a span may inherit
}

const batchSpans = 256 // maximum

var batches = sync.Pool{New: func() any { return new(spanBatch) }}

func (b *spanBatch) add(s Span) {
	from := len(b.sessions)
	to := from + len(s.Sessions)
	b.sessions = append(append(b.sessions, s.Sessions...), Session{})
	s.Sessions = b.sessions[from:to:len(b.sessions)]
	b.spans = append(b.spans, s)
}

// reset drops the spans, and with them the references to the message.
func (b *spanBatch) reset() {
	clear(b.spans)
	clear(b.sessions)
	b.spans, b.sessions = b.spans[:0], b.sessions[:0]
}

// Spans returns the spans of a message, as read by an index with these keys.
func (k *Keys) Spans(traces ptrace.Traces) iter.Seq[Span] {
	c := compile(*k)
	return c.spans("", traces)
}

func (c *compiledKeys) spans(tenant string, traces ptrace.Traces) iter.Seq[Span] {
	return func(yield func(Span) bool) {
		var sessions []Session
		for _, resource := range traces.ResourceSpans().All() {
			ofResource := c.resource(tenant, resource.Resource().Attributes())
			for _, scope := range resource.ScopeSpans().All() {
				ofScope := ofResource
				c.read(scope.Scope().Attributes(), &ofScope.values)
				for _, span := range scope.Spans().All() {
					s := c.span(span, &ofScope, sessions[:0])
					sessions = s.Sessions
					if !yield(s) {
						return
					}
				}
			}
		}
	}
}

// span reads one span.
func (c *compiledKeys) span(span ptrace.Span, of *origin, sessions []Session) Span {
	v := of.values
	c.read(span.Attributes(), &v)
	s := Span{
		Tenant: of.tenant,
		Trace:  span.TraceID(), ID: span.SpanID(), Parent: span.ParentSpanID(),
		Start: uint64(span.StartTimestamp()), End: uint64(span.EndTimestamp()),
		Sessions: c.sessions(of.tenant, &v, sessions), Thread: v[c.thread], Program: of.program,
	}
	if c.segment != noSlot {
		s.Segment = spanIDOf(v[c.segment])
	}
	s.OnMain = c.threadName != noSlot && v[c.threadName] == mainThread && s.Thread != ""
	if of.program != nil && len(s.Sessions) == 0 {
		how, ok := span.Attributes().Get(c.streamed)
		s.Streamed = ok && valueText(how) == streamed
	}
	return s
}

func spanIDOf(text string) (id pcommon.SpanID) {
	if len(text) == hex.EncodedLen(len(id)) {
		if _, err := hex.Decode(id[:], []byte(text)); err != nil {
			return pcommon.SpanID{}
		}
	}
	return id
}
