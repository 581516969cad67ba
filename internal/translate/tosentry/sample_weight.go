// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"

	"go.opentelemetry.io/collector/pdata/pprofile"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
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
