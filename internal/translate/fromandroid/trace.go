// SPDX-License-Identifier: Apache-2.0

package fromandroid

import (
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/arttrace"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/perfetto"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// Trace is a decoded trace.
type Trace struct {
	Start    uint64        // Unix nanoseconds at time 0 of the trace; 0 if the trace does not contain it
	First    time.Duration // time of the first observation, relative to Start
	Duration time.Duration // from First to one period after the last observation
	OnCPU    bool          // times are the CPU times of each thread

	Spent    int            // number of spare observations that were used
	Samples  []discard.Loss // unusable samples
	Elements []discard.Loss // other unusable parts of the trace

	period    time.Duration
	truncated bool
	threads   []thread
	source    source
}

// thread is a thread of the trace, with or without observations.
type thread struct {
	id   uint32
	name string
}

// text returns the ID as text, as in profiles and spans.
func (t thread) text() string { return strconv.FormatUint(uint64(t.id), 10) }

// source is the format of a trace.
type source interface {
	// fill adds the samples of the trace. start is the Unix time, in nanoseconds, at time 0 of the
	// trace.
	fill(samples pprofile.SampleSlice, b *dictionary.Builder, threads *threadAttributes, start uint64)
}

// threadAttributes has the attributes of the samples of each thread. They are created on demand,
// because many threads have no samples.
type threadAttributes struct {
	b       *dictionary.Builder
	threads []thread
	known   [][]dictionary.AttributeIndex
}

func (t *threadAttributes) of(thread int32) []dictionary.AttributeIndex {
	if t.known[thread] == nil {
		t.known[thread] = append(t.known[thread], t.b.AttrInt(semconv.ThreadID, int64(t.threads[thread].id)))
		if name := t.threads[thread].name; name != "" {
			t.known[thread] = append(t.known[thread], t.b.AttrString(semconv.ThreadName, name))
		}
	}
	return t.known[thread]
}

// mainThread is the name of the thread on which Android runs an app's user interface.
const mainThread = "main"

// MainThread returns the ID of the main thread, or "" if the trace has none.
func (t *Trace) MainThread() string {
	for _, thread := range t.threads {
		if thread.name == mainThread {
			return thread.text()
		}
	}
	return ""
}

// ActiveThread returns the attribute for the main thread, or nothing if the trace has no main
// thread.
func (t *Trace) ActiveThread(b *dictionary.Builder) []dictionary.AttributeIndex {
	for _, thread := range t.threads {
		if thread.name == mainThread {
			return []dictionary.AttributeIndex{b.AttrInt(semconv.SentryActiveThreadID, int64(thread.id))}
		}
	}
	return nil
}

// ThreadIDs returns the IDs of all threads.
func (t *Trace) ThreadIDs() map[string]bool {
	ids := make(map[string]bool, len(t.threads))
	for _, thread := range t.threads {
		ids[thread.text()] = true
	}
	return ids
}

// HasThread reports whether the trace has a thread with this ID.
func (t *Trace) HasThread(id string) bool {
	for _, thread := range t.threads {
		if thread.text() == id {
			return true
		}
	}
	return false
}

// AddTo sets times, period and samples of a profile, and returns its attributes. The caller sets
// the period type.
func (t *Trace) AddTo(profile pprofile.Profile, b *dictionary.Builder, start uint64) (attributes []dictionary.AttributeIndex) {
	profile.SetTime(pcommon.Timestamp(start + uint64(t.First)))
	profile.SetDurationNano(uint64(t.Duration))
	profile.SetPeriod(int64(t.period))

	threads := threadAttributes{b, t.threads, make([][]dictionary.AttributeIndex, len(t.threads))}
	t.source.fill(profile.Samples(), b, &threads, start)
	if t.truncated {
		attributes = append(attributes, b.AttrBool(semconv.AndroidTraceTruncated, true))
	}
	return attributes
}

// PeriodType returns the period type of the profile. wall is the type of profiles of wall-clock
// time.
func (t *Trace) PeriodType(wall string) string {
	if t.OnCPU {
		return "cpu"
	}
	return wall
}

// discardOf returns the error for an unusable trace, with the reason that Sentry's ingest uses.
func discardOf(err error) *discard.Error {
	reason := discard.ReasonInvalidSampledProfile
	switch {
	case errors.Is(err, arttrace.ErrTooLarge), errors.Is(err, perfetto.ErrTooLarge):
		reason = discard.ReasonExceedSizeLimit
	case errors.Is(err, arttrace.ErrEmpty), errors.Is(err, perfetto.ErrEmpty):
		reason = discard.ReasonNotEnoughSamples
	}
	return &discard.Error{Reason: reason, Detail: err.Error()}
}

func addLoss(lost []discard.Loss, reason discard.Reason, count int) []discard.Loss {
	if count == 0 {
		return lost
	}
	return discard.AddLoss(lost, reason, count)
}

// Weight estimates the memory for translating a trace of this size and delivering its profile.
// Recorded traces use a third of it.
func Weight(size int64) int64 { return spareBytes + growth*size }

const (
	spareBytes = 16 * attr.SpareObservations // for each, a run, or a timestamp and its copy
	growth     = 16
)
