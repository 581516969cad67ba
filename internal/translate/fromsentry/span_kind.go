// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// opKinds are the kinds of operations, by prefix. A longer prefix comes first.
// https://develop.sentry.dev/sdk/telemetry/traces/span-operations/
var opKinds = []struct {
	op   string
	kind ptrace.SpanKind
}{
	{"http.server", ptrace.SpanKindServer},
	{"http.client", ptrace.SpanKindClient},
	{"rpc.server", ptrace.SpanKindServer},
	{"rpc.client", ptrace.SpanKindClient},
	{"grpc.server", ptrace.SpanKindServer},
	{"grpc.client", ptrace.SpanKindClient},
	{"websocket.server", ptrace.SpanKindServer},
	{"graphql.server", ptrace.SpanKindServer},
	{"db", ptrace.SpanKindClient},
	{"queue.publish", ptrace.SpanKindProducer},
	{"queue.create", ptrace.SpanKindProducer},
	{"queue.submit", ptrace.SpanKindProducer}, // python: queue.submit.celery
	{"queue.process", ptrace.SpanKindConsumer},
	{"queue.receive", ptrace.SpanKindConsumer},
	{"queue.task", ptrace.SpanKindConsumer}, // python: queue.task.celery
	{"function.aws", ptrace.SpanKindServer},
	{"function.gcp", ptrace.SpanKindServer},
}

// spanKind returns the kind that the span states, else the kind of its operation. Most operations
// are internal; without an operation, the kind is unspecified.
func spanKind(stated, op string) ptrace.SpanKind {
	if kind, known := attr.SpanKinds[strings.ToLower(stated)]; known {
		return kind
	}
	if op == "" {
		return ptrace.SpanKindUnspecified
	}
	for _, known := range opKinds {
		if rest, found := strings.CutPrefix(op, known.op); found && (rest == "" || rest[0] == '.') {
			return known.kind
		}
	}
	return ptrace.SpanKindInternal
}

// isPersonalOnSpan extends attr.IsPersonal: on a server's span, peer addresses are the client's; on
// other spans, they belong to the application's own infrastructure.
func isPersonalOnSpan(key string, kind ptrace.SpanKind) bool {
	if kind == ptrace.SpanKindServer {
		switch key {
		case semconv.NetPeerIP, semconv.NetSockPeerAddr, semconv.NetworkPeerAddress:
			return true
		}
	}
	return attr.IsPersonal(key)
}
