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

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Units of the values that Aggregate writes.
const (
	UnitCount       = sampletype.UnitCount
	UnitNanoseconds = sampletype.UnitNanoseconds
)

// Aggregate replaces timestamps with one value per sample: the number of observations, or their
// duration.
//
// In nanoseconds, wall-clock profiles (period type wall) are weighted by the actual gaps, because
// real intervals vary from 1 to 90 ms. An observation lasts until the next one of its thread,
// including idle ones, but at most MaxGap; the last one of a thread lasts one period. Observations
// of a thread at the same instant share the gap. All other profiles with a period in nanoseconds
// are weighted by count × period. The sample type becomes the period type (wall/nanoseconds).
// Profiles without a period in nanoseconds (bytes, events) and profiles whose values are not counts
// keep their sample type and are summed.
//
// It drops the timestamps, so samples can no longer be linked to spans or split by time.
type Aggregate struct {
	Unit string `mapstructure:"unit"`
	// MaxGap is the maximum duration of one observation. 0 means three times the median gap of the
	// thread: chunks have gaps where an SDK lost samples (browsers send at most 3000 per minute) or
	// the profiler was off.
	MaxGap time.Duration `mapstructure:"max_gap"`

	// KeepCounts lists period types whose profiles are summed as counts even if Unit is
	// nanoseconds, for backends that multiply by the period themselves, as Grafana Pyroscope does
	// for cpu.
	KeepCounts []string `mapstructure:"keep_counts"`
}

func (s *Aggregate) Validate() error {
	switch {
	case s.Unit != UnitCount && s.Unit != UnitNanoseconds:
		return fmt.Errorf("aggregate: unit: is %q, must be count or nanoseconds", s.Unit)
	case s.MaxGap != 0 && s.MaxGap < time.Microsecond: // 50 would mean 50ns
		return fmt.Errorf("aggregate: max_gap: is %s, must be at least %s, with a unit, e.g. 50ms; omit it for three times the thread's median gap",
			s.MaxGap, time.Microsecond)
	case s.MaxGap > 0 && s.Unit == UnitCount:
		return errors.New("aggregate: max_gap: has no effect with unit: count; remove it, or set unit: nanoseconds")
	case len(s.KeepCounts) > 0 && s.Unit == UnitCount:
		return errors.New("aggregate: keep_counts: has no effect with unit: count; remove it, or set unit: nanoseconds")
	}
	return nil
}

func (s *Aggregate) apply(m *message) {
	ids := m.textsOf(semconv.ThreadID)
	m.each(func(_ pcommon.Resource, profile pprofile.Profile) {
		t, _ := sampletype.Of(m.view, profile)
		if s.Unit == UnitNanoseconds && isCountOfTime(t, profile) && !slices.Contains(s.KeepCounts, periodTypeName(t)) {
			s.weighByTime(m, ids, profile, t)
		} else {
			sumSamples(profile)
		}
	})
}

// isCountOfTime reports whether the values of a profile count periods of time.
func isCountOfTime(t sampletype.Type, profile pprofile.Profile) bool {
	if t.Counts && t.Clock != sampletype.None {
		return t.Period >= 1
	}
	return t.Unit == UnitCount && t.PeriodUnit == UnitNanoseconds && profile.Period() > 0
}

// periodTypeName returns the period type of a profile, with a single name for each clock, because
// the engines of async-profiler use their own names.
func periodTypeName(t sampletype.Type) string { return cmp.Or(string(t.Clock), t.PeriodName) }

// sumSamples replaces the observations of each sample with their sum: the sum of its values, or the
// number of its timestamps.
func sumSamples(profile pprofile.Profile) {
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

func (s *Aggregate) weighByTime(m *message, ids attributeTexts, profile pprofile.Profile, t sampletype.Type) {
	period := profile.Period()
	if t.Period >= 1 {
		period = int64(min(t.Period, math.MaxInt64/2))
		profile.SetPeriod(period)
	}
	typ := periodTypeName(t)
	var durations []int64
	if t.Clock == sampletype.Wall {
		durations = s.durations(ids, profile.Samples(), period)
	}
	for i, sample := range profile.Samples().All() {
		if durations != nil && sample.Values().Len() == 0 {
			setValue(sample, durations[i])
		} else {
			setValue(sample, multiply(sum(sample), period))
		}
	}
	name, unit := m.edit.String(typ), m.edit.String(UnitNanoseconds)
	dictionary.SetValueType(profile.SampleType(), name, unit)
	dictionary.SetValueType(profile.PeriodType(), name, unit)
}

// instant is one timestamp of a sample.
type instant struct {
	time   uint64
	sample int32
}

// durations returns the total duration of the observations of each sample, in nanoseconds.
func (s *Aggregate) durations(ids attributeTexts, samples pprofile.SampleSlice, period int64) []int64 {
	threads := map[*string][]instant{}
	for i, sample := range samples.All() {
		thread := ids.of(sample.AttributeIndices())
		all := threads[thread]
		for _, t := range sample.TimestampsUnixNano().All() {
			all = append(all, instant{t, int32(i)})
		}
		threads[thread] = all
	}
	durations := make([]int64, samples.Len())
	for _, all := range threads {
		slices.SortFunc(all, func(a, b instant) int {
			return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.sample, b.sample))
		})
		at := func(o *instant) uint64 { return o.time }
		timeline.WeighByGaps(all, at, uint64(period), uint64(s.MaxGap), func(o *instant, nanoseconds int64) {
			durations[o.sample] = dictionary.AddSaturated(durations[o.sample], nanoseconds)
		})
	}
	return durations
}

// multiply multiplies and saturates. A count is negative only in differences of profiles.
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
