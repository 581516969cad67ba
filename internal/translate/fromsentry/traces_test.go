// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/discard"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

const smallTransaction = `{"type":"transaction","event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e6","transaction":"GET /cart",
 "transaction_info":{"source":"route"},"start_timestamp":"2026-05-01T10:00:00.123456789Z","timestamp":1777629600.5,
 "platform":"python","release":"shop@1.2","dist":"7","environment":"prod","server_name":"web-1",
 "sdk":{"name":"sentry.python","version":"2.68.0"},"tags":[["tier","web"]],"extra":{"argv":["a","b"]},
 "user":{"id":42,"email":"jane@example.com","ip_address":"10.1.2.3"},
 "request":{"url":"http://x/cart","method":"GET","headers":{"Cookie":"a=b","Accept":"*/*"},"cookies":"a=b","env":{"REMOTE_ADDR":"10.1.2.3"}},
 "measurements":{"lcp":{"value":80,"unit":"millisecond"}},
 "contexts":{"runtime":{"name":"CPython","version":"3.13"},"profile":{"profiler_id":"1C6F0E4F-0B2A-4C3D-8E9F-00112233AABB"},
  "trace":{"trace_id":"8A5C1BFA0E1A4F3AB5F1D2C3B4A59687","span_id":"6f1b2c3d4e5f6071","parent_span_id":null,"op":"http.server",
   "origin":"auto.http.wsgi","status":"ok","description":"GET","data":{"thread.id":"140213","thread.name":"main","big":18446744073709551616,
    "net.peer.ip":"10.1.2.3","nested":{"a":[1,2.5,"x",true,null]}},
   "links":[{"trace_id":"de49e229d6054aa8b18955e520c7fcb4","span_id":"b3e95f6b2d4cbfaa","sampled":true,"attributes":{"sentry.link.type":"previous_trace"}}]}},
 "spans":[
  {"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"aa1b2c3d4e5f6071","parent_span_id":"6f1b2c3d4e5f6071","op":"db",
   "description":"SELECT 1","status":"not_found","start_timestamp":1777629600.2,"timestamp":1777629600.3000001,"tags":{"hit":"no"}},
  {"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"0000000000000000","op":"lost","start_timestamp":1,"timestamp":2},
  {"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"bb1b2c3d4e5f6071","parent_span_id":"aa1b2c3d4e5f6071","op":"task",
   "start_timestamp":1777629600.4,"timestamp":1777629600.3,"profiler_id":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","data":{"thread.id":7}}]}`

const smallContainer = `{"version":2,"items":[
 {"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","name":"GET /cart","status":"ok","is_segment":true,
  "start_timestamp":1777629600.0,"end_timestamp":1777629600.25,"attributes":{"sentry.op":{"type":"string","value":"http.server"},
   "sentry.release":{"type":"string","value":"shop@1.2"},"sentry.environment":{"type":"string","value":"prod"},
   "sentry.sdk.name":{"type":"string","value":"sentry.javascript.node"},"sentry.sdk.version":{"type":"string","value":"11.1.0"},
   "sentry.profiler_id":{"type":"string","value":"1C6F0E4F0B2A4C3D8E9F00112233AABB"},"thread.id":{"type":"string","value":"0"},
   "client.address":{"type":"string","value":"10.1.2.3"},"size":{"type":"integer","value":"9007199254740993","unit":"byte"},
   "ratio":{"type":"double","value":1},"list":{"type":"array","value":["a",1]}}},
 {"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"aa1b2c3d4e5f6071","parent_span_id":"cc1b2c3d4e5f6071","name":"query","status":"error",
  "start_timestamp":"2026-05-01T10:00:00.1Z","end_timestamp":1777629600.2,"attributes":{"sentry.release":{"type":"string","value":"other@2"},
   "sentry.segment.id":{"type":"string","value":"dd1b2c3d4e5f6071"},"sentry.kind":{"type":"string","value":"client"},
   "sentry.status.message":{"type":"string","value":"timeout"}},
  "links":[{"trace_id":"de49e229d6054aa8b18955e520c7fcb4","span_id":"b3e95f6b2d4cbfaa","sampled":false,"attributes":{"n":{"type":"integer","value":3}}}]},
 {"trace_id":"8a5c1bfa","span_id":"bb1b2c3d4e5f6071","name":"lost","status":"ok","start_timestamp":1,"end_timestamp":2}]}`

const smallSpan = `{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"b46a0d5e3520fdfe","op":"ui.interaction.click","description":"body > h1",
 "start_timestamp":1777629600.8996,"timestamp":1777629600.9076,"origin":"auto.http.browser.inp","exclusive_time":8,"is_segment":true,
 "segment_id":"b46a0d5e3520fdfe","measurements":{"inp":{"value":8,"unit":"millisecond"}},
 "data":{"release":"shop@3.2.0","environment":"prod","sentry.exclusive_time":8,"replay_id":"x"}}`

