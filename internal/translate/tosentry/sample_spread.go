// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// maxRepeats bounds the observations that the values of one profile become. A thread that is
// sampled at 101 Hz for one minute has 6060. For larger values, each observation represents more
// time, which preserves the proportions. Each value becomes at least one observation.
const maxRepeats = 10_000

// In a message with many profiles, each gets an equal share of half of ExportOverhead (the other
// half is for frames), or as many observations as its own samples allow: a sample has about ten
// bytes.
const (
	bytesOfRepeat    = 2 * 70
	repeatsPerSample = 20
)

// spread converts counts to observations. Samples without a time share the profile's duration, per
// thread and one after another, in proportion to their counts. Sentry requires times, and no other
// order is known.
func (r *sampleReader) spread(profile pprofile.Profile, w weight, e *Export) weight {
	total, untimed := 0.0, 0
	clock := threadClock{start: uint64(profile.Time()), duration: float64(profile.DurationNano()), period: float64(w.period)}
	clock.counts, clock.done = make([]float64, len(r.threads)), make([]float64, len(r.threads))
	for _, c := range r.counted {
		total += c.count
		if c.at == 0 && c.count > 0 {
			clock.counts[c.thread] += c.count
			untimed++
		}
	}
	if untimed > 0 && clock.start == 0 {
		e.lose(ReasonNoProfileTime, untimed)
	} else {
		e.flaw("sample_time", untimed) // the exporter derives their times
	}
	most := min(maxRepeats, max(r.share, repeatsPerSample*len(r.counted)))
	repeats := min(1, float64(most)/max(total, 1)) // of an observation
	for _, c := range r.counted {
		if c.count == 0 || c.at == 0 && clock.start == 0 {
			continue
		}
		times := max(1, int(c.count*repeats))
		begin, length := clock.next(c)
		for i := range times {
			offset := uint64(min(float64(i)/float64(times)*length, jsonscan.MaxUnixNano))
			r.observations = append(r.observations, chunking.Observation{Time: begin + offset, Stack: c.stack, Thread: c.thread})
		}
	}
	w.period = uint64(min(float64(w.period)/repeats, maxPeriod))
	return w
}

// threadClock lays the samples of each thread end to end over the duration of the profile.
type threadClock struct {
	start            uint64
	duration, period float64 // nanoseconds; without a duration, each observation lasts one period
	counts, done     []float64
}

// next returns the time of a sample's first observation and the duration of the sample. A sample
// with its own time lasts no longer than a chunk.
func (t *threadClock) next(c countedSample) (begin uint64, length float64) {
	if c.at != 0 {
		return min(c.at, jsonscan.MaxUnixNano), min(c.count*t.period, maxPeriod)
	}
	step := t.period
	if t.duration > 0 {
		step = t.duration / t.counts[c.thread]
	}
	begin = min(t.start, jsonscan.MaxUnixNano) + uint64(min(t.done[c.thread]*step, jsonscan.MaxUnixNano))
	t.done[c.thread] += c.count
	return begin, c.count * step
}
