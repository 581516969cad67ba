// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/binary"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// run identifies a profile and its restatement, apart from their observations.
type run struct {
	start, duration, period uint64
	kind, unit              string // of the period
}

// restatements marks the profiles of a scope that repeat the observations of another one, as in
// Go's CPU profiles: samples/count and cpu/nanoseconds, both with the period type cpu. Equal times
// and periods are not sufficient: profiles of other processes or of the wall clock may have the
// same.
func restatements(view dictionary.View, profiles pprofile.ProfilesSlice) []bool {
	marked := make([]bool, profiles.Len())
	counts, times := map[run][]int{}, map[run][]int{}
	for i, profile := range profiles.All() {
		if profile.Time() == 0 {
			continue
		}
		t, _ := sampletype.Of(view, profile)
		r := run{
			start: uint64(profile.Time()), duration: profile.DurationNano(), period: uint64(profile.Period()),
			kind: t.PeriodName, unit: t.PeriodUnit,
		}
		switch {
		case t.Counts:
			counts[r] = append(counts[r], i)
		case t.Clock != sampletype.None && t.Name == t.PeriodName:
			times[r] = append(times[r], i)
		}
	}
	for r, restated := range times {
		if len(counts[r]) == 0 {
			continue
		}
		left := map[string]int{} // counts without a restatement so far
		for _, i := range counts[r] {
			left[observationsOf(view, profiles.At(i))]++
		}
		for _, i := range restated {
			if o := observationsOf(view, profiles.At(i)); left[o] > 0 {
				left[o]--
				marked[i] = true
			}
		}
	}
	return marked
}

// observationsOf returns a key that is equal for profiles with equal attributes and observations,
// in any unit.
func observationsOf(view dictionary.View, profile pprofile.Profile) string {
	w, _ := weightOf(view, profile)
	samples := make([]string, 0, profile.Samples().Len())
	for _, s := range profile.Samples().All() {
		key := binary.AppendVarint(nil, int64(s.StackIndex()))
		key = binary.AppendVarint(key, int64(s.LinkIndex()))
		key = appendSet(key, s.AttributeIndices())
		key = binary.AppendUvarint(key, uint64(s.Values().Len()))
		for _, value := range s.Values().All() {
			key = binary.AppendVarint(key, int64(w.observations(value)))
		}
		for _, t := range s.TimestampsUnixNano().All() {
			key = binary.AppendUvarint(key, t)
		}
		samples = append(samples, string(key))
	}
	slices.Sort(samples)
	key := appendSet(nil, profile.AttributeIndices())
	for _, s := range samples {
		key = append(binary.AppendUvarint(key, uint64(len(s))), s...)
	}
	return string(key)
}

func appendSet(to []byte, attributes pcommon.Int32Slice) []byte {
	set := attributes.AsRaw()
	slices.Sort(set)
	to = binary.AppendUvarint(to, uint64(len(set)))
	for _, i := range set {
		to = binary.AppendVarint(to, int64(i))
	}
	return to
}
