// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// statusAliases maps old names to current names, as ingest does (relay-base-schema/src/spans.rs).
var statusAliases = map[string]string{"success": "ok", "failure": "internal_error", "unknown_error": "internal_error"}

// statusName returns the name of a status that is the number of a gRPC code, or the text itself.
func statusName(sent string) string {
	if sent != "" && sent[0] <= '9' { // a failing Atoi would be slower than the rest of setStatus
		if code, err := strconv.Atoi(sent); err == nil && code >= 0 && code < len(attr.StatusNames) {
			return attr.StatusNames[code]
		}
	}
	return sent
}

// setStatus sets the status: ok becomes Ok, and a missing status Unset. All others become Error,
// with the span's own message or Sentry's name of the status. Streamed spans have only "error",
// without a message.
func setStatus(status ptrace.Status, sent, message string) {
	name := statusName(strings.ToLower(sent))
	if alias, old := statusAliases[name]; old {
		name = alias
	}
	switch name {
	case "", "unset":
		return
	case "ok":
		status.SetCode(ptrace.StatusCodeOk)
		return
	case "error":
		name = ""
	}
	status.SetCode(ptrace.StatusCodeError)
	status.SetMessage(attr.FirstText(message, name))
}

// opKinds maps prefixes of operations to span kinds. Longer prefixes come first.
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
	{"queue.submit", ptrace.SpanKindProducer}, // Python: queue.submit.celery
	{"queue.process", ptrace.SpanKindConsumer},
	{"queue.receive", ptrace.SpanKindConsumer},
	{"queue.task", ptrace.SpanKindConsumer}, // Python: queue.task.celery
	{"function.aws", ptrace.SpanKindServer},
	{"function.gcp", ptrace.SpanKindServer},
}

// spanKind returns the stated kind of a span, else the kind of its operation. Most operations are
// internal. Without an operation, the kind is unspecified.
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

// isPersonalOnSpan extends attr.IsPersonal. Peer addresses on server spans are those of clients; on
// other spans, they belong to the application's infrastructure.
func isPersonalOnSpan(key string, kind ptrace.SpanKind) bool {
	if kind == ptrace.SpanKindServer {
		switch key {
		case semconv.NetPeerIP, semconv.NetSockPeerAddr, semconv.NetworkPeerAddress:
			return true
		}
	}
	return attr.IsPersonal(key)
}
