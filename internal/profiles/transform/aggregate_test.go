// SPDX-License-Identifier: Apache-2.0

package transform

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/dictionarytest"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/conformance"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// row is a sample: the address of its only frame (0 = idle), its thread, and its observations.
type row struct {
	frame  uint64
	thread int64
	times  []uint64
	values []int64
}

type kind struct {
	sampleType, sampleUnit, periodType, periodUnit string
	period                                         int64
}

var (
	wall = kind{"samples", "count", "wall", "nanoseconds", 10}
	cpu  = kind{"samples", "count", "cpu", "nanoseconds", 10}
)

// profileOf makes a message of one profile.
func profileOf(k kind, rows ...row) pprofile.Profiles {
	p := pprofile.NewProfiles()
	b := dictionary.NewBuilder(p.Dictionary())
	defer b.Release()
	resource := p.ResourceProfiles().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	profile := resource.ScopeProfiles().AppendEmpty().Profiles().AppendEmpty()
	profile.SetTime(1)
	profile.SetDurationNano(math.MaxUint64 - 1)
	profile.SetPeriod(k.period)
	profile.SetProfileID(pprofile.ProfileID{7})
	dictionary.SetValueType(profile.SampleType(), b.String(k.sampleType), b.String(k.sampleUnit))
	dictionary.SetValueType(profile.PeriodType(), b.String(k.periodType), b.String(k.periodUnit))
	for _, row := range rows {
		s := profile.Samples().AppendEmpty()
		if row.frame != 0 {
			s.SetStackIndex(int32(b.Stack([]dictionary.LocationIndex{b.Location(dictionary.Location{Address: row.frame})})))
		}
		dictionary.SetAttributes(s.AttributeIndices(), b.AttrInt(semconv.ThreadID, row.thread))
		s.TimestampsUnixNano().FromRaw(row.times)
		s.Values().FromRaw(row.values)
	}
	b.Finish()
	return p
}

func firstProfile(p pprofile.Profiles) pprofile.Profile {
	return p.ResourceProfiles().At(0).ScopeProfiles().At(0).Profiles().At(0)
}

