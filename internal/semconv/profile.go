// SPDX-License-Identifier: Apache-2.0

package semconv

// OpenTelemetry's informal names of what ties a span to a profile, which Sentry's SDKs send too.
const (
	ProfileID  = "profile_id"
	ProfilerID = "profiler_id"
)

// Sentry's conventions.
const (
	SentryProfilerID = "sentry.profiler_id"
	SentryProfileID  = "sentry.profile_id" // V1; on a profile only where it is no UUID: it is the profile's id otherwise
)

// Ours, on the profile.
const (
	SentryProfileVersion  = "sentry.profile.version" // 1 or 2, the sample format
	SentryChunkID         = "sentry.chunk_id"        // only where it is no UUID, as SentryProfileID
	SentryMeasurements    = "sentry.measurements"
	SentryDebugMetaImages = "sentry.debug_meta.images" // those that are no mapping

	SentryClockDriftMS        = "sentry.clock_drift_ms"        // receipt minus the client's time of sending; on spans and log records too
	SentryClockDriftCorrected = "sentry.clock_drift_corrected" // true: the times are moved by that

	SentryTraceID                     = "sentry.trace_id"
	SentryActiveThreadID              = "sentry.active_thread.id"
	SentryTransactionRelativeStart    = "sentry.transaction.relative_start" // unit ns
	SentryTransactionRelativeEnd      = "sentry.transaction.relative_end"
	SentryTransactionRelativeCPUStart = "sentry.transaction.relative_cpu_start" // unit ms
	SentryTransactionRelativeCPUEnd   = "sentry.transaction.relative_cpu_end"
)

// Ours, on the parts of a profile that was split.
const (
	SplitProfileID = "split.profile_id"
	SplitPart      = "split.part"
)
