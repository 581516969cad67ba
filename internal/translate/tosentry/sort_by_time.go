// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"slices"
)

// sortByTime sorts observations by time; equal times stay in their order. A merge of the timestamps of all samples: by digits
// of 12 bits, since comparing takes three times as long (internal/testkit/bench). It gives back the scratch it used.
func sortByTime(all, scratch []observation) []observation {
	first, last, sorted := timeBounds(all)
	if sorted {
		return scratch
	}
	const digit, few = 12, 64
	if len(all) < few {
		slices.SortStableFunc(all, func(a, b observation) int { return cmp.Compare(a.time, b.time) })
		return scratch
	}
	scratch = slices.Grow(scratch[:0], len(all))[:len(all)]
	from, to := all, scratch
	for shift := 0; (last-first)>>shift > 0; shift += digit {
		var starts [1 << digit]int32
		for i := range from {
			starts[(from[i].time-first)>>shift&(1<<digit-1)]++
		}
		sum := int32(0)
		for i, count := range starts {
			starts[i] = sum
			sum += count
		}
		for i := range from {
			d := (from[i].time - first) >> shift & (1<<digit - 1)
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

func timeBounds(all []observation) (first, last uint64, sorted bool) {
	first, sorted = ^uint64(0), true
	for _, o := range all {
		sorted = sorted && o.time >= last
		first, last = min(first, o.time), max(last, o.time)
	}
	return first, last, sorted
}
