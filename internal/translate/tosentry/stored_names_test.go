// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestStoredNames: Sentry stores every span of OpenTelemetry under its own name, as a transaction
// and as containers.
func TestStoredNames(t *testing.T) {
	traces := ptrace.NewTraces()
	resource := traces.ResourceSpans().AppendEmpty()
	resource.Resource().Attributes().PutStr("service.name", "shop")
	spans := resource.ScopeSpans().AppendEmpty().Spans()
	kinds := []map[string]string{
		nil, {"http.request.method": "GET", "url.full": "https://shop/cart"}, {"db.system.name": "postgresql", "db.query.text": "SELECT 1"},
		{"rpc.system": "grpc"}, {"messaging.system": "kafka"}, {"gen_ai.system": "x", "gen_ai.operation.name": "chat"},
	}
	var want []string
	for i := range 1500 {
		span := spans.AppendEmpty()
		span.SetTraceID([16]byte{1})
		span.SetSpanID([8]byte{byte(i >> 8), byte(i), 1})
		if i > 0 {
			span.SetParentSpanID([8]byte{0, 0, 1})
		}
		span.SetKind(ptrace.SpanKind(1 + i%5))
		span.SetName(fmt.Sprintf("operation %d", i))
		span.SetStartTimestamp(pcommon.Timestamp(1_790_000_000_000_000_000))
		span.SetEndTimestamp(pcommon.Timestamp(1_790_000_001_000_000_000))
		for key, value := range kinds[i%len(kinds)] {
			span.Attributes().PutStr(key, value)
		}
		want = append(want, span.Name())
	}
	slices.Sort(want)
	for _, spansOnly := range []bool{false, true} {
		options := exportOptions
		options.SpansOnly = spansOnly
		var got []string
		for _, item := range TracesToTransactions(traces, options).Items {
			got = append(got, fakesentry.StoredNames(&item.Item)...)
		}
		slices.Sort(got)
		require.Equal(t, want, got, "spans only: %v", spansOnly)
	}
}
