// SPDX-License-Identifier: Apache-2.0

package fromsentry

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/jsonscan"
)

const (
	inferAddress = "192.0.2.7"
	inferBrowser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
)

// TestInferUserAddress: the user of an event gets the address that ingest would set
// (relay-event-normalization/src/event.rs), only with include_pii.
func TestInferUserAddress(t *testing.T) {
	for _, test := range []struct{ platform, members, want string }{
		{"javascript", ``, inferAddress},
		{"cocoa", `,"user":{"id":"1"}`, inferAddress},
		{"objc", `,"user":{"ip_address":null}`, inferAddress},
		{"python", ``, ""},
		{"python", `,"user":{"ip_address":"{{auto}}"}`, inferAddress},
		{"python", `,"sdk":{"settings":{"infer_ip":"auto"}}`, inferAddress},
		{"python", `,"sdk":{"settings":{"infer_ip":"legacy"}},"user":{"ip_address":"{{auto}}"}`, inferAddress},
		{"python", `,"request":{"env":{"REMOTE_ADDR":"198.51.100.9"}}`, "198.51.100.9"},
		{"python", `,"request":{"env":{"REMOTE_ADDR":"no address"}}`, ""},
		{"javascript", `,"request":{"env":{"REMOTE_ADDR":"198.51.100.9"}}`, "198.51.100.9"},
		{"python", `,"sdk":{"settings":{"infer_ip":"never"}},"request":{"env":{"REMOTE_ADDR":"198.51.100.9"}}`, ""},
		{"javascript", `,"user":{"ip_address":"203.0.113.5"}`, "203.0.113.5"},
		{"javascript", `,"sdk":{"settings":{"infer_ip":"auto"}},"user":{"ip_address":"203.0.113.5"}`, "203.0.113.5"},
		{"javascript", `,"sdk":{"settings":{"infer_ip":"never"}}`, ""},
		{"javascript", `,"sdk":{"settings":{"infer_ip":"never"}},"user":{"ip_address":"{{auto}}"}`, ""},
		{"javascript", `,"sdk":{"settings":{"infer_ip":"of a later version"}}`, ""},
		{"javascript", `,"_meta":{"user":{"ip_address":{"":{"rem":[["@ip","x"]]}}}}`, ""},
	} {
		const ids = `"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8"`
		e, err := event.DecodeEvent([]byte(`{"platform":"` + test.platform + `"` + test.members + `}`))
		require.NoError(t, err)
		transaction, err := event.DecodeTransaction([]byte(`{"platform":"` + test.platform + `","start_timestamp":1777629600,"timestamp":1777629601,"contexts":{"trace":{` + ids + `}}` + test.members + `}`))
		require.NoError(t, err)
		for _, pii := range []bool{true, false} {
			src, want := Source{IncludePII: pii, ClientAddress: inferAddress}, test.want
			if !pii {
				want = ""
			}
			record := EventToLogs(e, src).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
			requireAttribute(t, record.Attributes(), "client.address", want, test.platform+test.members)
			span := TransactionToTraces(transaction, src).ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			requireAttribute(t, span.Attributes(), "client.address", want, test.platform+test.members)
		}
	}
}

// requireAttribute compares the text of an attribute; "" = absent.
func requireAttribute(t *testing.T, attrs pcommon.Map, key, want, message string) {
	t.Helper()
	value, ok := attrs.Get(key)
	require.Equal(t, want != "", ok, "%s of %s", key, message)
	if ok {
		require.Equal(t, want, value.AsString(), message)
	}
}