func TestAggregate(t *testing.T) {
	times := func(t ...uint64) []uint64 { return t }
	values := func(v ...int64) []int64 { return v }
	nanoseconds := Aggregate{Unit: UnitNanoseconds}
	for name, c := range map[string]struct {
		step     Aggregate
		kind     kind
		rows     []row
		want     []int64
		wantType string
	}{
		"counts of timestamps": {Aggregate{Unit: UnitCount}, wall,
			[]row{{1, 1, times(100, 110), nil}, {2, 1, times(120), nil}}, values(2, 1), "samples/count"},
		"counts of values": {Aggregate{Unit: UnitCount}, wall,
			[]row{{1, 1, times(100, 110), values(3, 4)}, {2, 1, times(130), values(1)}}, values(7, 1), "samples/count"},
		"until the next of the thread, the last one a period": {nanoseconds, wall,
			[]row{{1, 1, times(100, 125), nil}, {2, 1, times(112), nil}}, values(12+10, 13), "wall/nanoseconds"},
		"threads do not end each other": {nanoseconds, wall,
			[]row{{1, 1, times(100, 120), nil}, {1, 2, times(101, 111, 126), nil}}, values(20+10, 10+15+10), "wall/nanoseconds"},
		"idle ends work": {nanoseconds, wall,
			[]row{{1, 1, times(100, 140), nil}, {0, 1, times(104, 117, 130), nil}}, values(4+10, 13+13+10), "wall/nanoseconds"},
		"unsorted": {nanoseconds, wall,
			[]row{{1, 1, times(125, 100), nil}, {2, 1, times(112), nil}}, values(12+10, 13), "wall/nanoseconds"},
		"a hole counts three median gaps": {nanoseconds, wall,
			[]row{{1, 1, times(100, 110, 120, 9000, 9010), nil}}, values(10 + 10 + 30 + 10 + 10), "wall/nanoseconds"},
		"max_gap": {Aggregate{Unit: UnitNanoseconds, MaxGap: 1100}, wall,
			[]row{{1, 1, times(10_000, 11_000, 13_000), nil}}, values(1000 + 1100 + 10), "wall/nanoseconds"},
		"one instant is shared": {nanoseconds, wall,
			[]row{{1, 1, times(100), nil}, {2, 1, times(100), nil}, {3, 1, times(111), nil}}, values(6, 5, 10), "wall/nanoseconds"},
		"a single observation": {nanoseconds, wall, []row{{1, 1, times(100), nil}}, values(10), "wall/nanoseconds"},
		"cpu": {nanoseconds, cpu,
			[]row{{1, 1, times(100, 190), nil}, {2, 1, times(130), nil}}, values(20, 10), "cpu/nanoseconds"},
		"sums": {nanoseconds, wall, []row{{1, 1, nil, values(3)}}, values(30), "wall/nanoseconds"},
		"a value per point": {nanoseconds, wall,
			[]row{{1, 1, times(100, 190), values(2, 3)}}, values(50), "wall/nanoseconds"},
		"bytes": {nanoseconds, kind{"alloc_space", "bytes", "space", "bytes", 512},
			[]row{{1, 1, nil, values(4096)}}, values(4096), "alloc_space/bytes"},
		"off-CPU time": {nanoseconds, kind{"off_cpu", "nanoseconds", "", "", 0},
			[]row{{1, 1, times(100, 200), values(30, 40)}}, values(70), "off_cpu/nanoseconds"},
		"no period": {nanoseconds, kind{"samples", "count", "wall", "nanoseconds", 0},
			[]row{{1, 1, times(100, 200), nil}}, values(2), "samples/count"},
		"the far ends of time": {Aggregate{Unit: UnitNanoseconds, MaxGap: math.MaxInt64}, wall,
			[]row{{1, 1, times(1, math.MaxUint64-1), nil}, {2, 1, times(math.MaxUint64 / 3), nil}}, values(math.MaxUint64/3+9, math.MaxInt64), "wall/nanoseconds"},
		"more than fits": {nanoseconds, cpu, []row{{1, 1, nil, values(math.MaxInt64)}, {2, 1, nil, values(math.MinInt64)}},
			values(math.MaxInt64, -math.MaxInt64), "cpu/nanoseconds"},
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, c.step.Validate())
			p := profileOf(c.kind, c.rows...)
			parts, lost := Apply(p, []Step{&c.step})
			require.Len(t, parts, 1)
			require.Empty(t, lost)
			require.Empty(t, conformance.Check(p))
			profile := firstProfile(p)
			var got []int64
			for _, s := range profile.Samples().All() {
				require.Zero(t, s.TimestampsUnixNano().Len())
				got = append(got, s.Values().At(0))
			}
			require.Equal(t, c.want, got)
			typ, unit, _ := dictionary.NewView(p.Dictionary()).ValueType(profile.SampleType())
			require.Equal(t, c.wantType, typ+"/"+unit)
			require.Equal(t, c.kind.period, profile.Period())
		})
	}
}

// Without a cap, the time of a thread is from its first observation to its last, and one period;
// whatever the order.
func TestAggregateKeepsTime(t *testing.T) {
	for seed := range seeds() {
		r := rand.New(rand.NewPCG(seed, 3))
		var rows []row
		first, last := map[int64]uint64{}, map[int64]uint64{}
		for frame := range uint64(1 + r.IntN(6)) {
			row := row{frame: frame, thread: int64(r.IntN(3))}
			for range 1 + r.IntN(20) {
				at := 1000 + uint64(r.IntN(500))
				row.times = append(row.times, at)
				if f, seen := first[row.thread]; !seen || at < f {
					first[row.thread] = at
				}
				last[row.thread] = max(last[row.thread], at)
			}
			rows = append(rows, row)
		}
		want := int64(0)
		for thread := range first {
			want += int64(last[thread]-first[thread]) + wall.period
		}
		p := profileOf(wall, rows...)
		Apply(p, []Step{&Aggregate{Unit: UnitNanoseconds, MaxGap: time.Hour}})
		got := int64(0)
		for _, s := range firstProfile(p).Samples().All() {
			got += s.Values().At(0)
		}
		require.Equal(t, want, got, "seed %d", seed)

		slices.Reverse(rows[0].times)
		again := profileOf(wall, rows...)
		Apply(again, []Step{&Aggregate{Unit: UnitNanoseconds, MaxGap: time.Hour}})
		require.Empty(t, dictionarytest.Diff(p, again), "seed %d", seed)
	}
}
