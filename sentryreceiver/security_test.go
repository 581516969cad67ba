// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

const (
	cspReport = `{"csp-report":{"document-uri":"https://shop.example/secret","violated-directive":"img-src"}}`
	nelReport = `{"age":1200,"type":"network-error","url":"https://shop.example/secret","body":{"type":"tcp.timed_out"}}`
)

func TestReports(t *testing.T) {
	for name, test := range map[string]struct {
		path, contentType, body string
		item                    sentry.ItemType
		records                 int
	}{
		"security":               {"/api/42/security/", "application/csp-report", cspReport, "raw_security", 1},
		"csp-report":             {"/api/42/csp-report/", "application/csp-report", cspReport, "raw_security", 1},
		"nel":                    {"/api/42/nel/", "application/reports+json", "[" + nelReport + "," + nelReport + "]", "nel", 2},
		"one of nel":             {"/api/42/nel/", "application/reports+json", nelReport, "nel", 1},
		"by the Reporting API":   {"/api/42/security/", "application/reports+json", "[" + cspReport + ", " + cspReport + "]\n", "raw_security", 2},
		"none":                   {"/api/42/nel/", "application/reports+json", "[]", "nel", 0},
		"security without slash": {"/api/42/security", "text/plain", cspReport, "raw_security", 1},
		"csp without slash":      {"/api/42/csp-report", "", cspReport, "raw_security", 1},
		"nel without slash":      {"/api/42/nel", "", "[" + nelReport + "]", "nel", 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			got := s.postTo(test.path+"?sentry_key="+testKey+"&sentry_release=shop%403.1.0&sentry_environment=prod", test.contentType, []byte(test.body))
			require.Equal(t, http.StatusOK, got.status, got.text)
			want := map[string]int64{}
			if test.records > 0 {
				want["outcome=accepted type="+string(test.item)] = int64(test.records)
			}
			assert.Equal(t, want, s.items())
			assert.Equal(t, test.records, s.logs.LogRecordCount())
			for _, logs := range s.logs.AllLogs() {
				text, err := (&plog.JSONMarshaler{}).MarshalLogs(logs)
				require.NoError(t, err)
				assert.NotContains(t, string(text), "secret", "described, not passed on")
				assert.Contains(t, string(text), string(test.item)+" received")
				assert.Contains(t, string(text), "3.1.0")
				assert.Contains(t, string(text), "prod")
				assert.Contains(t, string(text), test.contentType)
			}
		})
	}
}

func TestReportsRefused(t *testing.T) {
	for name, test := range map[string]struct {
		query, body string
		status      int
		reason      string
	}{
		"nothing":        {"?sentry_key=public", "", 400, "body_invalid"},
		"no JSON":        {"?sentry_key=public", "csp", 400, "body_invalid"},
		"cut":            {"?sentry_key=public", cspReport[:20], 400, "body_invalid"},
		"cut in a list":  {"?sentry_key=public", "[" + cspReport, 400, "body_invalid"},
		"numbers":        {"?sentry_key=public", "[1]", 400, "body_invalid"},
		"far too many":   {"?sentry_key=public", "[{}" + strings.Repeat(",{}", sentry.MaxEnvelopeItems) + "]", 400, "body_invalid"},
		"no credentials": {"", cspReport, 401, "auth_missing"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, endpoint := range []string{"security", "csp-report", "nel"} {
				s := startSignals(t, nil)
				got := s.postTo("/api/42/"+endpoint+"/"+test.query, "application/json", []byte(test.body))
				assert.Equal(t, test.status, got.status, got.text)
				assert.NotEmpty(t, got.Causes)
				assert.NotContains(t, got.text, "profiling")
				assert.Equal(t, map[string]int64{"reason=" + test.reason: 1}, s.rejected())
				assert.Zero(t, s.logs.LogRecordCount(), "nothing is taken of what is answered 400")
			}
		})
	}
}