// TestInferElements: elements of containers get address and user agent of the request as the SDK
// asks for it (relay-server/src/processing).
func TestInferElements(t *testing.T) {
	const settings = `"version":2,"ingest_settings":{"infer_ip":"auto","infer_user_agent":"auto"},`
	type inferred struct{ address, userAgent string }
	for _, test := range []struct {
		head, attributes, userAgent string
		logs, others                inferred
	}{
		{settings, ``, inferBrowser, inferred{inferAddress, inferBrowser}, inferred{inferAddress, inferBrowser}},
		{settings, ``, "sentry.python/2.68.0", inferred{inferAddress, ""}, inferred{inferAddress, ""}},
		{settings, ``, "", inferred{inferAddress, ""}, inferred{inferAddress, ""}},
		{`"version":2,"ingest_settings":{"infer_ip":"never","infer_user_agent":"never"},`, ``, inferBrowser, inferred{}, inferred{}},
		{`"version":2,`, ``, inferBrowser, inferred{}, inferred{}},
		{`"version":3,"ingest_settings":{"infer_ip":"auto","infer_user_agent":"auto"},`, ``, inferBrowser, inferred{}, inferred{}},
		{``, ``, inferBrowser, inferred{"", inferBrowser}, inferred{}},
		{`"version":1,`, ``, inferBrowser, inferred{"", inferBrowser}, inferred{}},
		{``, `"client.address":{"type":"string","value":"{{auto}}"}`, inferBrowser, inferred{inferAddress, inferBrowser}, inferred{inferAddress, ""}},
		{settings, `"client.address":{"type":"string","value":"203.0.113.5"},"user_agent.original":{"type":"string","value":"own"}`, inferBrowser,
			inferred{"203.0.113.5", "own"}, inferred{"203.0.113.5", "own"}},
	} {
		src := Source{IncludePII: true, ClientAddress: inferAddress, UserAgent: test.userAgent}
		const trace = `"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8"`
		payload := func(element string) []byte {
			return []byte(`{` + test.head + `"items":[{` + element + `,"attributes":{` + test.attributes + `}}]}`)
		}
		check := func(attrs pcommon.Map, want inferred) {
			t.Helper()
			requireAttribute(t, attrs, "client.address", want.address, test.head+test.attributes)
			requireAttribute(t, attrs, "user_agent.original", want.userAgent, test.head+test.attributes)
		}
		logs, err := event.DecodeLogs(payload(`"timestamp":1777629600,"body":"b",`+trace), jsonscan.Optional[int]{})
		require.NoError(t, err)
		record := LogsToLogs(logs, src).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		check(record.Attributes(), test.logs)
		src.IncludePII = false
		record = LogsToLogs(logs, src).ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0)
		check(record.Attributes(), inferred{"", test.logs.userAgent})
		src.IncludePII = true

		spans, err := event.DecodeSpans(payload(`"start_timestamp":1777629600,"end_timestamp":1777629601,"name":"n","status":"ok",`+trace), jsonscan.Optional[int]{})
		require.NoError(t, err)
		span := SpansToTraces(spans, src).ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
		check(span.Attributes(), test.others)

		// On the data point, each client would be a series.
		metrics, err := event.DecodeTraceMetrics(payload(`"timestamp":1777629600,"name":"m","type":"gauge","value":1,`+trace), jsonscan.Optional[int]{})
		require.NoError(t, err)
		point := traceMetrics(metrics, src).ResourceMetrics().At(0).ScopeMetrics().At(0).Metrics().At(0).Gauge().DataPoints().At(0)
		all := pcommon.NewMap()
		point.Exemplars().At(0).FilteredAttributes().CopyTo(all)
		if test.attributes == "" {
			require.Zero(t, point.Attributes().Len())
		}
		for key, value := range point.Attributes().All() {
			value.CopyTo(all.PutEmpty(key))
		}
		check(all, test.others)
	}
}

// TestInferSpan: ingest infers both for standalone spans in the old format.
func TestInferSpan(t *testing.T) {
	span, _, err := event.DecodeSpan([]byte(`{"trace_id":"53295a878b574a5665399b12b6f1d7fb","span_id":"65b086720141d1a8","start_timestamp":1777629600,"timestamp":1777629601}`))
	require.NoError(t, err)
	attrs := SpanToTraces(span, Source{IncludePII: true, ClientAddress: inferAddress, UserAgent: inferBrowser}).ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes()
	requireAttribute(t, attrs, "client.address", inferAddress, "span")
	requireAttribute(t, attrs, "user_agent.original", inferBrowser, "span")
}

// TestInferenceIsBounded: a short container cannot repeat a long user agent without limit.
func TestInferenceIsBounded(t *testing.T) {
	c, err := event.DecodeLogs([]byte(`{"version":2,"ingest_settings":{"infer_user_agent":"auto"},"items":[{"body":1}`+strings.Repeat(`,{"body":1}`, 2999)+`]}`), jsonscan.Optional[int]{})
	require.NoError(t, err)
	logs := LogsToLogs(c, Source{UserAgent: inferBrowser + strings.Repeat("x", 10_000)})
	completed := 0
	for _, record := range logs.ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().All() {
		if value, ok := record.Attributes().Get("user_agent.original"); ok {
			completed++
			require.LessOrEqual(t, len(value.Str()), maxUserAgent+len("…"))
		}
	}
	require.Equal(t, maxCompleted, completed)
}
