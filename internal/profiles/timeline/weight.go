// SPDX-License-Identifier: Apache-2.0

package timeline

import (
	"cmp"
	"math"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
)

const unitNanoseconds = sampletype.UnitNanoseconds

// scale converts values to weights.
type scale struct {
	factor int64 // weight of a value of 1
	gaps   bool  // weigh by the gaps between samples
	counts bool  // values count observations
}

func (s scale) of(value int64) int64 {
	switch {
	case value > math.MaxInt64/s.factor:
		return math.MaxInt64
	case value < math.MinInt64/s.factor:
		return math.MinInt64
	}
	return value * s.factor
}

// count returns the number of observations of a value.
func (s scale) count(value int64) int64 {
	if s.counts {
		return value
	}
	return 1
}

// scale returns the scale of the profile and sets its measure.
func (r *reader) scale() scale {
	t, ok := sampletype.Of(r.view, r.profile)
	if !ok {
		r.out.Broken++
	}
	m := t.Measure(r.profile.Period())
	r.out.Measure, r.out.wall = Measure{m.Name, m.Unit}, t.Clock == sampletype.Wall
	weighed := t.Counts && m.Unit == unitNanoseconds
	return scale{factor: m.Factor, gaps: weighed && t.Clock == sampletype.Wall, counts: t.Unit == sampletype.UnitCount}
}

// weigh sorts the samples of each thread by time. In wall-clock profiles, the weight of samples
// without values becomes the gap to the next sample.
func (r *reader) weigh(s scale) {
	for t := range r.out.Threads {
		samples := r.out.Threads[t].Samples
		slices.SortFunc(samples, func(a, b Sample) int { // a stable sort takes twice as long
			if a.Time != b.Time {
				return cmp.Compare(a.Time, b.Time)
			}
			return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Weight, b.Weight))
		})
		if !s.gaps {
			continue
		}
		at := func(o *Sample) uint64 { return o.Time }
		WeighByGaps(samples, at, uint64(s.factor), 0, func(o *Sample, nanoseconds int64) {
			if r.profile.Samples().At(int(o.Source)).Values().Len() == 0 {
				o.Weight = nanoseconds
			}
		})
	}
}
