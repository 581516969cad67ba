// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
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

// sharedAttributes are attributes that SDKs repeat on each log: release, environment and SDK. The
// first value of each is on the resource; a record has the attribute only if its value differs.
type sharedAttributes struct {
	attr.Identity
	values [4]string
}

var sharedKeys = [4]string{semconv.SentryRelease, semconv.SentryEnvironment, semconv.SentrySDKName, semconv.SentrySDKVersion}

// firstIdentity returns the identity from the first element of a container.
func firstIdentity(first []event.Attribute, src Source) (shared sharedAttributes) {
	for i := range first {
		for k, key := range sharedKeys {
			if first[i].Key == key {
				shared.values[k] = attr.JsonText(first[i].Value)
			}
		}
	}
	v := shared.values
	id := attr.Identity{Release: v[0], Environment: v[1], Sdk: sentry.ClientSDK{Name: v[2], Version: v[3]}}
	shared.Identity = completed(id, src)
	return shared
}

func logIdentity(c *event.LogContainer, src Source) sharedAttributes {
	if len(c.Logs) == 0 {
		return firstIdentity(nil, src)
	}
	return firstIdentity(c.Logs[0].Attributes, src)
}

// stated reports whether the resource has the same value.
func (s *sharedAttributes) stated(a *event.Attribute) bool {
	for k, key := range sharedKeys {
		if a.Key == key {
			return s.values[k] != "" && s.values[k] == attr.JsonText(a.Value)
		}
	}
	return false
}
