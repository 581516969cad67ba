// SPDX-License-Identifier: Apache-2.0

package sentryitems

import (
	"bytes"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// minClockDrift is Relay's limit (relay-server, MINIMUM_CLOCK_DRIFT). A smaller difference may be
// transport time; a difference of an hour usually means a wrong time zone.
const minClockDrift = 55 * time.Minute

// drift is the error of the client's clock, according to the envelope.
type drift struct {
	milli   int64 // time of receipt minus sent_at; 0 = below minClockDrift, or sent_at is unknown
	correct bool  // shift times by milli
}

func driftOf(envelope *sentry.Envelope, received time.Time, correct bool) (d drift) {
	sent := envelope.Header.SentAt
	if sent.IsZero() {
		return d // Python's chunks and sessions, JavaScript's logs and metrics have no sent_at
	}
	if off := received.Sub(sent); off >= minClockDrift || off <= -minClockDrift {
		d.milli = off.Milliseconds()
		d.correct = correct && isSelfContained(envelope)
	}
	return d
}

var profilerID = []byte("profiler_id")

// isSelfContained reports whether all related data is in this envelope. The measured drift includes
// transport time, which differs between envelopes: correcting the chunks of a profiler session and
// their spans, or the spans of a streamed trace, would shift them by different amounts, and samples
// would match the wrong spans. Python's chunks have no sent_at at all.
func isSelfContained(envelope *sentry.Envelope) bool {
	for i := range envelope.Items {
		item := &envelope.Items[i]
		if t := item.Header.Type; t == sentry.ItemProfileChunk || t == sentry.ItemProfileChunkUI || t == sentry.ItemSpan ||
			bytes.Contains(item.Payload, profilerID) {
			return false
		}
	}
	return true
}
