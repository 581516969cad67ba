// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// Units of what Aggregate makes.
const (
	UnitCount       = "count"
	UnitNanoseconds = "nanoseconds"
)

// Aggregate replaces timestamps by one value per sample: how often it was seen, or for how long.
//
// In nanoseconds, a wall-clock profile (period type wall) is weighed by real gaps: an observation lasts until the next one of
// its thread, idle ones included, at most MaxGap; the last one of a thread lasts one period. Observations of one thread at
// the same instant share its gap. The nominal period is no measure there, as real intervals are between 1 and 90 ms. Every
// other profile whose period is in nanoseconds is weighed by count × period. The sample type becomes that of the period
// (wall/nanoseconds). Where the period is missing or in another unit (bytes, events), nanoseconds mean nothing: such
// profiles, and those whose values are no counts, keep their sample type and are summed.
//
// It drops the timestamps: nothing can be linked to spans, or split by time, afterwards.
type Aggregate struct {
	Unit string `mapstructure:"unit"`
	// MaxGap bounds how long one observation lasts. 0 is three times the median gap of the thread: chunks have holes, where
	// an SDK lost samples (browsers send 3000 in a minute at most) or the profiler was off.
	MaxGap time.Duration `mapstructure:"max_gap"`
}

func (s *Aggregate) Validate() error {
	switch {
	case s.Unit != UnitCount && s.Unit != UnitNanoseconds:
		return fmt.Errorf("aggregate: unit: %q is neither count nor nanoseconds", s.Unit)
	case s.MaxGap != 0 && s.MaxGap < time.Microsecond: // 50 is read as 50ns
		return fmt.Errorf("aggregate: max_gap: is %s, must be at least %s, with its unit, e.g. 50ms; leave it out for three times the thread's median gap",
			s.MaxGap, time.Microsecond)
	case s.MaxGap > 0 && s.Unit == UnitCount:
		return errors.New("aggregate: max_gap: has no meaning in counts; remove it, or set unit: nanoseconds")
	}
	return nil
}

func (s *Aggregate) apply(m *message) {
	ids := m.textsOf(semconv.ThreadID)
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		if s.Unit == UnitNanoseconds && m.countsNanoseconds(profile) {
			s.toNanoseconds(m, ids, profile)
		} else {
			toSums(profile)
		}
	})
}

// countsNanoseconds: a profile's values are counts of samples, one every so many nanoseconds.
func (m *message) countsNanoseconds(profile pprofile.Profile) bool {
	_, unit, _ := m.view.ValueType(profile.SampleType())
	_, periodUnit, _ := m.view.ValueType(profile.PeriodType())
	return unit == "count" && periodUnit == "nanoseconds" && profile.Period() > 0
}

// toSums makes one value of what a sample has: the sum of its values, or the number of its timestamps.
func toSums(profile pprofile.Profile) {
	for _, sample := range profile.Samples().All() {
		setValue(sample, sum(sample))
	}
}

func sum(s pprofile.Sample) (total int64) {
	if s.Values().Len() == 0 {
		return int64(s.TimestampsUnixNano().Len())
	}
	for _, v := range s.Values().All() {
		total = dictionary.AddSaturated(total, v)
	}
	return total
}

func setValue(s pprofile.Sample, value int64) {
	s.TimestampsUnixNano().FromRaw(nil)
	s.Values().FromRaw([]int64{value})
}

func (s *Aggregate) toNanoseconds(m *message, ids texts, profile pprofile.Profile) {
	period := profile.Period()
	typ, _, _ := m.view.ValueType(profile.PeriodType())
	var durations []int64
	if typ == "wall" {
		durations = s.durations(ids, profile.Samples(), period)
	}
	for i, sample := range profile.Samples().All() {
		if durations != nil && sample.Values().Len() == 0 {
			setValue(sample, durations[i])
		} else {
			setValue(sample, multiply(sum(sample), period))
		}
	}
	dictionary.SetValueType(profile.SampleType(), m.edit.String(typ), m.edit.String(UnitNanoseconds))
}

// seen is an observation: when, and of which sample.
type seen struct {
	time   uint64
	sample int32
}

// durations are what the timestamps of each sample last in total, in nanoseconds.
func (s *Aggregate) durations(ids texts, samples pprofile.SampleSlice, period int64) []int64 {
	threads := map[*string][]seen{}
	for i, sample := range samples.All() {
		thread := ids.of(sample.AttributeIndices())
		all := threads[thread]
		for _, t := range sample.TimestampsUnixNano().All() {
			all = append(all, seen{t, int32(i)})
		}
		threads[thread] = all
	}
	durations := make([]int64, samples.Len())
	for _, all := range threads {
		slices.SortFunc(all, func(a, b seen) int {
			return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.sample, b.sample))
		})
		at := func(o *seen) uint64 { return o.time }
		timeline.WeighByGaps(all, at, uint64(period), uint64(s.MaxGap), func(o *seen, nanoseconds int64) {
			durations[o.sample] = dictionary.AddSaturated(durations[o.sample], nanoseconds)
		})
	}
	return durations
}

// multiply saturates; a count is negative only where somebody sends differences of profiles.
func multiply(count, period int64) int64 {
	if count < 0 {
		return -multiply(-max(count, -math.MaxInt64), period)
	}
	hi, lo := bits.Mul64(uint64(count), uint64(period))
	if hi != 0 {
		return math.MaxInt64
	}
	return int64(min(lo, math.MaxInt64))
}