// spansInWords is a readable form of traces: a line for the resource, then per span a head and its
// attributes by name.
func spansInWords(out ptrace.Traces) string {
	var b strings.Builder
	resource := out.ResourceSpans().At(0)
	fmt.Fprintf(&b, "resource %s\n", mapInWords(resource.Resource().Attributes()))
	scope := resource.ScopeSpans().At(0)
	fmt.Fprintf(&b, "scope %s %s\n", scope.Scope().Name(), scope.Scope().Version())
	for _, s := range scope.Spans().All() {
		fmt.Fprintf(&b, "%s %q %s < %s, %d + %d, %s %s\n", s.Kind(), s.Name(), s.SpanID(), s.ParentSpanID(), s.StartTimestamp(),
			s.EndTimestamp()-s.StartTimestamp(), s.Status().Code(), s.Status().Message())
		fmt.Fprintf(&b, "  %s\n", mapInWords(s.Attributes()))
		for _, link := range s.Links().All() {
			fmt.Fprintf(&b, "  link %s %s %d %s\n", link.TraceID(), link.SpanID(), link.Flags(), mapInWords(link.Attributes()))
		}
	}
	return b.String()
}

func mapInWords(m pcommon.Map) string {
	var words []string
	for key, value := range m.All() {
		text := value.AsString()
		if value.Type() == pcommon.ValueTypeStr {
			text = fmt.Sprintf("%q", text)
		}
		words = append(words, key+"="+text)
	}
	sort.Strings(words)
	return strings.Join(words, " ")
}

func TestTransactionInWords(t *testing.T) {
	transaction, err := event.DecodeTransaction([]byte(smallTransaction))
	require.NoError(t, err)
	require.Equal(t, []discard.Loss{{Reason: event.ReasonSpanInvalidID, Count: 1}}, transaction.Lost)
	require.Equal(t, []discard.Flaw{{Field: "spans.span_id", Count: 1}, {Field: "end_before_start", Count: 1}}, transaction.Flaws)

	out := TransactionToTraces(transaction, Source{ProjectID: "42", ProfileID: "0F3CB15CCE4A4E5D9D5B0F1C3B7A1E20"})
	golden.CompareFile(t, "testdata/words/transaction.txt", spansInWords(out))
}

func TestContainerInWords(t *testing.T) {
	container, err := event.DecodeSpans([]byte(smallContainer), jsonscan.Some(2))
	require.NoError(t, err)
	require.Equal(t, []discard.Loss{{Reason: event.ReasonSpanInvalidID, Count: 1}}, container.Lost)
	require.Equal(t, []discard.Flaw{{Field: "trace_id", Count: 1}, {Field: "item_count", Count: 1}}, container.Flaws)
	golden.CompareFile(t, "testdata/words/container.txt", spansInWords(SpansToTraces(container, Source{ProjectID: "42"})))
}

func TestStandaloneSpanInWords(t *testing.T) {
	span, flaws, err := event.DecodeSpan([]byte(smallSpan))
	require.NoError(t, err)
	require.Empty(t, flaws)
	src := Source{ProjectID: "42", SDK: sentry.ClientSDK{Name: "sentry.javascript.browser", Version: "10.78.0"}}
	golden.CompareFile(t, "testdata/words/span.txt", spansInWords(SpanToTraces(span, src)))
}

// TestPersonalDataOfSpans: nothing of it without the option, all of it with.
func TestPersonalDataOfSpans(t *testing.T) {
	transaction, err := event.DecodeTransaction([]byte(smallTransaction))
	require.NoError(t, err)
	container, err := event.DecodeSpans([]byte(smallContainer), jsonscan.Optional[int]{})
	require.NoError(t, err)
	for _, include := range []bool{false, true} {
		src := Source{ProjectID: "42", IncludePII: include}
		text := spansInWords(TransactionToTraces(transaction, src))
		for _, personal := range []string{"jane@example.com", "net.peer.ip", "client.address", "a=b", "REMOTE_ADDR"} {
			require.Equal(t, include, strings.Contains(text, personal), personal)
		}
		require.Equal(t, include, strings.Contains(spansInWords(SpansToTraces(container, src)), "client.address"))
	}
}

