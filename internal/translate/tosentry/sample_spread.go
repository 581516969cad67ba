// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

// maxRepeats is how many observations the values of one profile become: a thread at 101 Hz for a minute has 6060. Where they
// stand for more, each observation stands for more time, so that the shares stay what they are; a value is one observation at
// least.
const maxRepeats = 10_000

// In a message of many profiles each has its share of ExportOverhead, of which half is for frames, or as many observations as its samples
// take in the bound: they have some ten bytes each.
const (
	bytesOfRepeat    = 2 * 70
	repeatsPerSample = 20
)

func (r *sampleReader) maxRepeats() int {
	return min(maxRepeats, max(r.share, repeatsPerSample*len(r.counted)))
}

// spread makes observations of counts. Those without a time share the profile's duration, thread by thread, one sample after
// another: each lasts for its share of the thread's observations. Sentry wants times, and no other order is known.
func (r *sampleReader) spread(profile pprofile.Profile, w weight, e *Export) weight {
	total := 0.0
	laid := layout{start: uint64(profile.Time()), duration: float64(profile.DurationNano()), period: float64(w.period)}
	laid.counts, laid.done = make([]float64, len(r.threads)), make([]float64, len(r.threads))
	untimed := 0
	for _, c := range r.counted {
		total += c.count
		if c.at == 0 && c.count > 0 {
			laid.counts[c.thread] += c.count
			untimed++
		}
	}
	if untimed > 0 && laid.start == 0 {
		e.lose(ReasonNoProfileTime, untimed)
	}
	repeats := min(1, float64(r.maxRepeats())/max(total, 1)) // of an observation
	for _, c := range r.counted {
		if c.count == 0 || c.at == 0 && laid.start == 0 {
			continue
		}
		times := max(1, int(c.count*repeats))
		begin, length := laid.place(c)
		for i := range times {
			offset := uint64(min(float64(i)/float64(times)*length, jsonscan.MaxUnixNano))
			r.observations = append(r.observations, chunking.Observation{Time: begin + offset, Stack: c.stack, Thread: c.thread})
		}
	}
	w.period = uint64(min(float64(w.period)/repeats, maxPeriod))
	return w
}

// layout lays the samples of each thread end to end over the duration of the profile.
type layout struct {
	start            uint64
	duration, period float64 // nanoseconds; no duration: as long as what is counted
	counts, done     []float64
}

// place gives the time of a sample's first observation, and how long it lasts: at a time of its own no more than a chunk.
func (l *layout) place(c countedSample) (begin uint64, length float64) {
	if c.at != 0 {
		return min(c.at, jsonscan.MaxUnixNano), min(c.count*l.period, maxPeriod)
	}
	step := l.period
	if l.duration > 0 {
		step = l.duration / l.counts[c.thread]
	}
	begin = min(l.start, jsonscan.MaxUnixNano) + uint64(min(l.done[c.thread]*step, jsonscan.MaxUnixNano))
	l.done[c.thread] += c.count
	return begin, c.count * step
}
