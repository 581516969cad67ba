// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// segmentTree stores the segment of every span of a resource, as the index of the segment's root.
type segmentTree struct {
	segment  []int
	children map[int][]int // by root, in message order, without the root
}

// elsewhere is the segment of a span whose root is in another message.
const elsewhere = -1

// SegmentRoots returns the index of the root of each span's segment; -1 if the root is in another
// message.
func SegmentRoots(spans []ptrace.Span) []int {
	traced := make([]tracedSpan, len(spans))
	for i, span := range spans {
		traced[i].Span = span
	}
	return newSegmentTree(traced).segment
}

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// Values of segment while the tree is built.
const (
	unknown  = -2
	visiting = -3
)

func newSegmentTree(spans []tracedSpan) *segmentTree {
	t := &segmentTree{segment: slices.Repeat([]int{unknown}, len(spans)), children: map[int][]int{}}
	byID := make(map[spanKey]int, len(spans))
	for i := range spans {
		key := spanKey{spans[i].TraceID(), spans[i].SpanID()}
		if _, taken := byID[key]; !taken {
			byID[key] = i
		}
	}
	for i := range spans {
		if isRoot(&spans[i], byID) {
			t.segment[i] = i
		}
	}
	for i := range spans {
		if root := t.resolve(spans, i, byID); root != elsewhere && root != i {
			t.children[root] = append(t.children[root], i)
		}
	}
	return t
}

// resolve finds the segment of a span and of its ancestors up to a known one.
func (t *segmentTree) resolve(spans []tracedSpan, from int, byID map[spanKey]int) int {
	var path []int
	at, ok := from, true
	for ok && t.segment[at] == unknown {
		t.segment[at] = visiting
		path = append(path, at)
		at, ok = owner(&spans[at], byID, t.segment)
	}
	found := elsewhere
	if ok && t.segment[at] != visiting { // otherwise the root is in another message, or the parents form a cycle
		found = t.segment[at]
	}
	for _, i := range path {
		t.segment[i] = found
	}
	return t.segment[from]
}

// isRoot reports whether the span begins a segment. Sentry's SDKs state this. In OpenTelemetry,
// such a span has no parent or a remote parent. Without flags, the parent of a server or consumer
// span is considered remote if it is not in the message.
func isRoot(s *tracedSpan, byID map[spanKey]int) bool {
	if stated, ok := s.Attributes().Get(semconv.SentryIsSegment); ok && stated.Type() == pcommon.ValueTypeBool {
		return stated.Bool()
	}
	if s.ParentSpanID().IsEmpty() {
		_, ofSegment := s.Attributes().Get(semconv.SentrySegmentID)
		return !ofSegment
	}
	const knowsRemote, isRemote = 0x100, 0x200 // span flags of OTLP
	if s.Flags()&knowsRemote != 0 {
		return s.Flags()&isRemote != 0
	}
	_, parentIsHere := byID[spanKey{s.TraceID(), s.ParentSpanID()}]
	return !parentIsHere && (s.Kind() == ptrace.SpanKindServer || s.Kind() == ptrace.SpanKindConsumer)
}

// owner returns the span that determines the segment of a span: the root that it states, else its
// parent.
func owner(s *tracedSpan, byID map[spanKey]int, segment []int) (int, bool) {
	if root, ok := byID[spanKey{s.TraceID(), attr.SpanIDOf(attr.TextOf(s.Attributes(), semconv.SentrySegmentID))}]; ok && segment[root] == root {
		return root, true
	}
	parent, ok := byID[spanKey{s.TraceID(), s.ParentSpanID()}]
	return parent, ok
}
