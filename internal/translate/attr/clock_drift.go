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

// UncorrectedDrift returns by how many milliseconds the times of a span or a record are behind, 0
// if they are right or the receiver has corrected them.
func UncorrectedDrift(attrs pcommon.Map) int64 {
	drift, ok := attrs.Get(semconv.SentryClockDriftMS)
	if !ok || drift.Type() != pcommon.ValueTypeInt || drift.Int() > maxClockDrift || drift.Int() < -maxClockDrift {
		return 0
	}
	if corrected, ok := attrs.Get(semconv.SentryClockDriftCorrected); ok && corrected.Type() == pcommon.ValueTypeBool && corrected.Bool() {
		return 0
	}
	return drift.Int()
}

// IsClockDrift reports whether an attribute describes the client's clock. Sentry stores corrected
// times, of which it is no property.
func IsClockDrift(key string) bool {
	return key == semconv.SentryClockDriftMS || key == semconv.SentryClockDriftCorrected
}
