// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	sentryprofile "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// weight says how much time the values of a profile stand for. Sentry's format has no values: a sample lasts until the next one
// of its thread. So only time can be said in it, on the CPU or by the wall clock.
type weight struct {
	period  uint64  // nanoseconds that one observation stands for
	perUnit float64 // observations that a value of 1 stands for
	onCPU   bool    // a thread that is not observed is not running; else it is where it was last seen
}

// timeUnits in nanoseconds, by the words of pprof and by those of UCUM.
var timeUnits = map[string]float64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6,
	"seconds": 1e9, "s": 1e9,
}

// timeTypes are the sample types and period types that say how time was spent; true where it is time on the CPU. itimer and
// ctimer are async-profiler's. Not among them: off_cpu, whose values are the lengths of waits of a part of the threads, beside
// a profile of the time on the CPU; delay and contentions (locks), and all of memory.
var timeTypes = map[string]bool{"cpu": true, "itimer": true, "ctimer": true, "wall": false}

// countTypes are sample types that count observations; the period type says of what.
var countTypes = map[string]bool{"samples": true, "sample": true}

// maxPeriod keeps what a profile says of its period within reason: a sampler that looks once in a minute has nothing to say of
// time.
const maxPeriod = sentry.MaxOutgoingChunkSeconds * attr.NanosPerSecond

// weightOf reads the types of a profile; a reason, if what it measures is not time.
func weightOf(view dictionary.View, profile pprofile.Profile) (w weight, _ discard.Reason) {
	kind, unit, ok1 := view.ValueType(profile.SampleType())
	periodKind, periodUnit, ok2 := view.ValueType(profile.PeriodType())
	if !ok1 || !ok2 {
		return w, discard.ReasonMalformedSamples
	}
	w.period = sentryprofile.NominalPeriod
	onCPU, timed := timeTypes[periodKind]
	if nanos := float64(profile.Period()) * timeUnits[periodUnit]; timed && nanos >= 1 {
		w.period = uint64(min(nanos, maxPeriod))
	}
	switch {
	case countTypes[kind] && unit == "count" && (timed || periodKind == ""):
		w.perUnit, w.onCPU = 1, onCPU
		return w, ""
	case timeUnits[unit] > 0:
		if onCPU, timed = timeTypes[kind]; timed {
			w.perUnit, w.onCPU = timeUnits[unit]/float64(w.period), onCPU
			return w, ""
		}
	}
	return w, ReasonNotTime
}

// observations is how many observations a value stands for: one at least, for what is there was observed.
func (w weight) observations(value int64) float64 {
	if value <= 0 {
		return 0
	}
	return max(1, math.Round(float64(value)*w.perUnit))
}

// countObservations is what is lost with a profile.
func countObservations(profile pprofile.Profile) (count int) {
	for _, sample := range profile.Samples().All() {
		count += max(1, sample.TimestampsUnixNano().Len())
	}
	return count
}
