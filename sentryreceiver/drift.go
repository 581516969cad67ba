// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// minClockDrift is Relay's (relay-server, MINIMUM_CLOCK_DRIFT): a smaller difference may be
// transport time, and a difference of an hour is usually a wrong time zone.
const minClockDrift = 55 * time.Minute

// drift is the error of the client's clock, by the envelope.
type drift struct {
	milli   int64 // receipt minus time of sending; 0 = below minClockDrift, or the time of sending is unknown
	correct bool  // shift the times by it
}

func driftOf(envelope *sentry.Envelope, received time.Time, correct bool) (d drift) {
	sent := envelope.Header.SentAt
	if sent.IsZero() {
		return d // python's chunks and sessions, JavaScript's logs and metrics
	}
	if off := received.Sub(sent); off >= minClockDrift || off <= -minClockDrift {
		d.milli = off.Milliseconds()
		d.correct = correct && isSelfContained(envelope)
	}
	return d
}

var profilerID = []byte("profiler_id")

// isSelfContained reports whether related data is in this envelope only. The drift of each envelope
// includes its transport time, so the chunks of a profiler session and their spans, or the spans of
// a streamed trace, would be shifted by different amounts, and samples would match other spans;
// python's chunks have no time of sending at all.
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
