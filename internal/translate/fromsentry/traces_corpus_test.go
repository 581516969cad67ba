// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/semconv"
)

// sentSpan is a span as encoding/json reads it: what the translation is held against.
type sentSpan struct {
	TraceID  string          `json:"trace_id"`
	SpanID   string          `json:"span_id"`
	ParentID string          `json:"parent_span_id"`
	Start    json.RawMessage `json:"start_timestamp"`
	End      json.RawMessage `json:"timestamp"`
	EndV2    json.RawMessage `json:"end_timestamp"`
	Name     string          `json:"name"`
}

// instantOf reads a time exactly, by rational arithmetic.
func instantOf(t *testing.T, raw json.RawMessage) uint64 {
	t.Helper()
	if raw[0] == '"' {
		var text string
		require.NoError(t, json.Unmarshal(raw, &text))
		instant, err := time.Parse(time.RFC3339Nano, text)
		require.NoError(t, err)
		return uint64(instant.UnixNano())
	}
	seconds, ok := new(big.Rat).SetString(string(raw))
	require.True(t, ok)
	nanos := seconds.Mul(seconds, big.NewRat(1_000_000_000, 1))
	nanos.Add(nanos, big.NewRat(1, 2))
	return new(big.Int).Quo(nanos.Num(), nanos.Denom()).Uint64()
}

// compareSpans holds spans against what was sent: by id, with parents and times.
func compareSpans(t *testing.T, name string, out ptrace.Traces, sent []sentSpan) {
	t.Helper()
	require.Equal(t, len(sent), out.SpanCount(), name)
	require.Equal(t, 1, out.ResourceSpans().Len(), name)
	service, ok := out.ResourceSpans().At(0).Resource().Attributes().Get(semconv.ServiceName)
	require.True(t, ok && service.Str() != "", name)
	got := map[string]ptrace.Span{}
	for _, span := range out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
		got[span.TraceID().String()+span.SpanID().String()] = span
	}
	for _, s := range sent {
		span, found := got[s.TraceID+s.SpanID]
		require.True(t, found, "%s: span %s", name, s.SpanID)
		delete(got, s.TraceID+s.SpanID)
		require.Equal(t, s.ParentID, span.ParentSpanID().String(), name)
		end := s.End
		if end == nil {
			end = s.EndV2
		}
		require.Equal(t, instantOf(t, s.Start), uint64(span.StartTimestamp()), "%s: start of %s", name, s.SpanID)
		require.Equal(t, max(instantOf(t, end), instantOf(t, s.Start)), uint64(span.EndTimestamp()), "%s: end of %s", name, s.SpanID)
		require.NotEmpty(t, span.Name(), name)
	}
	require.Empty(t, got, name)
}

// TestTracesCorpus translates every recorded transaction and span item: spans out are spans in, by
// id, each under its parent and at its exact times; and who was profiled says so.
func TestTracesCorpus(t *testing.T) {
	counts := map[string]int{}
	for _, request := range recordings(t) {
		envelope := request.envelope
		if envelope == nil {
			continue
		}
		for _, item := range envelope.Items {
			src := Source{ProjectID: "4507", EventID: envelope.Header.EventID, SDK: sentry.ClientSDK(envelope.Header.SDK)}
			var out ptrace.Traces
			var sent []sentSpan
			switch {
			case item.Header.Type == sentry.ItemTransaction:
				out, sent = recordedTransaction(t, request.Name, item.Payload, src, counts)
			case item.Header.Type == sentry.ItemSpan && item.Header.ContentType == sentry.ContentTypeSpans:
				var container struct{ Items []sentSpan }
				require.NoError(t, json.Unmarshal(item.Payload, &container))
				sent = container.Items
				c, err := event.DecodeSpans(item.Payload, item.Header.ItemCount)
				require.NoError(t, err, request.Name)
				require.Empty(t, c.Lost, request.Name)
				require.Empty(t, c.Flaws, request.Name)
				out = SpansToTraces(c, src)
				counts["containers"]++
			case item.Header.Type == sentry.ItemSpan:
				sent = make([]sentSpan, 1)
				require.NoError(t, json.Unmarshal(item.Payload, &sent[0]))
				s, flaws, err := event.DecodeSpan(item.Payload)
				require.NoError(t, err, request.Name)
				require.Empty(t, flaws, request.Name)
				out = SpanToTraces(s, src)
				counts["standalone"]++
			default:
				continue
			}
			compareSpans(t, request.Name, out, sent)
			checkNothingPersonal(t, request.Name, out)
			counts["spans"] += len(sent)
			for _, span := range out.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
				if _, ok := span.Attributes().Get(semconv.SentryProfilerID); ok {
					counts["with profiler"]++
				}
			}
		}
	}
	requireCounts(t, map[string]int{
		"transactions": 360, "containers": 58, "standalone": 2, "spans": 4349, "with profiler": 1490,
	}, counts)
}

func recordedTransaction(t *testing.T, name string, payload []byte, src Source, counts map[string]int) (ptrace.Traces, []sentSpan) {
	var transaction struct {
		sentSpan
		Transaction string
		Contexts    struct {
			Trace   sentSpan
			Profile struct {
				ProfilerID string `json:"profiler_id"`
			}
		}
		Spans []sentSpan
	}
	require.NoError(t, json.Unmarshal(payload, &transaction))
	root := transaction.Contexts.Trace
	root.Start, root.End = transaction.Start, transaction.End

	decoded, err := event.DecodeTransaction(payload)
	require.NoError(t, err, name)
	require.Empty(t, decoded.Lost, name)
	for _, flaw := range decoded.Flaws {
		require.Equal(t, discard.Flaw{Field: event.FieldUnmapped, Count: 1, Keys: "_metrics_summary"}, flaw, name) // Node 8
	}
	out := TransactionToTraces(decoded, src)
	spans := out.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	require.Equal(t, transaction.Transaction, spans.At(0).Name(), name)
	if profiler := transaction.Contexts.Profile.ProfilerID; profiler != "" {
		for _, span := range spans.All() {
			got, ok := span.Attributes().Get(semconv.SentryProfilerID)
			require.True(t, ok, name)
			require.Equal(t, profiler, got.Str(), name)
		}
	}
	for _, span := range spans.All() {
		segment, _ := span.Attributes().Get(semconv.SentrySegmentID)
		require.Equal(t, root.SpanID, segment.Str(), name)
	}
	counts["transactions"]++
	return out, append([]sentSpan{root}, transaction.Spans...)
}

// checkNothingPersonal looks for the personal values that the recorded programs work with.
func checkNothingPersonal(t *testing.T, name string, out ptrace.Traces) {
	text, err := new(ptrace.JSONMarshaler).MarshalTraces(out)
	require.NoError(t, err)
	for _, personal := range []string{"jane@example.com", `"client.address"`, `"user.ip_address"`} {
		require.False(t, strings.Contains(string(text), personal), "%s: %s", name, personal)
	}
}
