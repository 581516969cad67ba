// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// foundSpan is a span of a trace, reduced to the values that determine its row.
type foundSpan struct {
	id, parent pcommon.SpanID
	start      uint64
}

// spanRow is a row of a trace: a span, by its index, and its depth in the span tree.
type spanRow struct{ index, depth int }

// spanOrder returns the rows of a trace: each span after its parent, siblings by start time. Spans
// with an unknown parent are roots, and so is the first span of a cycle.
func spanOrder(found []foundSpan) (rows []spanRow) {
	byID := make(map[pcommon.SpanID]int, len(found))
	for i := range found {
		byID[found[i].id] = i
	}
	const root = -1
	children := map[int][]int{}
	for i := range found {
		parent, known := byID[found[i].parent]
		if !known || parent == i {
			parent = root
		}
		children[parent] = append(children[parent], i)
	}
	earlier := func(a, b int) int {
		return cmp.Or(cmp.Compare(found[a].start, found[b].start), cmp.Compare(a, b))
	}
	seen := make([]bool, len(found))
	stack := []spanRow{}
	push := func(parent, depth int) {
		slices.SortFunc(children[parent], earlier)
		for _, child := range slices.Backward(children[parent]) {
			stack = append(stack, spanRow{child, depth})
		}
	}
	visit := func() {
		for len(stack) > 0 {
			row := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[row.index] {
				continue
			}
			seen[row.index] = true
			rows = append(rows, row)
			push(row.index, row.depth+1)
		}
	}
	push(root, 0)
	visit()
	for i := range found { // the rest are cycles
		if !seen[i] {
			stack = append(stack, spanRow{i, 0})
			visit()
		}
	}
	return rows
}
