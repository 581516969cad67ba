// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"math"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// What Sentry's SDKs would have said of spans that are not from one of them, by OpenTelemetry's conventions, old and new.

// fillForeign adds operation, origin and kind.
func fillForeign(out *event.Span, s ptrace.Span) {
	out.Op = attr.FirstText(out.Op, foreignOp(s))
	out.Origin = attr.FirstText(out.Origin, "auto.otel")
	if kind := kindName(s.Kind()); out.Kind == "" && kind != "" {
		out.Data = append(out.Data, event.NamedValue{Name: attr.KeyKind, Value: attr.JsonString(kind)})
	}
	if message := s.Status().Message(); message != "" && !strings.EqualFold(message, out.Status) {
		out.Data = append(out.Data, event.NamedValue{Name: attr.KeyStatusMessage, Value: attr.JsonString(message)})
	}
}

// kindName is the inverse of SpanKinds.
func kindName(kind ptrace.SpanKind) string {
	for name, known := range attr.SpanKinds {
		if known == kind {
			return name
		}
	}
	return ""
}

// foreignOp is the operation: https://develop.sentry.dev/sdk/telemetry/traces/span-operations/
func foreignOp(s ptrace.Span) string {
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
	case has("http.request.method", "http.method"):
		return byKind(s.Kind(), "http")
	case has("db.system.name", "db.system"):
		return "db"
	case has("gen_ai.system", "gen_ai.provider.name"):
		return strings.TrimSuffix("gen_ai."+textOf(attrs, "gen_ai.operation.name"), ".")
	case has("rpc.system", "rpc.system.name", "rpc.service"):
		return byKind(s.Kind(), "rpc")
	case has("messaging.system"):
		switch s.Kind() {
		case ptrace.SpanKindProducer:
			return "queue.publish"
		case ptrace.SpanKindConsumer:
			return "queue.process"
		}
		return "queue"
	case has("faas.trigger"):
		return "function"
	case has("graphql.operation.type", "graphql.operation.name"):
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

// foreignDescription says what was done: the statement, or the request. The name of OpenTelemetry's has low cardinality, and
// often is a method alone.
func foreignDescription(s ptrace.Span) string {
	attrs := s.Attributes()
	if statement := attr.FirstText(textOf(attrs, "db.query.text"), textOf(attrs, "db.statement")); statement != "" {
		return statement
	}
	method, url := attr.FirstText(textOf(attrs, "http.request.method"), textOf(attrs, "http.method")), attr.FirstText(textOf(attrs, "url.full"), textOf(attrs, "http.url"))
	if s.Kind() == ptrace.SpanKindClient && method != "" && url != "" {
		return method + " " + url
	}
	return s.Name()
}

// foreignSource says what kind of text the name of a transaction is.
func foreignSource(s ptrace.Span) string {
	attrs := s.Attributes()
	if _, ok := attrs.Get("http.route"); ok {
		return "route"
	}
	if s.Kind() == ptrace.SpanKindConsumer {
		return "task"
	}
	if path := attr.FirstText(textOf(attrs, "url.path"), textOf(attrs, "http.target")); path != "" && strings.Contains(s.Name(), path) {
		return "url"
	}
	return "custom"
}

// otherResource are the attributes of a resource that have no place of their own in what is sent: as Sentry's SDKs on
// OpenTelemetry send them.
func otherResource(resource pcommon.Map) pcommon.Map {
	other := pcommon.NewMap()
	fromSentry := isFromSentry(resource)
	resource.CopyTo(other)
	other.RemoveIf(func(key string, _ pcommon.Value) bool {
		switch key {
		case attr.KeySDKName, attr.KeySDKVersion, attr.KeyProject, attr.KeyPlatform, attr.KeyRelease, attr.KeyDist, attr.KeyDeviceArch, attr.KeyHostArch, attr.KeyOSType, attr.KeyOSName,
			attr.KeyOSVersion, attr.KeyOSBuild, attr.KeyManufacturer, attr.KeyDeviceModel, attr.KeyDeviceSimulator, attr.KeyRuntimeName, attr.KeyRuntimeVersion:
			return true
		case attr.KeyServiceName, attr.KeyServiceVersion, attr.KeyEnvironment, attr.KeySDKLanguage:
			return fromSentry
		}
		return false
	})
	return other
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }
