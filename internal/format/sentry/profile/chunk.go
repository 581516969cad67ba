// SPDX-License-Identifier: Apache-2.0

package profile

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
)

// Chunk is the payload of a "profile_chunk" item in sample format version 2: a piece of a profiler session, tied to no
// transaction. https://develop.sentry.dev/sdk/telemetry/profiles/sample-format-v2/
//
// The top-level "timestamp" that java adds is not decoded: ingest drops it, the samples carry their own times.
type Chunk struct {
	Version     string
	ProfilerID  string // one per profiler session
	ChunkID     string
	Platform    string
	Release     string
	Dist        string // python sends it, ingest drops it
	Environment string

	ClientSDK    sentry.ClientSDK
	DebugMeta    DebugMeta
	Measurements []Measurement

	Sampled

	Undecoded *discard.Error // a trace of Android, which is not decoded; nil = there is none
}
