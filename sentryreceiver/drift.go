// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"time"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// minClockDrift is Relay's (relay-server, MINIMUM_CLOCK_DRIFT): what is less may be the way here, and a difference of an hour
// is most often a time zone that somebody forgot.
const minClockDrift = 55 * time.Minute

// drift is what the envelope tells about the client's clock.
type drift struct {
	milli   int64 // receipt minus time of sending; 0 = not worth mentioning, or the envelope does not say when it was sent
	correct bool  // move the times by that
}

func (r *sentryReceiver) driftOf(envelope *sentry.Envelope, received time.Time) (d drift) {
	sent := envelope.Header.SentAt
	if sent.IsZero() {
		return d // python's chunks and sessions, JavaScript's logs and metrics
	}
	if off := received.Sub(sent); off >= minClockDrift || off <= -minClockDrift {
		d.milli = off.Milliseconds()
		d.correct = r.cfg.CorrectClockDrift && standsAlone(envelope)
	}
	return d
}

var profilerID = []byte("profiler_id")

// standsAlone says whether what belongs together is in this one envelope. The drift of each envelope is another by the time
// it took on the way, so that the chunks of a profiler session and their spans, or the spans of a streamed trace, would each
// be moved by a little more or less, and samples land on other spans; python's chunks do not even say when they were sent.
func standsAlone(envelope *sentry.Envelope) bool {
	for i := range envelope.Items {
		item := &envelope.Items[i]
		if t := item.Header.Type; t == sentry.ItemProfileChunk || t == sentry.ItemProfileChunkUI || t == sentry.ItemSpan ||
			bytes.Contains(item.Payload, profilerID) {
			return false
		}
	}
	return true
}
