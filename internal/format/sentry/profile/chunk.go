// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// Chunk is the payload of a "profile_chunk" item in sample format version 2: a part of a profiler
// session, independent of any transaction.
// https://develop.sentry.dev/sdk/telemetry/profiles/sample-format-v2/
//
// The top-level "timestamp" that Java adds is decoded only for Android traces: ingest drops it, and
// samples have their own times.
type Chunk struct {
	Version     string
	ProfilerID  string // one per profiler session
	ChunkID     string
	Platform    string
	Release     string
	Dist        string // sent by Python, dropped by ingest
	Environment string

	ClientSDK    sentry.ClientSDK
	DebugMeta    DebugMeta
	Measurements []Measurement

	Sampled

	Android *Android // nil = the profile is in sample format
}
