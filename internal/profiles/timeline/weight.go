// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"math"
	"slices"
)

const (
	unitCount       = "count"
	unitNanoseconds = "nanoseconds"
	typeWall        = "wall"
)

// scale says what an observation weighs.
type scale struct {
	nanoseconds int64 // of one observation; 0 where weights are the values as they are
	gaps        bool  // weigh by the gaps between samples
	counts      bool  // values count observations
}

func (s scale) of(value int64) int64 {
	switch {
	case s.nanoseconds == 0:
		return value
	case value > math.MaxInt64/s.nanoseconds:
		return math.MaxInt64
	case value < math.MinInt64/s.nanoseconds:
		return math.MinInt64
	}
	return value * s.nanoseconds
}

// count says how many observations a value stands for.
func (s scale) count(value int64) int64 {
	if s.counts {
		return value
	}
	return 1
}

// scale finds out what the weights of the profile are.
func (r *reader) scale() scale {
	typ, unit, ok := r.view.ValueType(r.profile.SampleType())
	periodType, periodUnit, ok2 := r.view.ValueType(r.profile.PeriodType())
	if !ok || !ok2 {
		r.out.Broken++
	}
	counts := unit == unitCount
	if period := r.profile.Period(); typ == "samples" && counts && periodUnit == unitNanoseconds && period > 0 {
		r.out.Measure = Measure{periodType, unitNanoseconds}
		return scale{nanoseconds: period, gaps: periodType == typeWall, counts: true}
	}
	r.out.Measure = Measure{typ, unit}
	return scale{counts: counts}
}

// weigh puts the samples of each thread in the order of time and, where that is better than the period, weighs each by the gap
// to the next. Totals, which have values, keep what they weigh.
func (r *reader) weigh(s scale) {
	for t := range r.out.Threads {
		samples := r.out.Threads[t].Samples
		slices.SortStableFunc(samples, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
		if !s.gaps {
			continue
		}
		at := func(o *Sample) uint64 { return o.Time }
		WeighByGaps(samples, at, uint64(s.nanoseconds), 0, func(o *Sample, nanoseconds int64) {
			if r.profile.Samples().At(int(o.Source)).Values().Len() == 0 {
				o.Weight = nanoseconds
			}
		})
	}
}
