// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// StatusNames are Sentry's names of the gRPC codes, by number: ingest accepts both, and stores the
// name (relay-base-schema/src/spans.rs). It also reads "unknown_error", the old name of code 2, but
// since Relay 25.10 as "internal_error".
var StatusNames = [...]string{
	"ok", "cancelled", "unknown", "invalid_argument", "deadline_exceeded", "not_found", "already_exists", "permission_denied",
	"resource_exhausted", "failed_precondition", "aborted", "out_of_range", "unimplemented", "internal_error", "unavailable",
	"data_loss", "unauthenticated",
}

// ResponseStatus returns the span status of an HTTP or gRPC response, or "" if it is unknown or
// successful.
func ResponseStatus(attrs pcommon.Map) string {
	for _, key := range []string{semconv.HTTPResponseStatusCode, semconv.HTTPStatusCode} {
		if code, ok := attrs.Get(key); ok && code.Type() == pcommon.ValueTypeInt {
			return statusOfHTTP(code.Int())
		}
	}
	for _, key := range []string{semconv.RPCStatusCode, semconv.RPCResponseStatusCode, semconv.RPCGRPCStatusCode} {
		code, ok := attrs.Get(key)
		switch {
		case !ok:
		case code.Type() == pcommon.ValueTypeInt && code.Int() > 0 && code.Int() < int64(len(StatusNames)):
			return StatusNames[code.Int()]
		case code.Type() == pcommon.ValueTypeStr:
			if name := statusOfGRPC(code.Str()); name != "" {
				return name
			}
		}
	}
	return ""
}

// statusOfGRPC returns the status for the name of a gRPC status, as in rpc.status_code since 1.45
// ("DEADLINE_EXCEEDED").
func statusOfGRPC(code string) string {
	name := strings.ToLower(code)
	if name == "internal" {
		name = "internal_error"
	}
	if slices.Contains(StatusNames[1:], name) {
		return name
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
