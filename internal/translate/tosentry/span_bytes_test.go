// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

// TestSpansAreNotCut: what exceeds ingest's limit for the spans of a transaction is sent in
// containers.
func TestSpansAreNotCut(t *testing.T) {
	const spansOfTrace = 951
	for name, put := range map[string]func(pcommon.Map){
		"one text":   func(m pcommon.Map) { m.PutStr("text", strings.Repeat("x", 750)) },
		"many texts": func(m pcommon.Map) { putMany(m, 20, func(key string) { m.PutStr(key, strings.Repeat("x", 30)) }) },
		"numbers":    func(m pcommon.Map) { putMany(m, 40, func(key string) { m.PutInt(key, 123456789) }) },
		"statement":  func(m pcommon.Map) { m.PutStr("db.query.text", strings.Repeat("SELECT ", 60)) },
	} {
		traces := ptrace.NewTraces()
		resource := traces.ResourceSpans().AppendEmpty()
		resource.Resource().Attributes().PutStr("service.name", strings.Repeat("shop", 20))
		resource.Resource().Attributes().PutStr("service.version", "1.0")
		spans := resource.ScopeSpans().AppendEmpty().Spans()
		for i := range spansOfTrace {
			span := spans.AppendEmpty()
			span.SetTraceID([16]byte{1})
			span.SetSpanID([8]byte{byte(i >> 8), byte(i), 1})
			if i > 0 {
				span.SetParentSpanID([8]byte{0, 0, 1})
			}
			span.SetName("GET /cart")
			span.SetStartTimestamp(someTime)
			span.SetEndTimestamp(someTime + 1)
			put(span.Attributes())
		}
		count := 0
		out := TracesToTransactions(traces, exportOptions)
		for i := range out.Items {
			require.Empty(t, ingestSpansVerdict(&out.Items[i]), name)
			count += out.Items[i].Count
		}
		require.Equal(t, sentry.ItemTransaction, out.Items[0].Header.Type, name)
		require.Greater(t, out.Items[0].Count, spansOfTrace/2, name)
		require.Equal(t, spansOfTrace, count, name)
	}
}

func putMany(m pcommon.Map, n int, put func(key string)) {
	for i := range n {
		put(fmt.Sprint("key", i))
	}
}
