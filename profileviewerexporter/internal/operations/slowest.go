// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"cmp"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/heap"
)

// slowest has the spans of an operation, the slowest first.
type slowest = heap.Heap[*Node]

// Before and Place implement heap.Item.
func (n *Node) Before(other *Node) bool { return n.duration > other.duration }
func (n *Node) Place() *int             { return &n.place }

// slowestOf returns the slowest spans of a heap. It visits most of their children in the heap, not
// all spans.
func slowestOf(spans slowest, most int) (list []*Node) {
	next := slices.Clone(spans[:min(len(spans), 1)])
	for len(next) > 0 && len(list) < most {
		slices.SortFunc(next, byDuration)
		n := next[0]
		children := 2*n.place + 1
		next = append(next[1:], spans[min(children, len(spans)):min(children+2, len(spans))]...)
		list = append(list, n)
	}
	return list
}

// byDuration orders spans, the slowest first.
func byDuration(a, b *Node) int { return cmp.Compare(b.duration, a.duration) }
