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

// SpanKindName is the inverse of SpanKinds. It returns "" for other kinds.
func SpanKindName(kind ptrace.SpanKind) string {
	for name, known := range SpanKinds {
		if known == kind {
			return name
		}
	}
	return ""
}

// IsSpanField reports whether an attribute is not data of a span in Sentry's format: there, it is a
// field, or a part of Profiling or TraceHeader.
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
