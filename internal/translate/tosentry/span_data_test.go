// SPDX-License-Identifier: Apache-2.0

package tosentry

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry/event"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/fakesentry"
)

// TestSpanDataIsScalar: ingest stores all data of OpenTelemetry's spans without an error.
func TestSpanDataIsScalar(t *testing.T) {
	traces := otelTraces()
	spans := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	for i := range spans.Len() {
		attrs := spans.At(i).Attributes()
		attrs.PutEmptySlice("http.request.header.accept").AppendEmpty().SetStr("text/html")
		attrs.PutEmptySlice("http.response.header.vary").AppendEmpty().SetStr("origin")
		attrs.PutEmptyMap("map").PutInt("n", 1)
	}
	out := TracesToTransactions(traces, exportOptions)
	require.Empty(t, fakesentry.DataErrors(&out.Items[0].Item))
	sent, err := event.DecodeTransaction(out.Items[0].Payload)
	require.NoError(t, err)
	require.Equal(t, []event.Tag{{Key: "accept", Value: "text/html"}}, sent.Request.Headers)
	dataOf := func(data []event.NamedValue) map[string]string {
		all := map[string]string{}
		for _, value := range data {
			all[value.Name] = string(value.Value)
		}
		return all
	}
	root, child := dataOf(sent.Root.Data), dataOf(sent.Spans[0].Data)
	require.NotContains(t, root, "http.request.header.accept", "it is in the request")
	require.Equal(t, `"[\"origin\"]"`, root["http.response.header.vary"])
	require.Equal(t, `"{\"n\":1}"`, root["map"])
	require.Equal(t, `"[\"text/html\"]"`, child["http.request.header.accept"])
}

// TestBrowserSpansKeepTheirCategory: ingest derives it from an attribute that is also a field.
func TestBrowserSpansKeepTheirCategory(t *testing.T) {
	for _, origin := range []string{browserMetrics, "auto.http.browser"} {
		traces := otelTraces()
		spans := traces.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
		for i := range spans.Len() {
			spans.At(i).Attributes().PutStr("sentry.origin", origin)
		}
		sent, err := event.DecodeTransaction(TracesToTransactions(traces, exportOptions).Items[0].Payload)
		require.NoError(t, err)
		require.Equal(t, origin, sent.Spans[0].Origin)
		require.Equal(t, origin == browserMetrics, dataOf(&sent.Spans[0], "sentry.origin") != nil)
	}
}
