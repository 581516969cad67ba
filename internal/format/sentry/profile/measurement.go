// SPDX-License-Identifier: Apache-2.0

package profile

// Measurement is a time series in a profile, such as cpu_usage or memory_footprint.
type Measurement struct {
	Name   string
	Unit   string // nanosecond, hertz, byte, percent, nanojoule, or their short forms; others occur
	Values []MeasurementValue
}

// MeasurementValue is one point of a Measurement.
type MeasurementValue struct {
	ElapsedNS uint64  // V1: elapsed_since_start_ns, nanoseconds since Profile.Timestamp
	Timestamp float64 // V2: timestamp, Unix seconds as sent. Node adds seconds to epoch milliseconds here
	Value     float64
}
