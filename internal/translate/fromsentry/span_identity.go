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
			if field := id.Field(a.Key, true); field != nil && *field == "" {
				*field = attr.JsonText(a.Value)
			}
		}
	}
	return completed(id, src)
}

// states reports whether the resource has the same value.
func states(id *attr.Identity, a *event.Attribute) bool {
	field := id.Field(a.Key, true)
	return field != nil && *field != "" && *field == attr.JsonText(a.Value)
}
