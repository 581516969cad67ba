// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// logAttributeKey returns Sentry's key for attributes that the Go SDK 0.50 names differently.
func logAttributeKey(key string) string {
	if number, ok := strings.CutPrefix(key, semconv.SentryMessageParametersPrefix); ok {
		return semconv.SentryMessageParameterPrefix + number
	}
	if key == semconv.SentryServerAddress {
		return semconv.ServerAddress
	}
	return key
}

// setAttribute sets a value from JSON. The declared type matters only where JSON is ambiguous: for
// doubles without a fraction, and for integers in strings, which JavaScript sends because it cannot
// represent large integers.
func setAttribute(value pcommon.Value, key string, a *event.Attribute) {
	attr.SetJSON(value, a.Value)
	switch {
	case a.Type == "double" && value.Type() == pcommon.ValueTypeInt:
		value.SetDouble(float64(value.Int()))
	case (a.Type == "integer" || key == semconv.ThreadID) && value.Type() == pcommon.ValueTypeStr:
		if number, ok := attr.CanonicalInt(value.Str()); ok {
			value.SetInt(number)
		}
	}
}

// firstIdentity returns the identity from the first element of a container of logs or metrics: SDKs
// repeat release, environment and SDK on each. An element keeps only values that differ.
func firstIdentity[T any](elements []T, attributes func(*T) []event.Attribute, src Source) (id attr.Identity) {
	if len(elements) > 0 {
		for _, a := range attributes(&elements[0]) {
			if field := id.Field(a.Key, false); field != nil {
				*field = attr.JsonText(a.Value)
			}
		}
	}
	return completed(id, src)
}
