// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/chunking"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// sampleReader turns the samples of a profile, in all their shapes, into observations in the order of time.
//
//	timestamps             one observation each
//	timestamps and values  as many observations as the value stands for, from the timestamp on, one period apart
//	one value              as many as it stands for; those of a thread share the profile's duration, one sample after another
type sampleReader struct {
	view dictionary.View
	keys keyTable

	share int // of each profile of the message, in observations that values become

	observations []chunking.Observation
	threads      []profile.Thread

	threadOf map[string]int32
	counted  []countedSample
	scratch  []chunking.Observation // of sorting
}

// open takes a message.
func (r *sampleReader) open(view dictionary.View, keys keyTable) { r.view, r.keys = view, keys }

// close forgets it, but for memory.
func (r *sampleReader) close() {
	r.view, r.keys = dictionary.View{}, keyTable{kinds: r.keys.kinds}
	r.threads, r.threadOf = nil, nil
}

// countedSample is a value that is to become observations.
type countedSample struct {
	stack, thread int32
	count         float64
	at            uint64 // unix nanoseconds of the first; 0 = somewhere in the profile's duration
}

// read gives the weight of the observations, which is that of the profile unless there would be too many.
func (r *sampleReader) read(profile pprofile.Profile, w weight, frames *frameReader, e *Export) weight {
	r.observations, r.counted = r.observations[:0], r.counted[:0]
	r.threads, r.threadOf = nil, map[string]int32{}
	for _, sample := range profile.Samples().All() {
		if reason := r.sample(sample, w, frames); reason != "" {
			e.lose(reason, max(1, sample.TimestampsUnixNano().Len()))
		}
	}
	w = r.spread(profile, w, e)
	r.dropLate(e)
	r.scratch = chunking.SortByTime(r.observations, r.scratch)
	return w
}

// dropLate removes the observations that are beyond all time, which no clock has shown.
func (r *sampleReader) dropLate(e *Export) {
	kept := r.observations[:0]
	for _, o := range r.observations {
		if o.Time < jsonscan.MaxUnixNano {
			kept = append(kept, o)
		}
	}
	e.lose(discard.ReasonTimeOutOfRange, len(r.observations)-len(kept))
	r.observations = kept
}

// sample reads one sample; it says why it cannot be used.
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

// noThread is the id of the thread of samples that name none.
const noThread = "0"

// threadOr is the id of a thread, for samples and spans alike: Sentry takes any text, so that a name will do where there is no
// number.
func threadOr(id, name string) string { return attr.FirstText(id, name, noThread) }

// Thread gives the index of the thread that a sample names. What it is called is what the first of its samples says.
func (r *sampleReader) thread(attributes pcommon.Int32Slice) int32 {
	id, name, named, priority := "", "", false, (*int64)(nil)
	for i := range attributes.Len() {
		index := attributes.At(i)
		switch r.keys.kind(index) {
		case attributeThreadID:
			id, named = attr.Clip(r.keys.text(index), attr.MaxIDBytes), true
		case attributeThreadName:
			name = attr.Clip(r.keys.text(index), attr.MaxNameBytes)
		case attributeThreadPriority:
			if value := r.keys.value(index); value.Type() == pcommon.ValueTypeInt {
				number := value.Int()
				priority = &number
			}
		}
	}
	if !named {
		id = attr.Clip(threadOr("", name), attr.MaxIDBytes)
	}
	id = strings.ToValidUTF8(id, "\uFFFD") // as it will be written: no two threads of one name
	thread, known := r.threadOf[id]
	if !known {
		thread = int32(len(r.threads))
		r.threads = append(r.threads, profile.Thread{ID: id})
		r.threadOf[id] = thread
	}
	t := &r.threads[thread]
	if t.Name == "" {
		t.Name = name
	}
	if t.Priority == nil {
		t.Priority = priority
	}
	return thread
}
