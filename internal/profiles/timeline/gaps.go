// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"math"
	"slices"
)

// medianGaps is the maximum duration of an observation, in median gaps of its thread. Recordings
// have pauses in which the SDK lost samples (browsers send at most 3000 per minute) or the profiler
// was off.
const medianGaps = 3

// WeighByGaps calls lasts with the duration of each observation of one thread. Observations must be
// in chronological order. Each lasts until the next one, but no longer than longest (0: three times
// the median gap); the last one lasts a period. Observations with the same time share the gap to
// the nanosecond.
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

// longestGap returns three times the median gap between the times of the observations.
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
