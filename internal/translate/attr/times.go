// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

const (
	NanosPerMilli  = 1_000_000
	NanosPerSecond = 1_000_000_000
	NanosPerMinute = 60 * NanosPerSecond

	// MaxUnixSeconds is the upper bound of decoded times: the year 2242. The sum of two times still
	// fits into 64 bits as nanoseconds.
	MaxUnixSeconds = 1 << 33
)

// TimeOf returns a time, which is not set if it is 0 or beyond the bound.
func TimeOf(at pcommon.Timestamp) jsonscan.Timestamp {
	return jsonscan.Timestamp{UnixNano: uint64(at), Set: at != 0 && uint64(at) < jsonscan.MaxUnixNano}
}
