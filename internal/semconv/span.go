// SPDX-License-Identifier: Apache-2.0

package semconv

// Sentry's conventions.
const (
	OTelKind                = "otel.kind" // in upper case
	SentryOp                = "sentry.op"
	SentryOrigin            = "sentry.origin"
	SentryKind              = "sentry.kind"
	SentryDescription       = "sentry.description" // where it is not the span's name
	SentryStatus            = "sentry.status"
	SentryStatusMessage     = "sentry.status.message" // of streamed spans
	SentrySegmentID         = "sentry.segment.id"
	SentrySegmentName       = "sentry.segment.name" // the transaction's name
	SentrySegmentNameSource = "sentry.segment.name.source"
	SentryIsRemote          = "sentry.is_remote" // the parent is in another process
	SentryExclusiveTime     = "sentry.exclusive_time"
	SentryTraceLifecycle    = "sentry.trace_lifecycle"      // "stream" on spans that were sent one by one
	SentryTraceParentSpanID = "sentry.trace.parent_span_id" // of JavaScript's logs: the span that was running
	SentryReplayID          = "sentry.replay_id"
)

// Ours.
const (
	SentryTransactionID = "sentry.transaction.id"
	SentryIsSegment     = "sentry.is_segment"
	SentryName          = "sentry.name"           // of foreign spans, where the description is another text
	SentryParentSpanID  = "sentry.parent_span_id" // of the trace that a record belongs to
	SentryServerName    = "sentry.server_name"    // where server.address is, or would be, another machine
	SentryTags          = "sentry.tags"           // the keys of the attributes that were tags
	SentrySampleRand    = "sentry.sample_rand"
)

// UnitSuffix, ours, follows the key of an attribute that has a unit.
const UnitSuffix = ".unit"
