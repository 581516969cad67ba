// SPDX-License-Identifier: Apache-2.0

package waterfall

import (
	"cmp"
	"slices"
)

// Critical reports which rows are on the critical path of a trace. Backwards from the end, the path
// contains the span that ended last, then the one that ended last before that one began, and so on;
// likewise among the children of each span on the path. If a span on the path were shorter, its
// parent could be, too.
func Critical(found []Span, rows []Row) []bool {
	children := childRows(rows)
	ends := func(row int) uint64 { return found[rows[row].Index].End }
	starts := func(row int) uint64 { return found[rows[row].Index].Start }
	critical := make([]bool, len(rows))
	type step struct {
		row   int // -1: the trace
		until uint64
	}
	path := []step{{-1, maxTime}}
	for len(path) > 0 {
		at := path[len(path)-1]
		path = path[:len(path)-1]
		latest := children[at.row+1]
		slices.SortFunc(latest, func(a, b int) int { return cmp.Or(cmp.Compare(ends(b), ends(a)), cmp.Compare(a, b)) })
		until := at.until
		for _, child := range latest {
			if starts(child) >= until && until != maxTime {
				continue // it began after the next call of the path did
			}
			if at.row >= 0 && ends(child) > at.until {
				continue // it outlived its parent, which did not wait for it
			}
			if ends(child) <= until {
				critical[child] = true
				path = append(path, step{child, ends(child)})
				until = starts(child)
			}
		}
	}
	return critical
}

const maxTime = 1<<64 - 1

// childRows returns the rows below each row; index 0 has the roots, index i+1 the children of row
// i.
func childRows(rows []Row) [][]int {
	children := make([][]int, len(rows)+1)
	var open []int // ancestors of the current row
	for i, row := range rows {
		open = open[:min(row.Depth, len(open))]
		parent := 0
		if len(open) > 0 {
			parent = open[len(open)-1] + 1
		}
		children[parent] = append(children[parent], i)
		open = append(open, i)
	}
	return children
}
