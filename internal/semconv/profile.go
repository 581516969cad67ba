// SPDX-License-Identifier: Apache-2.0

package semconv

// OTel, informal: links from a span to its profile. Sentry's SDKs send them, too.
const (
	ProfileID  = "profile_id"
	ProfilerID = "profiler_id"
)

// PprofProfileComment (OTel) is on profiles: a list of texts.
const PprofProfileComment = "pprof.profile.comment"

// Sentry.
const (
	SentryProfilerID = "sentry.profiler_id"
	SentryProfileID  = "sentry.profile_id" // V1; on profiles only if it is not a UUID
)

// Project, on profiles. A UUID becomes the ID of the profile instead of an attribute.
const (
	SentryProfileVersion  = "sentry.profile.version" // 1 or 2, the sample format
	SentryChunkID         = "sentry.chunk_id"        // only if it is not a UUID
	SentryMeasurements    = "sentry.measurements"
	SentryDebugMetaImages = "sentry.debug_meta.images" // images that are no mapping

	SentryClockDriftMS        = "sentry.clock_drift_ms"        // receipt minus sending; also on spans and records
	SentryClockDriftCorrected = "sentry.clock_drift_corrected" // true if times were shifted by the drift

	SentryTraceID                     = "sentry.trace_id"
	SentryActiveThreadID              = "sentry.active_thread.id"
	SentryTransactionRelativeStart    = "sentry.transaction.relative_start" // unit ns
	SentryTransactionRelativeEnd      = "sentry.transaction.relative_end"
	SentryTransactionRelativeCPUStart = "sentry.transaction.relative_cpu_start" // unit ms
	SentryTransactionRelativeCPUEnd   = "sentry.transaction.relative_cpu_end"
)

// Project, on the parts of a split profile, and on profiles with a changed start.
const (
	SplitProfileID    = "split.profile_id"
	SplitPart         = "split.part"
	SplitTimeUnixNano = "split.time_unix_nano" // start of the original profile, if that of this one differs
)

// Project, on profiles: the buffer of a trace of Android's runtime was full before the trace ended.
const AndroidTraceTruncated = "android.trace.truncated"
