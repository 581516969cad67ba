// SPDX-License-Identifier: Apache-2.0

package attr

const (
	NanosPerMilli  = 1_000_000
	NanosPerSecond = 1_000_000_000
	NanosPerMinute = 60 * NanosPerSecond

	// MaxUnixSeconds is the end of time in decoding too: the year 2242. Sums of two still fit 64 bits of nanoseconds.
	MaxUnixSeconds = 1 << 33
)

// NominalPeriod is the interval that Sentry's profilers aim at, 1/101 s in nanoseconds. The real interval is not in the
// payload and varies from 1 to 90 ms: weigh samples by the gaps between their timestamps, not by the period.
const NominalPeriod = 9_900_990
