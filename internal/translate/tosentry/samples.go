// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/sampletype"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// sampleReader converts the samples of a profile, in all their shapes, to observations sorted by
// time.
//
//	timestamps             one observation each
//	timestamps and values  observations by value, from the timestamp on, one period apart
//	one value              observations by value; those of a thread share the profile's duration
type sampleReader struct {
	view dictionary.View
	keys keyTable

	share int // observations that values may become, per profile of the message

	observations []chunking.Observation
	threads      []sentryprofile.Thread

	threadOf map[string]int32 // by ID
	threadAt memo[int32]      // by attribute with the ID or, without an ID, the name
	counted  []countedSample
	sorter   chunking.TimeSorter
}

// open prepares the reader for a message.
func (r *sampleReader) open(view dictionary.View, keys keyTable) {
	r.view, r.keys = view, keys
	r.threadAt.open(len(keys.keys))
}

// close drops references to the message and keeps the memory.
func (r *sampleReader) close() {
	clear(r.keys.keys)
	r.view, r.keys = dictionary.View{}, keyTable{keys: r.keys.keys}
	r.threads, r.threadOf = nil, nil
}

// countedSample is a value that becomes observations.
type countedSample struct {
	stack, thread int32
	count         float64
	at            uint64 // Unix nanoseconds of the first observation; 0 = unknown
}

// read reads the samples of a group, whose clock is behind by driftMilli. It returns the weight of
// the observations, which is larger than that of the profiles if there are too many samples.
func (r *sampleReader) read(profiles []pprofile.Profile, w weight, driftMilli int64, frames *frameReader, e *Export) weight {
	r.observations = r.observations[:0]
	r.threads, r.threadOf = nil, map[string]int32{}
	r.threadAt.clear()
	largest := w
	for _, profile := range profiles {
		r.counted = r.counted[:0]
		for _, sample := range profile.Samples().All() {
			if reason := r.sample(sample, w, frames); reason != "" {
				e.Lose(reason, max(1, sample.TimestampsUnixNano().Len()))
			}
		}
		largest.period = max(largest.period, r.spread(profile, w, e).period)
	}
	if driftMilli != 0 {
		for i := range r.observations {
			r.observations[i].Time = attr.Shifted(r.observations[i].Time, driftMilli)
		}
	}
	r.dropLate(e)
	r.sorter.Sort(r.observations)
	return largest
}

// dropLate drops observations after the last representable time.
func (r *sampleReader) dropLate(e *Export) {
	all := len(r.observations)
	r.observations = slices.DeleteFunc(r.observations, func(o chunking.Observation) bool { return o.Time >= jsonscan.MaxUnixNano })
	e.Lose(discard.ReasonTimeOutOfRange, all-len(r.observations))
}

// sample reads one sample. It returns a reason if the sample is unusable.
func (r *sampleReader) sample(sample pprofile.Sample, w weight, frames *frameReader) discard.Reason {
	values, times := sample.Values(), sample.TimestampsUnixNano()
	timed := times.Len() > 0
	if values.Len() == 0 && !timed || values.Len() > 0 && timed && values.Len() != times.Len() || values.Len() > 1 && !timed {
		return discard.ReasonMalformedSamples
	}
	for _, value := range values.All() {
		if value < 0 {
			return discard.ReasonMalformedSamples
		}
	}
	stack, reason := frames.stack(dictionary.StackIndex(sample.StackIndex()))
	if reason != "" {
		return reason
	}
	thread := r.thread(sample.AttributeIndices())
	switch {
	case values.Len() == 0:
		for i := range times.Len() {
			r.observations = append(r.observations, chunking.Observation{Time: times.At(i), Stack: stack, Thread: thread})
		}
	case !timed:
		r.counted = append(r.counted, countedSample{stack: stack, thread: thread, count: w.observations(values.At(0))})
	default:
		for i := range times.Len() {
			if n := w.observations(values.At(i)); n == 1 {
				r.observations = append(r.observations, chunking.Observation{Time: times.At(i), Stack: stack, Thread: thread})
			} else if n > 1 {
				r.counted = append(r.counted, countedSample{stack: stack, thread: thread, count: n, at: max(1, times.At(i))})
			}
		}
	}
	return ""
}

// noThread is the thread ID of samples without a thread.
const noThread = "0"

// threadOr returns the ID of a thread, for samples and spans: Sentry accepts any text, so a name
// can replace the ID.
func threadOr(id, name string) string { return attr.FirstText(id, name, noThread) }

// thread returns the index of the sample's thread. The first sample with a name or a priority
// determines these fields.
func (r *sampleReader) thread(attributes pcommon.Int32Slice) int32 {
	var id, name, priority int32 // indices of the attribute table; 0 = none
	for i := range attributes.Len() {
		index := attributes.At(i)
		switch r.keys.key(index) {
		case semconv.ThreadID:
			id = index
		case semconv.ThreadName:
			name = index
		case semconv.SentryThreadPriority:
			priority = index
		}
	}
	stated := int(cmp.Or(id, name))
	thread, known := r.threadAt.get(stated)
	if !known {
		thread = r.threadWith(id, name)
		r.threadAt.set(stated, thread)
	}
	t := &r.threads[thread]
	if t.Name == "" && name != 0 {
		t.Name = attr.Clip(r.keys.text(name), attr.MaxNameBytes)
	}
	if t.Priority == nil && priority != 0 && r.keys.value(priority).Type() == pcommon.ValueTypeInt {
		number := r.keys.value(priority).Int()
		t.Priority = &number
	}
	return thread
}

// threadWith returns the index of the thread with an ID or, if it has none, a name.
func (r *sampleReader) threadWith(idIndex, nameIndex int32) int32 {
	id := noThread
	switch {
	case idIndex != 0:
		id = r.keys.text(idIndex)
	case nameIndex != 0:
		id = threadOr("", attr.Clip(r.keys.text(nameIndex), attr.MaxNameBytes))
	}
	id = strings.ToValidUTF8(attr.Clip(id, attr.MaxIDBytes), "\uFFFD") // as written, so that each thread has one ID
	thread, known := r.threadOf[id]
	if !known {
		thread = int32(len(r.threads))
		r.threads = append(r.threads, sentryprofile.Thread{ID: id})
		r.threadOf[id] = thread
	}
	return thread
}

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
