// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	sentryevent "github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// TestPersonalDataInSpans: cookies and credentials stay behind however deep they are, and also
// where an object is too large to be taken apart.
func TestPersonalDataInSpans(t *testing.T) {
	members := []string{`"HTTP_COOKIE":"secret-7"`}
	for i := range 2 * attr.MaxMembers {
		members = append(members, fmt.Sprintf(`"key-%d":%d`, i, i))
	}
	transaction, err := sentryevent.DecodeTransaction([]byte(`{"type":"transaction","start_timestamp":1777629599.5,"timestamp":1777629600.5,
	 "user":{"id":"17","email":"secret-1@example.com","ip_address":"203.0.113.77","data":{"email":"secret-8"}},
	 "request":{"url":"http://x/","cookies":"a=secret-2","headers":{"Authorization":"secret-3","Accept":"visible-1"},"env":{"REMOTE_ADDR":"203.0.113.77"}},
	 "extra":{"environ":{"HTTP_COOKIE":"secret-4"},"user":{"id":"visible-3","email":"secret-9","ip_address":"203.0.113.77"},
	  "request":{"cookies":{"sid":"secret-10"}},"large":{` + strings.Join(members, ",") + `}},
	 "contexts":{"user":{"email":"secret-11"},"custom":{"y":{"Authorization":"secret-5","kept":"visible-2"}},
	  "trace":{"trace_id":"8a5c1bfa0e1a4f3ab5f1d2c3b4a59687","span_id":"6f1b2c3d4e5f6071","data":{"call":{"cookie":"secret-6"}}}}}`))
	require.NoError(t, err)
	for _, include := range []bool{false, true} {
		marshaler := ptrace.JSONMarshaler{}
		text, err := marshaler.MarshalTraces(TransactionToTraces(transaction, Source{ProjectID: "1", IncludePII: include}))
		require.NoError(t, err)
		for i := range 11 {
			secret := fmt.Sprintf("secret-%d", i+1)
			require.Equal(t, include, regexp.MustCompile(secret+`\b`).Match(text), secret)
		}
		require.Equal(t, include, strings.Contains(string(text), "203.0.113.77"))
		require.Contains(t, string(text), "visible-1")
		require.Contains(t, string(text), "visible-2")
		require.Contains(t, string(text), "visible-3")
	}
}

// TestPersonalDataInLists: headers are pairs, objects with a name and a value, a flat list, or JSON
// in a text.
func TestPersonalDataInLists(t *testing.T) {
	for name, c := range map[string]struct{ sent, want string }{
		"pairs":            {`[["Cookie","secret"],["Accept","kept"],["HTTP_AUTHORIZATION","secret"]]`, `[["Accept","kept"]]`},
		"pairs in a map":   {`{"headers":[["cookie","secret"],["a","kept"]]}`, `{"headers":[["a","kept"]]}`},
		"no pairs":         {`[["cookie","kept","kept"],["cookie"],["banana","cookie"]]`, `[["cookie","kept","kept"],["cookie"],["banana","cookie"]]`},
		"flat":             {`["Host","kept","Cookie","secret"]`, `["Host","kept","Cookie","[Filtered]"]`},
		"names only":       {`["Accept","Cookie","Host"]`, `["Accept","Cookie","Host"]`},
		"name and value":   {`[{"name":"Cookie","value":"secret"},{"name":"Accept","value":"kept"}]`, `[{"name":"Cookie"},{"name":"Accept","value":"kept"}]`},
		"Key and Values":   {`{"Key":"x-forwarded-for","Values":["secret"],"n":1}`, `{"Key":"x-forwarded-for","n":1}`},
		"JSON text":        {`"{\"headers\":{\"Authorization\":\"secret\",\"Accept\":\"kept\"}}"`, `"{\"headers\":{\"Accept\":\"kept\"}}"`},
		"JSON list":        {`" [[\"Cookie\",\"secret\"],[\"Accept\",\"kept\"]]"`, `"[[\"Accept\",\"kept\"]]"`},
		"JSON in JSON":     {`"{\"body\":\"{\\\"cookie\\\":\\\"secret\\\"}\"}"`, `"{\"body\":\"{}\"}"`},
		"user in JSON":     {`"{\"user\":{\"email\":\"secret\",\"id\":1}}"`, `"{\"user\":{\"id\":1}}"`},
		"JSON as it was":   {`"{ \"flavour\": \"cookie\" }"`, `"{ \"flavour\": \"cookie\" }"`},
		"no JSON":          {`"[Filtered] cookie"`, `"[Filtered] cookie"`},
		"JSON too deep":    {`"` + strings.Repeat("[", 1000) + `cookie"`, `"` + strings.Repeat("[", 1000) + `cookie"`},
		"name of a person": {`{"name":"Ann","value":"kept"}`, `{"name":"Ann","value":"kept"}`},
	} {
		value := pcommon.NewValueEmpty()
		attr.SetJSON(value, []byte(c.sent))
		attr.RemovePersonalIn(value)
		require.JSONEq(t, c.want, string(attr.JsonOf(value)), name)
	}
}

// TestPersonalDataInListsOfAllSignals: the rule holds wherever attributes are.
func TestPersonalDataInListsOfAllSignals(t *testing.T) {
	const headers = `[["Cookie","secret"]]`
	attributes := []sentryevent.Attribute{{Key: "k", Value: []byte(headers)}, {Key: "j", Value: []byte(`"{\"cookie\":\"secret\"}"`)}}
	event := sentryevent.ErrorEvent{Extra: []byte(`{"k":` + headers + `}`), Request: &sentryevent.HTTPRequest{Data: []byte(`"{\"cookie\":\"secret\"}"`)}}
	for _, include := range []bool{false, true} {
		src := Source{ProjectID: "1", IncludePII: include}
		traces, _ := new(ptrace.JSONMarshaler).MarshalTraces(TransactionToTraces(&sentryevent.Transaction{ErrorEvent: event, Root: &sentryevent.Span{}}, src))
		spans, _ := new(ptrace.JSONMarshaler).MarshalTraces(SpansToTraces(&sentryevent.SpanContainer{Spans: []sentryevent.StreamedSpan{{Attributes: attributes}}}, src))
		events, _ := new(plog.JSONMarshaler).MarshalLogs(EventToLogs(&event, src))
		logs, _ := new(plog.JSONMarshaler).MarshalLogs(LogsToLogs(&sentryevent.LogContainer{Logs: []sentryevent.Log{{Attributes: attributes}}}, src))
		metrics, _ := new(pmetric.JSONMarshaler).MarshalMetrics(traceMetrics(
			&sentryevent.MetricContainer{Metrics: []sentryevent.TraceMetric{{Type: sentryevent.MetricGauge, Attributes: attributes}}}, src))
		for i, text := range [][]byte{traces, spans, events, logs, metrics} {
			require.Equal(t, include, strings.Contains(string(text), "secret"), "%d: %s", i, text)
		}
	}
}
