// SPDX-License-Identifier: Apache-2.0

// Package spanlinktest answers the question of package spanlink a second time, without an index: it
// compares every span with every sample. It shares no code with spanlink, so that the two can
// disagree.
package spanlinktest

import (
	"encoding/hex"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Span is a span with the values that it states or inherits from its segment.
type Span struct {
	Tenant, Session, Thread string
	Trace                   pcommon.TraceID
	ID, Parent, Segment     pcommon.SpanID
	Start, End              uint64

	parent *Span
}

// Oracle knows all spans.
type Oracle struct {
	spans     []*Span
	byID      map[id]*Span
	bySession map[[2]string][]*Span // by tenant and session
}

type id struct {
	tenant string
	trace  pcommon.TraceID
	span   pcommon.SpanID
}

// New returns an oracle of the spans of messages that came from Sentry SDKs. Duplicate spans count
// once.
func New(messages ...ptrace.Traces) *Oracle {
	o := &Oracle{byID: map[id]*Span{}, bySession: map[[2]string][]*Span{}}
	for _, message := range messages {
		for _, resource := range message.ResourceSpans().All() {
			for _, scope := range resource.ScopeSpans().All() {
				for _, span := range scope.Spans().All() {
					o.add(read(span, resource.Resource().Attributes()))
				}
			}
		}
	}
	o.completeFromSegments()
	for _, s := range o.spans {
		s.parent = o.find(s, s.Parent)
		if s.parent == nil {
			s.parent = o.find(s, s.Segment)
		}
		key := [2]string{s.Tenant, s.Session}
		o.bySession[key] = append(o.bySession[key], s)
	}
	return o
}

func read(span ptrace.Span, resource pcommon.Map) *Span {
	text := func(m pcommon.Map, key string) string {
		value, ok := m.Get(key)
		if !ok {
			return ""
		}
		return value.AsString()
	}
	s := &Span{
		Tenant: text(resource, "sentry.project_id"), Session: text(span.Attributes(), "sentry.profiler_id"),
		Thread: text(span.Attributes(), "thread.id"), Trace: span.TraceID(), ID: span.SpanID(), Parent: span.ParentSpanID(),
		Start: uint64(span.StartTimestamp()), End: uint64(span.EndTimestamp()),
	}
	if bytes, err := hex.DecodeString(text(span.Attributes(), "sentry.segment.id")); err == nil && len(bytes) == 8 {
		s.Segment = pcommon.SpanID(bytes)
	}
	return s
}

func (o *Oracle) add(s *Span) {
	key := id{s.Tenant, s.Trace, s.ID}
	if s.Trace.IsEmpty() || s.ID.IsEmpty() || o.byID[key] != nil {
		return
	}
	o.spans = append(o.spans, s)
	o.byID[key] = s
}

func (o *Oracle) find(of *Span, span pcommon.SpanID) *Span {
	found := o.byID[id{of.Tenant, of.Trace, span}]
	if found == of {
		return nil
	}
	return found
}

// completeFromSegments also drops spans without a session, except for segments.
func (o *Oracle) completeFromSegments() {
	var known []*Span
	for _, s := range o.spans {
		if segment := o.find(s, s.Segment); segment != nil {
			if s.Session == "" {
				s.Session = segment.Session
			}
			if s.Thread == "" {
				s.Thread = segment.Thread
			}
		}
		if s.Session != "" || s.Segment == s.ID {
			known = append(known, s)
		} else {
			delete(o.byID, id{s.Tenant, s.Trace, s.ID})
		}
	}
	o.spans = known
}

// Answer is the oracle's answer for one instant.
type Answer struct {
	Span *Span  // nil for none
	Why  Reason // if there is none
}

// Reason is the reason why there is no span.
type Reason string

// The reasons.
const (
	Ambiguous   Reason = "ambiguous"
	NoSession   Reason = "no span in the session"
	OtherThread Reason = "no span on the thread"
	NotThen     Reason = "no span at that time"
)

// Ask returns the span that had a thread at an instant; alone means that all samples of the profile
// are of this thread.
func (o *Oracle) Ask(tenant, session, thread string, alone bool, instant uint64) Answer {
	if session == "" {
		return Answer{Why: NoSession}
	}
	var candidates []*Span
	why := NoSession
	for _, s := range o.bySession[[2]string{tenant, session}] {
		if why == NoSession {
			why = OtherThread
		}
		if s.Thread == thread || alone && s.Thread == "" {
			why = NotThen
			if s.Start <= instant && instant < s.End {
				candidates = append(candidates, s)
			}
		}
	}
	if len(candidates) == 0 {
		return Answer{Why: why}
	}
	var leaves []*Span
	for _, c := range candidates {
		if !anyOf(candidates, func(other *Span) bool { return other.isDescendant(c) }) {
			leaves = append(leaves, c)
		}
	}
	if len(leaves) == 1 {
		return Answer{Span: leaves[0]}
	}
	var deepest *Span
	for _, c := range candidates {
		notAncestor := func(leaf *Span) bool { return leaf != c && !leaf.isDescendant(c) }
		if !anyOf(leaves, notAncestor) && (deepest == nil || c.isDescendant(deepest)) {
			deepest = c
		}
	}
	if deepest == nil {
		return Answer{Why: Ambiguous}
	}
	return Answer{Span: deepest}
}

// isDescendant reports whether s is a proper descendant of other.
func (s *Span) isDescendant(other *Span) bool {
	for ancestor, steps := s.parent, 0; ancestor != nil && steps < 1000; ancestor, steps = ancestor.parent, steps+1 {
		if ancestor == other {
			return true
		}
	}
	return false
}

func anyOf(spans []*Span, is func(*Span) bool) bool {
	for _, s := range spans {
		if is(s) {
			return true
		}
	}
	return false
}

// IsDescendant reports whether s is a proper descendant of a span that the oracle need not know.
func (s *Span) IsDescendant(trace pcommon.TraceID, span pcommon.SpanID) bool {
	for at, steps := s, 0; at != nil && steps < 1000; at, steps = at.parent, steps+1 {
		if at.Trace == trace && (at.Parent == span || at != s && at.ID == span) {
			return true
		}
	}
	return false
}
