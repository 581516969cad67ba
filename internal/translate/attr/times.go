// SPDX-License-Identifier: Apache-2.0

package attr

const (
	NanosPerMilli  = 1_000_000
	NanosPerSecond = 1_000_000_000
	NanosPerMinute = 60 * NanosPerSecond

	// MaxUnixSeconds is the upper bound of decoded times: the year 2242. The sum of two times still
	// fits into 64 bits as nanoseconds.
	MaxUnixSeconds = 1 << 33
)
