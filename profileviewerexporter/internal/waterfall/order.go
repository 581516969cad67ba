// SPDX-License-Identifier: Apache-2.0

package waterfall

import (
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Row is a row of a trace: a span, by its index, and its depth in the span tree.
type Row struct{ Index, Depth int }

// Order returns the rows of a trace: each span after its parent, siblings by start time. Spans with
// an unknown parent and the first span of a cycle are roots.
func Order(found []Span) (rows []Row) {
	byID := make(map[pcommon.SpanID]int, len(found))
	for i := range found {
		byID[found[i].ID] = i
	}
	const root = -1
	children := map[int][]int{}
	for i := range found {
		parent, known := byID[found[i].Parent]
		if !known || parent == i {
			parent = root
		}
		children[parent] = append(children[parent], i)
	}
	earlier := func(a, b int) int {
		return cmp.Or(cmp.Compare(found[a].Start, found[b].Start), cmp.Compare(a, b))
	}
	seen := make([]bool, len(found))
	stack := []Row{}
	push := func(parent, depth int) {
		slices.SortFunc(children[parent], earlier)
		for _, child := range slices.Backward(children[parent]) {
			stack = append(stack, Row{child, depth})
		}
	}
	visit := func() {
		for len(stack) > 0 {
			row := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if seen[row.Index] {
				continue
			}
			seen[row.Index] = true
			rows = append(rows, row)
			push(row.Index, row.Depth+1)
		}
	}
	push(root, 0)
	visit()
	for i := range found { // the rest are cycles
		if !seen[i] {
			stack = append(stack, Row{i, 0})
			visit()
		}
	}
	return rows
}
