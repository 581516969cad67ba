// SPDX-License-Identifier: Apache-2.0

package semconv

// Sentry.
const (
	OTelKind                = "otel.kind" // in upper case
	SentryOp                = "sentry.op"
	SentryOrigin            = "sentry.origin"
	SentryKind              = "sentry.kind"
	SentryDescription       = "sentry.description" // if it differs from the span name
	SentryStatus            = "sentry.status"
	SentryStatusMessage     = "sentry.status.message" // of streamed spans
	SentrySegmentID         = "sentry.segment.id"
	SentrySegmentName       = "sentry.segment.name" // the transaction's name
	Transaction             = "transaction"         // the same, in web vitals
	SentrySegmentNameSource = "sentry.segment.name.source"
	SentryIsRemote          = "sentry.is_remote" // the parent is in another process
	SentryExclusiveTime     = "sentry.exclusive_time"
	SentryTraceLifecycle    = "sentry.trace_lifecycle"      // "stream" on spans sent individually
	SentryTraceParentSpanID = "sentry.trace.parent_span_id" // JavaScript logs: the active span
	SentryReplayID          = "sentry.replay_id"
	SentryDSCSampleRate     = "sentry.dsc.sample_rate" // of the envelope's trace header, as text
	SentryDSCSampleRand     = "sentry.dsc.sample_rand"
	SentryDSCSampled        = "sentry.dsc.sampled"
	SentryDSCTransaction    = "sentry.dsc.transaction" // the one that began the trace
)

// Project.
const (
	SentryTransactionID = "sentry.transaction.id"
	SentryIsSegment     = "sentry.is_segment"
	SentryName          = "sentry.name"           // if the description differs
	SentryParentSpanID  = "sentry.parent_span_id" // of log records
	SentryServerName    = "sentry.server_name"    // if server.address is another host
	SentryTags          = "sentry.tags"           // keys of the attributes that were tags
	SentrySampleRand    = "sentry.sample_rand"

	SentrySegmentNameOriginal     = "sentry.segment.name.original"
	SentrySegmentNameChanges      = "sentry.segment.name.changes"
	SentrySegmentNamePropagations = "sentry.segment.name.propagations"
	SentryDSCReplayID             = "sentry.dsc.replay_id"
)

// UnitSuffix (project) follows the key of an attribute with a unit.
const UnitSuffix = ".unit"
