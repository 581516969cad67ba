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

// weight is the time that the values of a profile represent. Sentry's format has no values: a
// sample lasts until the next one of its thread. It can therefore represent only time, on the CPU
// or of the wall clock.
type weight struct {
	period  uint64  // nanoseconds per observation
	perUnit float64 // observations per value of 1
	onCPU   bool    // a thread without observations is not running; otherwise it remains where it was last seen
}

// timeUnits are nanoseconds per unit, by the names of pprof and UCUM.
var timeUnits = map[string]float64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1, "microseconds": 1e3, "us": 1e3, "milliseconds": 1e6, "ms": 1e6,
	"seconds": 1e9, "s": 1e9,
}

// timeTypes are the sample types and period types that measure time; true = time on the CPU. itimer
// and ctimer are async-profiler's. Excluded are off_cpu, with the length of waits of some threads
// beside a CPU profile; delay and contentions (locks); and everything about memory.
var timeTypes = map[string]bool{"cpu": true, "itimer": true, "ctimer": true, "wall": false}

// countTypes are sample types that count observations; the period type states of what.
var countTypes = map[string]bool{"samples": true, "sample": true}

// maxPeriod bounds the period of a profile: a sampler with less than one sample per minute measures
// no time.
const maxPeriod = sentry.MaxOutgoingChunkSeconds * attr.NanosPerSecond

// weightOf returns the weight of a profile, or the reason if it does not measure time.
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
