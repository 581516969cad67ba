// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

func transactionIdentity(t *event.Transaction, src Source) attr.Identity {
	return completed(attr.Identity{Platform: t.Platform, Release: t.Release, Dist: t.Dist, Environment: t.Environment, Sdk: t.SDK.ClientSDK}, src)
}

// standaloneIdentity returns the identity of a span without a transaction. Browsers state the
// release and the environment in its data.
func standaloneIdentity(s *event.Span, src Source) attr.Identity {
	return completed(attr.Identity{
		Platform:    s.Platform,
		Release:     attr.FirstText(DataText(s.Data, semconv.SentryRelease), DataText(s.Data, "release")),
		Environment: attr.FirstText(DataText(s.Data, semconv.SentryEnvironment), DataText(s.Data, "environment")),
	}, src)
}

// ContainerIdentity returns the identity of streamed spans. SDKs repeat it in attributes, some of
// them only on segments. The resource gets the first value of each field; spans keep only values
// that differ.
func ContainerIdentity(c *event.SpanContainer, src Source) (id attr.Identity) {
	for i := range c.Spans {
		for j := range c.Spans[i].Attributes {
			a := &c.Spans[i].Attributes[j]
			if field := identityField(&id, a.Key); field != nil && *field == "" {
				*field = attr.JsonText(a.Value)
			}
		}
	}
	return completed(id, src)
}

// identityField returns the identity field for an attribute of a streamed span, or nil.
func identityField(id *attr.Identity, key string) *string {
	switch key {
	case semconv.SentryDist:
		return &id.Dist
	case semconv.SentryPlatform:
		return &id.Platform
	}
	return sharedField(id, key)
}

// sharedField returns the identity field for an attribute of an element of any container, or nil.
func sharedField(id *attr.Identity, key string) *string {
	switch key {
	case semconv.SentryRelease:
		return &id.Release
	case semconv.SentryEnvironment:
		return &id.Environment
	case semconv.SentrySDKName:
		return &id.Sdk.Name
	case semconv.SentrySDKVersion:
		return &id.Sdk.Version
	}
	return nil
}

// states reports whether the resource has the same value.
func states(id *attr.Identity, a *event.Attribute) bool {
	field := identityField(id, a.Key)
	return field != nil && *field != "" && *field == attr.JsonText(a.Value)
}
