// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// SpanKinds maps the values of the attribute sentry.kind (in upper case, those of otel.kind) to
// span kinds.
var SpanKinds = map[string]ptrace.SpanKind{
	"internal": ptrace.SpanKindInternal,
	"server":   ptrace.SpanKindServer,
	"client":   ptrace.SpanKindClient,
	"producer": ptrace.SpanKindProducer,
	"consumer": ptrace.SpanKindConsumer,
}

// StatusNames are Sentry's names of the gRPC codes, by number. Its schema also accepts the number.
var StatusNames = [...]string{
	"ok", "cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
	"resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal_error", "unavailable",
	"data_loss", "unauthenticated",
}

// IsSpanField reports whether an attribute is not data of a span in Sentry's format: there, it is a field, or a part of Profiling or
// TraceHeader.
func IsSpanField(key string) bool {
	switch key {
	case semconv.SentryIsSegment, semconv.SentryTags, semconv.SentryProfilerID, semconv.ProfileID, semconv.ThreadID, semconv.ThreadName:
		return true
	}
	return isTraceHeaderKey(key)
}

// Unnamed is Sentry's name of a transaction without a name.
const Unnamed = "<unlabeled transaction>"

// SampledFlag is the only W3C trace flag: spans that were not sampled are not sent.
const SampledFlag = 1
