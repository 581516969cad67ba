// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestSampledTracesExtrapolate: Sentry counts as many spans as there were before head sampling.
func TestSampledTracesExtrapolate(t *testing.T) {
	for state, rate := range map[string]float64{
		"":                                1,
		"ot=th:0":                         1,
		"ot=th:e6666666666668":            0.1,
		"ot=th:e666":                      0.1,
		"ot=th:fd70a3d70a3d71;rv:ff":      0.01,
		"vendor=x,ot=rv:c;th:8":           0.5,
		"congo=1, ot=p:3;r:5":             0.125,
		"ot=p:63":                         1, // no probability
		"ot=th:zz":                        1,
		"ot=th:123456789012345":           1,
		"other=th:8":                      1,
		"ot=th:80000000000000;p:1,ot=p:3": 0.5,
	} {
		for _, spansOnly := range []bool{false, true} {
			const sampled, children = 20, 2
			traces := ptrace.NewTraces()
			spans := traces.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
			for i := range uint64(sampled * (1 + children)) {
				span := spans.AppendEmpty()
				trace, id := [16]byte{1}, [8]byte{1}
				binary.BigEndian.PutUint64(trace[8:], i/(1+children))
				binary.BigEndian.PutUint64(id[:], i+1)
				span.SetTraceID(trace)
				span.SetSpanID(id)
				if i%(1+children) > 0 {
					binary.BigEndian.PutUint64(id[:], i-i%(1+children)+1)
					span.SetParentSpanID(id)
				}
				span.SetName("s")
				span.SetStartTimestamp(someTime)
				span.SetEndTimestamp(someTime + 1)
				span.TraceState().FromRaw(state)
			}
			options := exportOptions
			options.SpansOnly = spansOnly
			total := 0.0
			out := TracesToTransactions(traces, options)
			for i := range out.Items {
				item := &out.Items[i]
				require.Empty(t, ingestSpansVerdict(item))
				for _, rate := range fakesentry.StoredSampleRates(&sentry.EnvelopeHeader{Trace: item.Trace}, &item.Item) {
					total += 1 / rate
				}
			}
			require.InEpsilon(t, sampled*(1+children)/rate, total, 1e-4, state)
		}
	}
}
