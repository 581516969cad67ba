// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// maxClockDrift bounds drifts from attributes, which anybody may set: sent_at must have a year of
// four digits.
const maxClockDrift = int64(100 * 365 * 24 * time.Hour / time.Millisecond)

// UncorrectedDrift returns by how many milliseconds the times of a span, a record or a profile are
// behind, 0 if they are right or the receiver has corrected them. get returns its attributes.
func UncorrectedDrift(get func(key string) (pcommon.Value, bool)) int64 {
	drift, ok := get(semconv.SentryClockDriftMS)
	if !ok || drift.Type() != pcommon.ValueTypeInt || drift.Int() > maxClockDrift || drift.Int() < -maxClockDrift {
		return 0
	}
	if corrected, ok := get(semconv.SentryClockDriftCorrected); ok && corrected.Type() == pcommon.ValueTypeBool && corrected.Bool() {
		return 0
	}
	return drift.Int()
}

// Shifted returns an instant in Unix nanoseconds, corrected by a drift in milliseconds; 0 if it is
// before 1970, which OTLP cannot represent, and at most MaxUnixSeconds.
func Shifted(nano uint64, driftMilli int64) uint64 {
	const latest = MaxUnixSeconds * NanosPerSecond
	// A drift is a time.Duration of less than 293 years, so the sum fits.
	drift, nano := driftMilli*NanosPerMilli, min(nano, latest)
	if drift < 0 && uint64(-drift) > nano {
		return 0
	}
	return min(nano+uint64(drift), latest)
}

// IsClockDrift reports whether an attribute describes the client's clock. Sentry stores corrected
// times, of which it is no property.
func IsClockDrift(key string) bool {
	return key == semconv.SentryClockDriftMS || key == semconv.SentryClockDriftCorrected
}
