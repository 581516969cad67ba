// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// This file derives the fields that Sentry's SDKs set, for spans from other sources, from old and
// new OpenTelemetry conventions.

// fillForeign adds operation, origin, kind and status message.
func fillForeign(out *event.Span, s ptrace.Span) {
	out.Op = attr.FirstText(out.Op, ForeignOp(s))
	out.Origin = attr.FirstText(out.Origin, "auto.otel")
	if kind := attr.SpanKindName(s.Kind()); out.Kind == "" && kind != "" {
		out.Data = append(out.Data, event.NamedValue{Name: semconv.SentryKind, Value: attr.JsonString(kind)})
	}
	if message := s.Status().Message(); message != "" && !strings.EqualFold(message, out.Status) {
		out.Data = append(out.Data, event.NamedValue{Name: semconv.SentryStatusMessage, Value: attr.JsonString(message)})
	}
}

// ForeignOp returns the operation: https://develop.sentry.dev/sdk/telemetry/traces/span-operations/
func ForeignOp(s ptrace.Span) string {
	attrs := s.Attributes()
	has := func(keys ...string) bool {
		for _, key := range keys {
			if _, ok := attrs.Get(key); ok {
				return true
			}
		}
		return false
	}
	switch {
	case has(semconv.HTTPRequestMethod, semconv.HTTPMethod):
		return byKind(s.Kind(), "http")
	case has(semconv.DBSystemName, semconv.DBSystem):
		return "db"
	case has(semconv.GenAISystem, semconv.GenAIProviderName):
		return strings.TrimSuffix("gen_ai."+attr.TextOf(attrs, semconv.GenAIOperationName), ".")
	case has(semconv.RPCSystem, semconv.RPCSystemName, semconv.RPCService):
		return byKind(s.Kind(), "rpc")
	case has(semconv.MessagingSystemName, semconv.MessagingSystem):
		switch s.Kind() {
		case ptrace.SpanKindProducer:
			return "queue.publish"
		case ptrace.SpanKindConsumer:
			return "queue.process"
		}
		return "queue"
	case has(semconv.FaaSTrigger):
		return "function"
	case has(semconv.GraphQLOperationType, semconv.GraphQLOperationName):
		return "graphql"
	}
	return "default"
}

func byKind(kind ptrace.SpanKind, op string) string {
	switch kind {
	case ptrace.SpanKindServer:
		return op + ".server"
	case ptrace.SpanKindClient:
		return op + ".client"
	}
	return op
}

// foreignDescription returns the statement or the request, else the name. OpenTelemetry span names
// have low cardinality and are often only a method.
func foreignDescription(s ptrace.Span) string {
	attrs := s.Attributes()
	if statement := attr.FirstText(attr.TextOf(attrs, semconv.DBQueryText), attr.TextOf(attrs, semconv.DBStatement)); statement != "" {
		return statement
	}
	method := attr.FirstText(attr.TextOf(attrs, semconv.HTTPRequestMethod), attr.TextOf(attrs, semconv.HTTPMethod))
	url := attr.FirstText(attr.TextOf(attrs, semconv.URLFull), attr.TextOf(attrs, semconv.HTTPURL))
	if s.Kind() == ptrace.SpanKindClient && method != "" && url != "" {
		return method + " " + url
	}
	return s.Name()
}

// foreignSource returns what kind of name the transaction has.
func foreignSource(s ptrace.Span) string {
	attrs := s.Attributes()
	if _, ok := attrs.Get(semconv.HTTPRoute); ok {
		return "route"
	}
	if s.Kind() == ptrace.SpanKindConsumer {
		return "task"
	}
	path := attr.FirstText(attr.TextOf(attrs, semconv.URLPath), attr.TextOf(attrs, semconv.HTTPTarget))
	if path != "" && strings.Contains(s.Name(), path) {
		return "url"
	}
	return "custom"
}

// hasField reports whether a resource attribute has a field in Sentry's format, as sent by Sentry
// SDKs that use OpenTelemetry.
func hasField(key string, fromSentry bool) bool {
	switch key {
	case semconv.TelemetrySDKName, semconv.TelemetrySDKVersion,
		semconv.SentryProjectID, semconv.SentryPlatform, semconv.SentryRelease, semconv.SentryDist,
		semconv.HostArch, semconv.OSType:
		return true
	case semconv.ServiceName, semconv.ServiceVersion, semconv.DeploymentEnvironmentName, semconv.TelemetrySDKLanguage:
		return fromSentry
	}
	return attr.MachineFields.Has(key)
}
