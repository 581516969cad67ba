// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
	"github.com/otelcol-sentry/otelcol-sentry/internal/translate/attr"
)

// marshalled is how large everything is that the pipelines were given.
func (s *signals) marshalled() (size int) {
	for _, logs := range s.logs.AllLogs() {
		size += new(plog.ProtoMarshaler).LogsSize(logs)
	}
	for _, traces := range s.traces.AllTraces() {
		size += new(ptrace.ProtoMarshaler).TracesSize(traces)
	}
	for _, metrics := range s.points.AllMetrics() {
		size += new(pmetric.ProtoMarshaler).MetricsSize(metrics)
	}
	return size
}

// TestOneLongManyItems: a text of the envelope or of the request is copied for each of its items.
func TestOneLongManyItems(t *testing.T) {
	long := strings.Repeat("x", sentry.MaxHeaderBytes-500)
	items := func(one string) string { return strings.Repeat(one, sentry.MaxEnvelopeItems) }
	for name, body := range map[string]string{
		"release, attachments":     `{"trace":{"release":"shop@` + long + `"}}` + "\n" + items(item("attachment", "", "")),
		"environment, attachments": `{"trace":{"environment":"` + long + `"}}` + "\n" + items(item("attachment", "", "")),
		"sdk name, attachments":    `{"sdk":{"name":"` + long + `","version":"1"}}` + "\n" + items(item("attachment", "", "")),
		"sdk version, sessions":    `{"sdk":{"name":"n","version":"` + long + `"}}` + "\n" + items(item("session", "", session)),
		"event id, feedback":       `{"event_id":"` + long + `"}` + "\n" + items(item("feedback", "", `{}`)),
		"profile id, transactions": "{}\n" + item("profile", "", strings.Replace(goodProfile, "0f3cb15cce4a4e5d9d5b0f1c3b7a1e20", long, 1)) +
			items(item("transaction", "", fullTransaction))[:sentry.MaxEnvelopeItems/2*len(item("transaction", "", fullTransaction))],
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			require.Equal(t, http.StatusOK, s.post(body).status)
			assert.Positive(t, s.marshalled())
			assert.LessOrEqual(t, s.marshalled(), attr.MaxGrowth*len(body)+sentry.MaxEnvelopeItems*attr.MaxOverhead/2)
		})
	}
	reports := []byte("[{}" + strings.Repeat(",{}", sentry.MaxEnvelopeItems-1) + "]")
	for name, request := range map[string]struct{ query, contentType string }{
		"sentry_release":     {"&sentry_release=" + url.QueryEscape("shop@"+long), "application/csp-report"},
		"sentry_environment": {"&sentry_environment=" + long, "application/csp-report"},
		"sentry_client":      {"&sentry_client=" + long + "/1", "application/csp-report"},
		"content type":       {"", long},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			require.Equal(t, http.StatusOK, s.postTo("/api/42/security/?sentry_key="+testKey+request.query, request.contentType, reports).status)
			assert.Equal(t, sentry.MaxEnvelopeItems, s.logs.LogRecordCount())
			assert.LessOrEqual(t, s.marshalled(), attr.MaxGrowth*len(reports)+sentry.MaxEnvelopeItems*attr.MaxOverhead/2)
		})
	}
}
