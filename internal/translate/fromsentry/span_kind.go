// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// opKinds are the operations, or beginnings of operations, that have a kind by their meaning, longest first where one begins
// another. https://develop.sentry.dev/sdk/telemetry/traces/span-operations/
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

// spanKind is the kind that the span states, else the one its operation stands for. Most operations are something that
// happens inside the program; without an operation the kind is not known.
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

// isPersonalOnSpan adds to IsPersonal what is the address of the client on the spans of a server, and an address of our own
// infrastructure on others.
func isPersonalOnSpan(key string, kind ptrace.SpanKind) bool {
	if kind == ptrace.SpanKindServer {
		switch key {
		case semconv.NetPeerIP, semconv.NetSockPeerAddr, semconv.NetworkPeerAddress:
			return true
		}
	}
	return attr.IsPersonal(key)
}
