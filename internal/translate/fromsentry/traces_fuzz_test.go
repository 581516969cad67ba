// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// spanSeeds have one oddity each; the fuzzer starts from them and from the recorded shapes of the
// cases.
var spanSeeds = []string{
	smallTransaction, smallContainer, smallSpan,
	``, `{}`, `[]`, `null`, `7`, `{"items":{}}`, `{"items":[null,7,{}]}`, `{"spans":[null,7,{}]}`, `{"contexts":{"trace":7,"profile":[]}}`,
	`{"contexts":{"trace":{"trace_id":"00000000000000000000000000000000","span_id":"0000000000000000"}},"start_timestamp":1,"timestamp":2}`,
	`{"contexts":{"trace":{"trace_id":"8A5C1BFA-0E1A-4F3A-B5F1-D2C3B4A59687","span_id":"6F1B2C3D4E5F6071","parent_span_id":"x","status":99,
	  "data":{"thread.id":1.5,"profiler_id":7,"a":{"b":[1,{"c":18446744073709551616}]}}}},"timestamp":1}`,
	`{"items":[{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","start_timestamp":5,"end_timestamp":4,
	  "links":[{},{"trace_id":"1","span_id":"2"}],"attributes":{"a":{"type":"integer","value":"9223372036854775808"},"b":7,"c":{"value":null}}}]}`,
}

// checkSpans takes a payload through decoding and translation in every form. What comes out is
// valid: ids, times in order, and as many spans as were decoded.
func checkSpans(t *testing.T, payload []byte) {
	before := string(payload)
	src := Source{ProjectID: "1", ProfileID: "not a uuid", IncludePII: len(payload)%2 == 0}
	if transaction, err := event.DecodeTransaction(payload); err == nil {
		want := len(transaction.Spans)
		if transaction.Root != nil {
			want++
		}
		checkValid(t, TransactionToTraces(transaction, src), want)
	}
	if span, _, err := event.DecodeSpan(payload); err == nil {
		checkValid(t, SpanToTraces(span, src), 1)
	}
	if container, err := event.DecodeSpans(payload, jsonscan.Optional[int]{}); err == nil {
		checkValid(t, SpansToTraces(container, src), len(container.Spans))
	}
	require.Equal(t, before, string(payload), "the payload was changed")
}

func checkValid(t *testing.T, out ptrace.Traces, want int) {
	require.Equal(t, want, out.SpanCount())
	for _, span := range out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		require.False(t, span.TraceID().IsEmpty())
		require.False(t, span.SpanID().IsEmpty())
		require.LessOrEqual(t, span.StartTimestamp(), span.EndTimestamp())
		require.NotEmpty(t, span.Name())
		for key := range span.Attributes().All() {
			require.NotEmpty(t, key)
		}
		for _, link := range span.Links().All() {
			require.False(t, link.TraceID().IsEmpty() || link.SpanID().IsEmpty())
		}
	}
	bytes, err := new(ptrace.ProtoMarshaler).MarshalTraces(out)
	require.NoError(t, err)
	_, err = new(ptrace.ProtoUnmarshaler).UnmarshalTraces(bytes)
	require.NoError(t, err)
}

func TestSpanSeeds(t *testing.T) {
	for _, seed := range spanSeeds {
		for cut := range len(seed) + 1 {
			checkSpans(t, []byte(seed[:cut]))
		}
	}
}

func FuzzSpans(f *testing.F) {
	for _, seed := range spanSeeds {
		f.Add([]byte(seed))
	}
	envelopes, err := filepath.Glob(filepath.Join(golden.Root(f), "testdata", "cases", "*", "in.envelope"))
	require.NoError(f, err)
	for _, name := range envelopes {
		body, err := os.ReadFile(name)
		require.NoError(f, err)
		envelope, err := sentry.ReadEnvelope(body)
		if err != nil {
			continue
		}
		for _, item := range envelope.Items {
			if item.Header.Type == sentry.ItemTransaction || item.Header.Type == sentry.ItemSpan {
				f.Add(item.Payload)
			}
		}
	}
	f.Fuzz(checkSpans)
}
