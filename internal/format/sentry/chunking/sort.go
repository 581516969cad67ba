// SPDX-License-Identifier: Apache-2.0

package chunking

import (
	"cmp"
	"slices"
)

// SortByTime sorts observations by time and keeps the order of equal times. It is a radix sort with
// 12-bit digits; sorting by comparison takes three times as long (internal/testkit/bench). It
// returns the scratch memory for the next call.
func SortByTime(all, scratch []Observation) []Observation {
	first, last, sorted := timeBounds(all)
	if sorted {
		return scratch
	}
	const digit, few = 12, 64
	if len(all) < few {
		slices.SortStableFunc(all, func(a, b Observation) int { return cmp.Compare(a.Time, b.Time) })
		return scratch
	}
	scratch = slices.Grow(scratch[:0], len(all))[:len(all)]
	from, to := all, scratch
	for shift := 0; (last-first)>>shift > 0; shift += digit {
		var starts [1 << digit]int32
		for i := range from {
			starts[(from[i].Time-first)>>shift&(1<<digit-1)]++
		}
		sum := int32(0)
		for i, count := range starts {
			starts[i] = sum
			sum += count
		}
		for i := range from {
			d := (from[i].Time - first) >> shift & (1<<digit - 1)
			to[starts[d]] = from[i]
			starts[d]++
		}
		from, to = to, from
	}
	if &from[0] != &all[0] {
		copy(all, from)
	}
	return scratch
}

func timeBounds(all []Observation) (first, last uint64, sorted bool) {
	first, sorted = ^uint64(0), true
	for _, o := range all {
		sorted = sorted && o.Time >= last
		first, last = min(first, o.Time), max(last, o.Time)
	}
	return first, last, sorted
}
