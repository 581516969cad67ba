// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// segmentTree says for every span of a resource which segment it is part of: the index of the segment's root.
type segmentTree struct {
	segment  []int
	children map[int][]int // by root, in the order of the message, without the root
}

// elsewhere is the segment of a span whose root is in another message.
const elsewhere = -1

type spanKey struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// What a segment is while the tree is made.
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

// resolve finds the segment of a span by going up, and of all spans on the way.
func (t *segmentTree) resolve(spans []tracedSpan, from int, byID map[spanKey]int) int {
	var path []int
	at, ok := from, true
	for ok && t.segment[at] == unknown {
		t.segment[at] = visiting
		path = append(path, at)
		at, ok = above(&spans[at], byID, t.segment)
	}
	found := elsewhere
	if ok && t.segment[at] != visiting { // else it ends outside the message, or the parents go round in a circle
		found = t.segment[at]
	}
	for _, i := range path {
		t.segment[i] = found
	}
	return t.segment[from]
}

// isRoot: the span begins a segment. SDKs of Sentry's say so; by OpenTelemetry it is a span whose parent is none, or in another
// process. Where flags do not tell, the parent of a server's or a consumer's span is elsewhere if it is not here.
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

// above is the span that a span is part of the segment of: the root it names, else its parent.
func above(s *tracedSpan, byID map[spanKey]int, segment []int) (int, bool) {
	if root, ok := byID[spanKey{s.TraceID(), attr.SpanIDOf(textOf(s.Attributes(), semconv.SentrySegmentID))}]; ok && segment[root] == root {
		return root, true
	}
	parent, ok := byID[spanKey{s.TraceID(), s.ParentSpanID()}]
	return parent, ok
}
