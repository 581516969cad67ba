package translate

import "github.com/otelcol-sentry/otelcol-sentry/internal/sentry"

// The only conversions of time. Decoding has already turned decimal text into whole nanoseconds (sentry.parseUnixNanos).

// nominalPeriod is the interval that Sentry's profilers aim at, 1/101 s in nanoseconds. The real interval is not in the
// payload and varies from 1 to 90 ms: weigh samples by the gaps between their timestamps, not by the period.
const nominalPeriod = 9_900_990

// anchor is the instant that the samples of a V1 profile count from, in unix nanoseconds: the profile's own, else the start
// of its transaction, else so that the last sample falls on the time of receipt.
func anchor(p *sentry.Profile, src Source) uint64 {
	switch {
	case p.Timestamp.Set:
		return p.Timestamp.UnixNano
	case src.TransactionStart.Set:
		return src.TransactionStart.UnixNano
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
