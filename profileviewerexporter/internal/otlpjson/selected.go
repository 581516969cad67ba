// SPDX-License-Identifier: Apache-2.0

package otlpjson

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/timeline"
)

// selected has the OTLP samples of a profile with selected observations, by index.
type selected map[int32]bool

// selectedOf returns the selected samples, or nil, and the number of their observations.
func selectedOf(p *timeline.Profile, filter timeline.Filter) (s selected, observations int) {
	for _, sample := range p.Selected(filter) {
		observations++
		if s == nil {
			s = selected{}
		}
		s[sample.Source] = true
	}
	return s, observations
}

// narrow removes the other samples, and the observations outside of a range, from a copy of the
// profile. It reports whether it removed any.
func (s selected) narrow(p pprofile.Profile, within timeline.Range) (removed bool) {
	index, before := int32(-1), p.Samples().Len()
	p.Samples().RemoveIf(func(pprofile.Sample) bool {
		index++
		return !s[index]
	})
	removed = p.Samples().Len() < before
	if within == (timeline.Range{}) {
		return removed
	}
	for _, sample := range p.Samples().All() {
		if keep(sample, within) {
			removed = true
		}
	}
	limit(p, within)
	return removed
}

// keep removes the observations of a sample outside of a range, and reports whether it removed any.
func keep(sample pprofile.Sample, within timeline.Range) (removed bool) {
	times, values := sample.TimestampsUnixNano().AsRaw(), sample.Values().AsRaw()
	n := 0
	for i, t := range times {
		if within.Contains(t) {
			times[n] = t
			if len(values) > 0 {
				values[n] = values[i]
			}
			n++
		}
	}
	if n == len(times) {
		return false
	}
	sample.TimestampsUnixNano().FromRaw(times[:n])
	if len(values) > 0 {
		sample.Values().FromRaw(values[:n])
	}
	return true
}

// limit sets the time of a profile to its part in a range.
func limit(p pprofile.Profile, within timeline.Range) {
	start := uint64(p.Time())
	end := start + p.DurationNano()
	from, to := max(start, within.From), end
	if within.To > 0 {
		to = min(end, within.To)
	}
	p.SetTime(pcommon.Timestamp(from))
	p.SetDurationNano(to - min(from, to))
}
