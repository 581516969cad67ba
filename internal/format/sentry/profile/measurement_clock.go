// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"math"
	"slices"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// MeasurementClock converts the times of a chunk's measurements. They are Unix seconds, except
// those from Node: all recorded versions add the seconds since the profiler's start to the start in
// milliseconds. 1795223440515.0154, …515.1213, …545.2856 are 15 ms, 121 ms and 30.3 s after
// …440.515.
type MeasurementClock struct {
	base float64 // profiler's start in Unix milliseconds if times count from it; else 0
}

const (
	// nodeMillis is the lower bound of times in milliseconds: the year 5138 in seconds, 1973 in
	// milliseconds.
	nodeMillis = 1e11

	// maxFirstSeconds bounds the delay of the first point. It usually arrives within a tenth of a
	// second, or when a blocked process continues; one process was blocked for 243 s.
	maxFirstSeconds = 300

	nanosPerMilli = jsonscan.NanosPerSecond / 1000
)

// NewMeasurementClock determines the profiler's start: the whole milliseconds of the first time,
// minus the whole seconds since the start. These are 0 unless the process was blocked, which the
// first sample shows, because it is taken at the start or a few milliseconds later. (Example from a
// recording: first time …314.8762, first sample at ….312, so 2.8762 s after the start.)
func NewMeasurementClock(c *Chunk) (clock MeasurementClock) {
	first := math.Inf(1)
	for i := range c.Measurements {
		for _, v := range c.Measurements[i].Values {
			if v.Timestamp >= nodeMillis {
				first = min(first, v.Timestamp)
			}
		}
	}
	if math.IsInf(first, 1) {
		return clock
	}
	clock.base = math.Floor(first)
	if c.Samples.Len() > 0 {
		sample := math.Round(float64(slices.Min(c.Samples.Time)) / nanosPerMilli)
		if late := clock.base - sample; late > 0 && late <= maxFirstSeconds {
			clock.base = sample
		}
	}
	return clock
}

// UnixNano converts a time. It reports false for times before 1970 and beyond
// jsonscan.MaxUnixSeconds.
func (c MeasurementClock) UnixNano(t float64) (nanos uint64, ok bool) {
	base := uint64(0)
	if t >= nodeMillis && c.base > 0 && c.base < jsonscan.MaxUnixSeconds*1000 {
		base, t = uint64(c.base)*nanosPerMilli, t-c.base
	}
	if !(t >= 0 && t < jsonscan.MaxUnixSeconds) { // also false for NaN
		return 0, false
	}
	whole, fraction := math.Modf(t)
	return base + uint64(whole)*jsonscan.NanosPerSecond + uint64(math.Round(fraction*jsonscan.NanosPerSecond)), true
}
