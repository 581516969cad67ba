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

// medianGaps is how many median gaps of its thread a sample lasts at most, as in the aggregate transform: recordings have holes,
// where an SDK lost samples or the profiler was off.
const medianGaps = 3

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
// to the next. Samples of one thread at one instant share its gap.
func (r *reader) weigh(s scale) {
	for t := range r.out.Threads {
		samples := r.out.Threads[t].Samples
		slices.SortStableFunc(samples, func(a, b Sample) int { return cmp.Compare(a.Time, b.Time) })
		if !s.gaps {
			continue
		}
		longest := longestGap(samples)
		for len(samples) > 0 {
			n := 1
			for n < len(samples) && samples[n].Time == samples[0].Time {
				n++
			}
			gap := uint64(s.nanoseconds) // of the last
			if n < len(samples) {
				gap = min(samples[n].Time-samples[0].Time, longest)
			}
			r.share(gap, samples[:n])
			samples = samples[n:]
		}
	}
}

// share divides a gap between samples at one instant, to the nanosecond. Totals, which have values, keep what they weigh.
func (r *reader) share(gap uint64, samples []Sample) {
	each, rest := gap/uint64(len(samples)), gap%uint64(len(samples))
	for i := range samples {
		if r.profile.Samples().At(int(samples[i].Source)).Values().Len() > 0 {
			continue
		}
		part := each
		if uint64(i) < rest {
			part++
		}
		samples[i].Weight = int64(min(part, math.MaxInt64))
	}
}

// longestGap is how long a sample of a thread may last.
func longestGap(samples []Sample) uint64 {
	var gaps []uint64
	for i := 1; i < len(samples); i++ {
		if gap := samples[i].Time - samples[i-1].Time; gap > 0 {
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
