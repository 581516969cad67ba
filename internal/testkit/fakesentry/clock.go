// SPDX-License-Identifier: Apache-2.0

package fakesentry

import (
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// minClockDrift is ingest's limit (relay-server/src/services/processor.rs, MINIMUM_CLOCK_DRIFT).
const minClockDrift = 55 * time.Minute

// ClockDrift returns the duration that ingest adds to all times of an item
// (relay-event-normalization/src/clock_drift.rs, at_least). It does so for these item types only:
// the processing of profiles, check-ins and user reports does not use sent_at.
func ClockDrift(header *sentry.EnvelopeHeader, kind sentry.ItemType, received time.Time) time.Duration {
	switch kind {
	case sentry.ItemEvent, sentry.ItemFeedback, sentry.ItemTransaction, sentry.ItemSpan, sentry.ItemLog,
		sentry.ItemTraceMetric, sentry.ItemSession, sentry.ItemSessions, sentry.ItemClientReport:
	default:
		return 0
	}
	drift := received.Sub(header.SentAt)
	if header.SentAt.IsZero() || drift.Abs().Truncate(time.Second) < minClockDrift {
		return 0
	}
	if isContainer := kind == sentry.ItemSpan || kind == sentry.ItemLog || kind == sentry.ItemTraceMetric; isContainer && drift < 0 {
		return 0 // times in the future become the time of receipt instead (relay-event-normalization/src/eap/time.rs)
	}
	return drift
}
