// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// StatusName is the inverse of fromsentry.setStatus. For spans from other sources, the response is
// more precise than the status code: in OpenTelemetry, a 404 on a server span is not an error. For
// a client, it is one, so without an error status, the client expected the response; ingest stores
// any status except ok as an error.
func StatusName(s ptrace.Span, fromSentry bool) string {
	message := strings.ToLower(s.Status().Message())
	switch {
	case s.Status().Code() == ptrace.StatusCodeOk:
		return "ok"
	case s.Status().Code() == ptrace.StatusCodeError && slices.Contains(attr.StatusNames[:], message):
		return message
	case fromSentry && s.Status().Code() == ptrace.StatusCodeUnset:
		return ""
	case s.Kind() == ptrace.SpanKindClient && s.Status().Code() == ptrace.StatusCodeUnset:
		return "ok"
	}
	if name := attr.ResponseStatus(s.Attributes()); name != "" {
		return name
	}
	if s.Status().Code() == ptrace.StatusCodeError {
		return "internal_error"
	}
	return "ok"
}
