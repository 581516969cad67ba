// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// weight is the time that the values of a profile represent. Sentry's format has no values: a
// sample lasts until the next one of its thread. It can therefore represent only CPU time or
// wall-clock time.
type weight struct {
	period  uint64  // nanoseconds per observation
	perUnit float64 // observations per value of 1
	onCPU   bool    // a thread without observations is not running; otherwise, it is assumed to remain in its last stack
}

// maxPeriod bounds the period of a profile: a profiler that takes less than one sample per minute
// does not measure time.
const maxPeriod = sentry.MaxOutgoingChunkSeconds * attr.NanosPerSecond

// weightOf returns the weight of a profile, or the reason if it does not measure time.
func weightOf(view dictionary.View, profile pprofile.Profile) (w weight, _ discard.Reason) {
	t, ok := sampletype.Of(view, profile)
	if !ok {
		return w, discard.ReasonMalformedSamples
	}
	w.onCPU = t.Clock == sampletype.CPU
	w.period = sentryprofile.NominalPeriod
	if t.Period >= 1 {
		w.period = uint64(min(t.Period, maxPeriod))
	}
	switch {
	case t.Counts && (t.Clock != sampletype.None || t.PeriodName == ""):
		w.perUnit = 1
	case !t.Counts && t.Clock != sampletype.None:
		w.perUnit = t.Nanoseconds() / float64(w.period)
	default:
		return w, ReasonNotTime
	}
	return w, ""
}

// observations returns the number of observations for a value, at least one for positive values.
func (w weight) observations(value int64) float64 {
	if value <= 0 {
		return 0
	}
	return max(1, math.Round(float64(value)*w.perUnit))
}

// countObservations returns the number of observations that are lost with a profile.
func countObservations(profile pprofile.Profile) (count int) {
	for _, sample := range profile.Samples().All() {
		count += max(1, sample.TimestampsUnixNano().Len())
	}
	return count
}

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
		e.Lose(ReasonNoProfileTime, untimed)
	} else {
		e.Flaw("sample_time", untimed) // the exporter derives their times
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
