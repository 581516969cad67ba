// SPDX-License-Identifier: Apache-2.0

package attr

import "go.opentelemetry.io/collector/pdata/ptrace"

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

// Unnamed is Sentry's name of a transaction without a name.
const Unnamed = "<unlabeled transaction>"

// SampledFlag is the only W3C trace flag: spans that were not sampled are not sent.
const SampledFlag = 1
