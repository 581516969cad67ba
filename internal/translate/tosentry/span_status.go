// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// StatusName is the inverse of fromsentry.setStatus. For spans from other sources, the response is more precise than the status code: in
// OpenTelemetry, a 404 on a server span is not an error.
func StatusName(s ptrace.Span, fromSentry bool) string {
	message := strings.ToLower(s.Status().Message())
	switch {
	case s.Status().Code() == ptrace.StatusCodeOk:
		return "ok"
	case s.Status().Code() == ptrace.StatusCodeError && slices.Contains(attr.StatusNames[:], message):
		return sentName(message)
	case fromSentry && s.Status().Code() == ptrace.StatusCodeUnset:
		return ""
	}
	if name := statusOfResponse(s.Attributes()); name != "" {
		return name
	}
	if s.Status().Code() == ptrace.StatusCodeError {
		return "internal_error"
	}
	return "ok"
}

// sentName returns the spelling that ingest accepts: it writes "unknown" but does not read it (relay-base-schema/src/spans.rs).
func sentName(name string) string {
	if name == "unknown" {
		return "unknown_error"
	}
	return name
}

// statusOfResponse returns the status of an HTTP or gRPC response, or "" if it is unknown or successful.
func statusOfResponse(attrs pcommon.Map) string {
	for _, key := range []string{semconv.HTTPResponseStatusCode, semconv.HTTPStatusCode} {
		if code, ok := attrs.Get(key); ok && code.Type() == pcommon.ValueTypeInt {
			return statusOfHTTP(code.Int())
		}
	}
	for _, key := range []string{semconv.RPCGRPCStatusCode, semconv.RPCResponseStatusCode} {
		if code, ok := attrs.Get(key); ok && code.Type() == pcommon.ValueTypeInt && code.Int() > 0 && code.Int() < int64(len(attr.StatusNames)) {
			return sentName(attr.StatusNames[code.Int()])
		}
	}
	return ""
}

// statusOfHTTP returns the status of an HTTP status code, as in Sentry's SDKs.
func statusOfHTTP(code int64) string {
	switch code {
	case 401:
		return "unauthenticated"
	case 403:
		return "permission_denied"
	case 404:
		return "not_found"
	case 409:
		return "already_exists"
	case 413:
		return "failed_precondition"
	case 429:
		return "resource_exhausted"
	case 499:
		return "cancelled"
	case 501:
		return "unimplemented"
	case 503:
		return "unavailable"
	case 504:
		return "deadline_exceeded"
	}
	switch {
	case code >= 400 && code < 500:
		return "invalid_argument"
	case code >= 500:
		return "internal_error"
	}
	return ""
}
