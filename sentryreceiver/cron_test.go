// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/receiver"
)

func cronRequest(h *harness, method, path, contentType, body string) *http.Request {
	req := h.request(method, "/api/42/cron/"+path, strings.NewReader(body))
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	return req
}

func TestCron(t *testing.T) {
	const json = "application/json"
	for name, test := range map[string]struct {
		method, path, contentType, body string
		header                          string
		want                            []string // in the log record
	}{
		"query": {"GET", "nightly/?status=ok&duration=2.5&environment=prod&check_in_id=" + storedID + "&sentry_key=public", "", "", "",
			[]string{`"nightly"`, `"ok"`, `2.5`, `"prod"`, storedID}},
		"key in the path":           {"GET", "nightly/public/?status=error", "", "", "", []string{`"nightly"`, `"error"`}},
		"key in the path, no slash": {"GET", "nightly/public?status=error", "", "", "", []string{`"nightly"`, `"error"`}},
		"key in the header":         {"GET", "nightly?status=in_progress", "", "", "Sentry sentry_key=public", []string{`"nightly"`, `"in_progress"`}},
		"POST with a query":         {"POST", "nightly/public/?status=ok", "application/x-www-form-urlencoded", "", "", []string{`"nightly"`, `"ok"`}},
		"JSON": {"POST", "nightly/public/", json, `{"status":"in_progress","monitor_config":{"schedule":{"type":"crontab","value":"0 1 * * *"}}}`, "",
			[]string{`"nightly"`, `"in_progress"`, "0 1 * * *"}},
		"JSON with a charset":     {"POST", "nightly/public", json + "; charset=utf-8", `{"status":"ok"}`, "", []string{`"nightly"`, `"ok"`}},
		"the path names the slug": {"POST", "nightly/?sentry_key=public", json, checkIn, "", []string{`"nightly"`, "7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e8"}},
		"another slug in JSON":    {"POST", "nightly/?sentry_key=public", json, `{"monitor_slug":"weekly","status":"ok"}`, "", []string{`"nightly"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			req := cronRequest(s.harness, test.method, test.path, test.contentType, test.body)
			if test.header != "" {
				req.Header.Set("X-Sentry-Auth", test.header)
			}
			got := s.do(req)
			assert.Equal(t, http.StatusAccepted, got.status, got.text)
			assert.Empty(t, got.text)
			assert.Equal(t, map[string]int64{"outcome=accepted type=check_in": 1}, s.items())
			assert.Empty(t, s.rejected())
			require.Equal(t, 1, s.logs.LogRecordCount())
			assert.Positive(t, s.points.DataPointCount())
			text, err := (&plog.JSONMarshaler{}).MarshalLogs(s.logs.AllLogs()[0])
			require.NoError(t, err)
			for _, want := range test.want {
				assert.Contains(t, string(text), want)
			}
			assert.NotContains(t, string(text), "weekly")
		})
	}
}

func TestCronRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		path, contentType, body string
		status                  int
		reason                  string
	}{
		"no status":          {"nightly/public/", "", "", 400, "body_invalid"},
		"no status in JSON":  {"nightly/public/", "application/json", "{}", 400, "body_invalid"},
		"null":               {"nightly/public/", "application/json", "null", 400, "body_invalid"},
		"no JSON":            {"nightly/public/?status=ok", "application/json", "status=ok", 400, "body_invalid"},
		"a list":             {"nightly/public/", "application/json", "[]", 400, "body_invalid"},
		"duration in words":  {"nightly/public/?status=ok&duration=long", "", "", 400, "body_invalid"},
		"endless":            {"nightly/public/?status=ok&duration=inf", "", "", 400, "body_invalid"},
		"too large":          {"nightly/public/", "application/json", strings.Repeat(" ", maxCheckInBody+1), 413, "body_too_large"},
		"no key":             {"nightly/?status=ok", "", "", 401, "auth_missing"},
		"key that is none":   {"nightly/a%20b/?status=ok", "", "", 400, "auth_bad_key"},
		"two different keys": {"nightly/public/?status=ok&sentry_key=other", "", "", 401, "auth_multiple"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, nil)
			got := s.do(cronRequest(s.harness, http.MethodPost, test.path, test.contentType, test.body))
			assert.Equal(t, test.status, got.status, got.text)
			assert.NotEmpty(t, got.Detail)
			assert.Equal(t, map[string]int64{"reason=" + test.reason: 1}, s.rejected())
			assert.Zero(t, s.logs.LogRecordCount())
		})
	}
}

// TestCronIsNeverLimited: curl in a job must not fail for a busy collector. What was lost is
// counted.
func TestCronIsNeverLimited(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		status int
		count  string
	}{
		"busy":     {errors.New("full"), http.StatusAccepted, "outcome=refused reason=backpressure type=check_in"},
		"for good": {consumererror.NewPermanent(errors.New("no")), http.StatusBadRequest, "outcome=rejected reason=pipeline type=check_in"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startWith(t, nil, func(f receiver.Factory, set receiver.Settings, cfg *Config) []receiver.Traces {
				return createSignals(t, f, set, cfg, consumertest.NewNop(), consumertest.NewErr(test.err), consumertest.NewErr(test.err))
			})
			got := s.do(cronRequest(s, http.MethodGet, "nightly/public/?status=ok", "", ""))
			assert.Equal(t, test.status, got.status, got.text)
			assert.Equal(t, map[string]int64{test.count: 1}, s.items())
		})
	}
}
