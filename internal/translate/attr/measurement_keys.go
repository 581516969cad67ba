// SPDX-License-Identifier: Apache-2.0

package attr

// Keys in sentry.measurements. They are Sentry's own, but points are stored in columns.
const (
	KeyUnit      = "unit"
	KeyElapsed   = "elapsed_since_start_ns" // V1
	KeyTimestamp = "timestamp"              // V2, Unix seconds
	KeyValue     = "value"
)
