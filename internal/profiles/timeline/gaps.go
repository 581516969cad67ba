// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"math"
	"slices"
)

// medianGaps is how many median gaps of its thread an observation lasts at most: recordings have holes, where an SDK lost samples
// (browsers send 3000 in a minute at most) or the profiler was off.
const medianGaps = 3

// WeighByGaps tells what each observation of one thread lasts, in nanoseconds. They are given in the order of time; each lasts
// until the next instant, at most longest (0: three times the median gap), and the last one a period. Observations at one
// instant share its gap, to the nanosecond.
func WeighByGaps[T any](all []T, at func(*T) uint64, period, longest uint64, lasts func(o *T, nanoseconds int64)) {
	if longest == 0 {
		longest = longestGap(all, at)
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && at(&all[n]) == at(&all[0]) {
			n++
		}
		gap := period
		if n < len(all) {
			gap = min(at(&all[n])-at(&all[0]), longest)
		}
		each, rest := gap/uint64(n), gap%uint64(n)
		for i := range all[:n] {
			part := each
			if uint64(i) < rest {
				part++
			}
			lasts(&all[i], int64(min(part, math.MaxInt64)))
		}
		all = all[n:]
	}
}

// longestGap is three times the median gap between the instants at which a thread was seen.
func longestGap[T any](all []T, at func(*T) uint64) uint64 {
	var gaps []uint64
	for i := 1; i < len(all); i++ {
		if gap := at(&all[i]) - at(&all[i-1]); gap > 0 {
			gaps = append(gaps, gap)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	median := gaps[(len(gaps)-1)/2]
	if median > math.MaxUint64/medianGaps {
		return math.MaxUint64
	}
	return medianGaps * median
}
