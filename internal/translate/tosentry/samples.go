// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"cmp"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
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
	threads      []profile.Thread

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

// read reads the samples of a group. It returns the weight of the observations, which is larger
// than that of the profiles if there are too many samples.
func (r *sampleReader) read(profiles []pprofile.Profile, w weight, frames *frameReader, e *Export) weight {
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
		r.threads = append(r.threads, profile.Thread{ID: id})
		r.threadOf[id] = thread
	}
	return thread
}
