// SPDX-License-Identifier: Apache-2.0

package attr

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// ExceptionKeys are the attributes with the texts of an exception, by OpenTelemetry's conventions.
// The last two have it as the SDK reported it, if the others are symbolicated.
var ExceptionKeys = []string{
	semconv.ExceptionType, semconv.ExceptionMessage, semconv.ExceptionStacktrace, semconv.ExceptionTypeOriginal, semconv.ExceptionStacktraceOriginal,
}

// IsExceptionKey reports whether an attribute describes an exception.
func IsExceptionKey(key string) bool {
	return key == semconv.SymbolicationStatus || slices.Contains(ExceptionKeys, key)
}

// ExceptionOf returns the type and the message of the exception that attributes state. An exception
// without both is none: its headline is empty.
func ExceptionOf(attrs pcommon.Map) event.Exception {
	return event.Exception{Type: TextOf(attrs, semconv.ExceptionType), Value: TextOf(attrs, semconv.ExceptionMessage)}
}

// IsException reports whether attributes state an exception.
func IsException(attrs pcommon.Map) bool {
	x := ExceptionOf(attrs)
	return x.Headline() != ""
}
