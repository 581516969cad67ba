// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/profiles/dictionary"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// The only conversions of time. Decoding has already turned decimal text into whole nanoseconds (package jsonscan).

// Anchor is the instant that the samples of a V1 profile count from, in unix nanoseconds: the profile's own, else the start
// of its transaction, else so that the last sample falls on the time of receipt.
func Anchor(p *profile.Profile, src Source) uint64 {
	switch {
	case p.Timestamp.Set:
		return src.unixNano(p.Timestamp)
	case src.TransactionStart.Set:
		return src.unixNano(src.TransactionStart)
	case p.Samples.Len() == 0: // of Android, with measurements only
		return src.ReceivedNano
	}
	_, last := timeRange(p.Samples.Time)
	return src.ReceivedNano - min(last, src.ReceivedNano)
}

// timeRange gives the earliest and the latest of at least one time. Java's are not in order.
func timeRange(times []uint64) (first, last uint64) {
	first, last = times[0], times[0]
	for _, t := range times {
		first, last = min(first, t), max(last, t)
	}
	return first, last
}

// unixNano is an instant of the client's clock, by ours if that is asked for. Times of receipt are not to go through here.
func (src Source) unixNano(t jsonscan.Timestamp) uint64 {
	if !src.CorrectDrift || src.ClockDriftMilli == 0 {
		return t.UnixNano
	}
	// Decoded instants end in 2242 and a drift, being a time.Duration, has less than 293 years: the sum fits.
	drift := src.ClockDriftMilli * attr.NanosPerMilli
	if drift < 0 && uint64(-drift) > t.UnixNano {
		return 0 // before 1970, where OTLP has no times
	}
	return min(t.UnixNano+uint64(drift), attr.MaxUnixSeconds*attr.NanosPerSecond)
}

// putDrift says how far the client's clock was off, and whether the times beside it are corrected by that. It stands on
// profiles, spans and log records. On a resource it would make a new one of every request, and on data points a new series.
func putDrift(attrs pcommon.Map, src Source) {
	if src.ClockDriftMilli != 0 {
		attrs.PutInt(semconv.SentryClockDriftMS, src.ClockDriftMilli)
		if src.CorrectDrift {
			attrs.PutBool(semconv.SentryClockDriftCorrected, true)
		}
	}
}

// clockDrift is putDrift for profiles.
func (l *attributeList) clockDrift(src Source) {
	if src.ClockDriftMilli != 0 {
		l.add(semconv.SentryClockDriftMS, dictionary.IntValue(src.ClockDriftMilli), "")
		if src.CorrectDrift {
			l.add(semconv.SentryClockDriftCorrected, dictionary.BoolValue(true), "")
		}
	}
}