// TestRootThatCannotBeUsed: its children survive, and without children there is nothing.
func TestRootThatCannotBeUsed(t *testing.T) {
	const child = `{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"aa1b2c3d4e5f6071","start_timestamp":1}`
	transaction, err := event.DecodeTransaction([]byte(`{"timestamp":2,"spans":[` + child + `]}`))
	require.NoError(t, err)
	require.Nil(t, transaction.Root)
	require.Equal(t, []discard.Loss{{Reason: event.ReasonSpanInvalidID, Count: 1}}, transaction.Lost)
	require.Equal(t, []discard.Flaw{{Field: "end_timestamp_missing", Count: 1}}, transaction.Flaws)
	require.Equal(t, 1, TransactionToTraces(transaction, Source{ProjectID: "1"}).SpanCount())

	for payload, reason := range map[string]discard.Reason{
		`{"timestamp":2}`: event.ReasonSpanInvalidID,
		`{"contexts":{"trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"aa1b2c3d4e5f6071"}}}`: event.ReasonSpanNoTime,
		`[]`:  jsonscan.ReasonMalformed,
		`{"a`: jsonscan.ReasonMalformed,
	} {
		var discarded *discard.Error
		_, err := event.DecodeTransaction([]byte(payload))
		require.ErrorAs(t, err, &discarded, payload)
		require.Equal(t, reason, discarded.Reason, payload)
	}
}

// TestFieldOfTheWrongTypeCostsItselfOnly breaks each field of a span in turn.
func TestFieldOfTheWrongTypeCostsItselfOnly(t *testing.T) {
	for _, field := range []string{
		"parent_span_id", "op", "description", "status", "origin", "kind", "platform", "exclusive_time", "is_segment", "is_remote",
		"segment_id", "profile_id", "profiler_id", "data", "tags", "measurements", "links",
	} {
		payload := strings.Replace(smallSpan, `"op":`, `"`+field+`":[7],"op":`, 1)
		if field == "links" {
			payload = strings.Replace(smallSpan, `"op":`, `"links":{},"op":`, 1)
		}
		span, flaws, err := event.DecodeSpan([]byte(payload))
		require.NoError(t, err, field)
		require.NotEmpty(t, flaws, field)
		require.Equal(t, "b46a0d5e3520fdfe", span.SpanID, field)
	}
}

func TestSpanKind(t *testing.T) {
	for _, test := range []struct {
		stated, op string
		want       ptrace.SpanKind
	}{
		{"", "", ptrace.SpanKindUnspecified},
		{"", "http.server", ptrace.SpanKindServer},
		{"", "http.client", ptrace.SpanKindClient},
		{"", "http.client.prefetch", ptrace.SpanKindClient},
		{"", "http.clientele", ptrace.SpanKindInternal},
		{"", "db", ptrace.SpanKindClient},
		{"", "db.redis", ptrace.SpanKindClient},
		{"", "dbx", ptrace.SpanKindInternal},
		{"", "queue.publish", ptrace.SpanKindProducer},
		{"", "queue.submit.celery", ptrace.SpanKindProducer},
		{"", "queue.process", ptrace.SpanKindConsumer},
		{"", "queue.task.celery", ptrace.SpanKindConsumer},
		{"", "pageload", ptrace.SpanKindInternal},
		{"SERVER", "", ptrace.SpanKindServer},
		{"internal", "db", ptrace.SpanKindInternal},
		{"nonsense", "db", ptrace.SpanKindClient},
	} {
		require.Equal(t, test.want, spanKind(test.stated, test.op), "%+v", test)
	}
}

func TestSpanStatus(t *testing.T) {
	for _, test := range []struct{ sent, message, want string }{
		{"", "", "Unset "}, {"unset", "", "Unset "}, {"ok", "", "Ok "}, {"0", "", "Ok "}, {"success", "", "Ok "}, {"OK", "", "Ok "},
		{"not_found", "", "Error not_found"}, {"5", "", "Error not_found"}, {"cancelled", "", "Error cancelled"},
		{"unknown", "", "Error unknown"}, {"unknown_error", "", "Error internal_error"}, {"2", "", "Error unknown"}, {"failure", "", "Error internal_error"},
		{"error", "", "Error "}, {"error", "timeout", "Error timeout"}, {"99", "", "Error 99"}, {"custom", "", "Error custom"},
	} {
		status := ptrace.NewStatus()
		setStatus(status, test.sent, test.message)
		require.Equal(t, test.want, status.Code().String()+" "+status.Message(), "%+v", test)
	}
}

// TestSpanProfiling: own data, else the trace's data, else the profile context; a thread's name
// never goes with another id.
func TestSpanProfiling(t *testing.T) {
	all := attr.Profiling{Profiler: "p", Profile: "v", Thread: "1", Name: "main"}
	for _, test := range []struct {
		own, want attr.Profiling
	}{
		{attr.Profiling{}, all},
		{attr.Profiling{Thread: "1"}, all},
		{attr.Profiling{Thread: "2"}, attr.Profiling{Profiler: "p", Profile: "v", Thread: "2"}},
		{attr.Profiling{Name: "worker"}, attr.Profiling{Profiler: "p", Profile: "v", Name: "worker"}},
		{attr.Profiling{Profiler: "q"}, attr.Profiling{Profiler: "q", Profile: "v", Thread: "1", Name: "main"}},
	} {
		require.Equal(t, test.want, test.own.Or(all))
	}
}
