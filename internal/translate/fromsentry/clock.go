// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/profile"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
	"github.com/otelcol-sentry/otelcol-sentry/profiles/dictionary"
)

// This file contains the only conversions of time. Decoding has already converted decimal text to
// whole nanoseconds (package jsonscan).

// Anchor returns the instant from which the samples of a V1 profile count, in Unix nanoseconds: the
// profile's own time, else the start of its transaction. If both are missing, the last sample gets
// the time of receipt.
func Anchor(p *profile.Profile, src Source) uint64 {
	switch {
	case p.Timestamp.Set:
		return src.unixNano(p.Timestamp)
	case src.TransactionStart.Set:
		return src.unixNano(src.TransactionStart)
	case p.Samples.Len() == 0: // an Android profile with measurements only
		return src.ReceivedNano
	}
	_, last := timeRange(p.Samples.Time)
	return src.ReceivedNano - min(last, src.ReceivedNano)
}

// timeRange returns the earliest and the latest time of a non-empty list. Java sends times out of
// order.
func timeRange(times []uint64) (first, last uint64) {
	first, last = times[0], times[0]
	for _, t := range times {
		first, last = min(first, t), max(last, t)
	}
	return first, last
}

// unixNano converts an instant of the client's clock, and corrects it if src.CorrectDrift is set.
// Do not use it for times of receipt.
func (src Source) unixNano(t jsonscan.Timestamp) uint64 {
	if !src.CorrectDrift || src.ClockDriftMilli == 0 {
		return t.UnixNano
	}
	// Decoded instants end in 2242, and a drift is a time.Duration of less than 293 years, so the
	// sum fits.
	drift := src.ClockDriftMilli * attr.NanosPerMilli
	if drift < 0 && uint64(-drift) > t.UnixNano {
		return 0 // before 1970: not representable in OTLP
	}
	return min(t.UnixNano+uint64(drift), attr.MaxUnixSeconds*attr.NanosPerSecond)
}

// putDrift adds the offset of the client's clock, and whether times were corrected by it. These are
// attributes of profiles, spans and log records: on resources, they would create a resource per
// request; on data points, a new series.
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
