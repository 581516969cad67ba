// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/sentry"
)

const (
	secondKey   = "99999999999999999999999999999999"
	otherKey    = "11111111111111111111111111111111"
	disabledKey = "22222222222222222222222222222222"
)

// twoProjects lets 42 and 7 send; 9 is disabled.
func twoProjects(c *Config) {
	c.TunnelPath = "/tunnel"
	c.Projects = []ProjectConfig{
		{ID: 42, PublicKeys: []string{testKey, secondKey}, ResourceAttributes: map[string]any{
			"service.name": "shop", "deployment.environment.name": "staging", "host.arch": "mips",
			"team.oncall": true, "team.size": 4, "team.share": 0.5, "team.members": []any{"ann", "bob"},
		}},
		{ID: 7, PublicKeys: []string{otherKey}},
		{ID: 9, PublicKeys: []string{disabledKey}, Disabled: true},
	}
}

// TestStrangersAreNotRead: what clients send that may not costs no memory and is not decoded, but
// it is read to its end, so that the answer arrives.
func TestStrangersAreNotRead(t *testing.T) {
	h := start(t, twoProjects)
	stranger := strings.Repeat("a", 32)
	dsn := []byte("{\"dsn\":\"http://" + stranger + "@localhost/42\"}\n")
	for path, begin := range map[string][]byte{
		"/api/42/envelope/?sentry_key=" + stranger: nil,
		"/api/42/store/?sentry_key=" + stranger:    nil,
		"/api/42/envelope/":                        dsn,
		"/tunnel":                                  dsn,
		"/api/42/integration/otlp/v1/traces/?sentry_key=" + stranger: nil,
	} {
		begin = encode(t, "gzip", begin, bytes.Repeat([]byte("a"), 256<<10))[:max(100, len(begin))]
		body := &countingReader{Reader: io.MultiReader(bytes.NewReader(begin), bytes.NewReader(make([]byte, 8<<20)))}
		req := h.request(http.MethodPost, path, body)
		req.Header.Set("Content-Encoding", "gzip")
		got := h.do(req)
		assert.Equal(t, http.StatusForbidden, got.status, "%s: %s", path, got.text)
		assert.EqualValues(t, len(begin)+8<<20, body.n.Load(), "%s: read to its end", path)
	}
	assert.Equal(t, map[string]int64{"reason=key_unknown": 5}, h.rejected())
}

type countingReader struct {
	io.Reader
	n atomic.Int64
}

func (r *countingReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	r.n.Add(int64(n))
	return n, err
}

func TestProjects(t *testing.T) {
	for name, test := range map[string]struct {
		project, key string
		reason       string // "" = it may send
	}{
		"one of its keys":             {"42", testKey, ""},
		"another of its keys":         {"42", secondKey, ""},
		"another project":             {"7", otherKey, ""},
		"zeros in front":              {"0042", testKey, ""},
		"unknown project":             {"43", testKey, "project_unknown"},
		"nothing is known":            {"43", "public", "project_unknown"},
		"unknown key":                 {"42", "public", "key_unknown"},
		"key in capitals":             {"42", strings.ToUpper(testKey), "key_unknown"},
		"key of another project":      {"42", otherKey, "key_foreign"},
		"key of a disabled one":       {"42", disabledKey, "key_foreign"},
		"disabled":                    {"9", disabledKey, "project_disabled"},
		"wrong key of a disabled one": {"9", testKey, "key_foreign"},
	} {
		dsn := fmt.Sprintf("{\"dsn\":\"https://%s@o1.ingest.sentry.io/%s\"}\n", test.key, test.project)
		for endpoint, sent := range map[string]struct{ path, body, item string }{
			"envelope":           {"/api/" + test.project + "/envelope/?sentry_key=" + test.key, envelope(item("event", "", errorEvent)), "event"},
			"dsn in an envelope": {"/api/" + test.project + "/envelope/", dsn + item("event", "", errorEvent), "event"},
			"tunnel":             {"/tunnel", dsn + item("event", "", errorEvent), "event"},
			"store":              {"/api/" + test.project + "/store/?sentry_key=" + test.key, errorEvent, "event"},
			"security":           {"/api/" + test.project + "/security/?sentry_key=" + test.key, `{"csp-report":{}}`, "raw_security"},
			"cron":               {"/api/" + test.project + "/cron/nightly/" + test.key + "/?status=ok", "", "check_in"},
			"otlp":               {"/api/" + test.project + "/integration/otlp/v1/logs/?sentry_key=" + test.key, `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{}]}]}]}`, "otel_logs_data"},
		} {
			t.Run(name+" "+endpoint, func(t *testing.T) {
				s := startSignals(t, twoProjects)
				req := s.request("POST", sent.path, strings.NewReader(sent.body))
				if endpoint == "otlp" {
					req.Header.Set("Content-Type", "application/json")
				}
				got := s.do(req)
				if test.reason == "" {
					assert.Less(t, got.status, 300, got.text)
					assert.Equal(t, map[string]int64{"outcome=accepted type=" + sent.item: 1}, s.items())
					assert.Empty(t, s.rejected())
					return
				}
				assert.Equal(t, http.StatusForbidden, got.status)
				if endpoint == "otlp" {
					assert.Contains(t, got.text, `"event submission rejected with_reason: ProjectId"`)
				} else {
					assert.Equal(t, `{"detail":"event submission rejected with_reason: ProjectId"}`, got.text, "Relay's, whatever it was")
				}
				assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
				assert.Equal(t, map[string]int64{"reason=" + test.reason: 1}, s.rejected())
				assert.Empty(t, s.items(), "they are not read")
				assert.Zero(t, s.logs.LogRecordCount())
			})
		}
	}
}

// TestResourceAttributes: whatever the item, its resource has what is configured for the project.
func TestResourceAttributes(t *testing.T) {
	s := startSignals(t, twoProjects)
	everything := envelope(
		profileItem, chunkItem, item("transaction", "", fullTransaction),
		item("span", containerHeader(sentry.ContentTypeSpans), spanContainer),
		item("log", containerHeader(sentry.ContentTypeLogs), logContainer),
		item("event", "", errorEvent), item("check_in", "", checkIn), item("attachment", "", "x"),
		item("trace_metric", containerHeader(sentry.ContentTypeTraceMetrics), metricContainer),
		item("session", "", session), item("client_report", "", clientReport),
	)
	require.Equal(t, 200, s.post(everything).status)
	resources := s.resources()
	require.GreaterOrEqual(t, len(resources), 2+2+2+2, "of profiles, traces, logs and metrics, equal ones once")
	for signal, resource := range resources {
		for key, want := range map[string]any{
			"service.name": "shop", "deployment.environment.name": "staging", "host.arch": "mips", "sentry.project_id": "42",
			"team.oncall": true, "team.size": int64(4), "team.share": 0.5, "team.members": []any{"ann", "bob"},
		} {
			assert.Equal(t, want, resource[key], "%s of message %s", key, signal)
		}
	}

	s = startSignals(t, twoProjects)
	req := s.request("POST", "/api/7/envelope/?sentry_key="+otherKey, strings.NewReader(everything))
	require.Equal(t, 200, s.do(req).status)
	for signal, resource := range s.resources() {
		assert.Equal(t, "7", resource["sentry.project_id"], signal)
		assert.NotContains(t, resource, "team.size", signal)
	}
}

// resources gives every resource of the messages that came out.
func (s *signals) resources() map[string]map[string]any {
	all := map[string]map[string]any{}
	add := func(signal string, resource pcommon.Resource) {
		all[fmt.Sprint(signal, " ", len(all))] = resource.Attributes().AsRaw()
	}
	for _, p := range s.sink.profiles {
		for _, resource := range p.ResourceProfiles().All() {
			add("profiles", resource.Resource())
		}
	}
	for _, p := range s.traces.AllTraces() {
		for _, resource := range p.ResourceSpans().All() {
			add("traces", resource.Resource())
		}
	}
	for _, p := range s.logs.AllLogs() {
		for _, resource := range p.ResourceLogs().All() {
			add("logs", resource.Resource())
		}
	}
	for _, p := range s.points.AllMetrics() {
		for _, resource := range p.ResourceMetrics().All() {
			add("metrics", resource.Resource())
		}
	}
	return all
}

func TestTunnel(t *testing.T) {
	dsn := "http://" + testKey + "@localhost:4319/42"
	for name, test := range map[string]struct {
		path, header string
		edit         func(*Config)
		status       int
		reason       string
	}{
		"any DSN":                  {"/tunnel", `{"dsn":"http://public@localhost/1"}`, nil, 200, ""},
		"slash at the end":         {"/tunnel/", `{"dsn":"http://public@localhost/1"}`, nil, 200, ""},
		"DSN of another host":      {"/tunnel", `{"dsn":"https://` + testKey + `@o1.ingest.de.sentry.io/42"}`, twoProjects, 200, ""},
		"path in the DSN, escaped": {"/tunnel", `{"dsn":"https:\/\/` + testKey + `@x\/a\/b\/42"}`, twoProjects, 200, ""},
		"with a legacy secret":     {"/tunnel", `{"dsn":"https://` + testKey + `:secret@x/42"}`, twoProjects, 200, ""},
		"the site has a query":     {"/tunnel?sentry_key=" + otherKey, `{"dsn":"` + dsn + `"}`, twoProjects, 200, ""},
		"longer path": {"/site/tunnel", `{"dsn":"` + dsn + `"}`, func(c *Config) {
			c.PathPrefix, c.TunnelPath = "/sentry", "/site/tunnel"
		}, 200, ""},
		"no DSN":                {"/tunnel", `{}`, twoProjects, 401, "auth_missing"},
		"no DSN, without list":  {"/tunnel", `{}`, nil, 401, "auth_missing"},
		"key in the query only": {"/tunnel?sentry_key=" + testKey, `{}`, twoProjects, 401, "auth_missing"},
		"no URL":                {"/tunnel", `{"dsn":"hello"}`, nil, 401, "auth_bad_envelope_dsn"},
		"no text":               {"/tunnel", `{"dsn":42}`, nil, 401, "auth_missing"},
		"no key":                {"/tunnel", `{"dsn":"http://localhost/1"}`, nil, 401, "auth_bad_envelope_dsn"},
		"no project":            {"/tunnel", `{"dsn":"http://public@localhost/shop"}`, nil, 401, "auth_bad_envelope_dsn"},
		"unknown":               {"/tunnel", `{"dsn":"http://public@localhost/42"}`, twoProjects, 403, "key_unknown"},
		"no envelope":           {"/tunnel", `hello`, nil, 401, "auth_missing"},
		"no tunnel":             {"/tunnel", `{"dsn":"` + dsn + `"}`, func(c *Config) { c.TunnelPath = "" }, 404, "not_found"},
		"another path":          {"/tunnel/x", `{"dsn":"` + dsn + `"}`, nil, 404, "not_found"},
	} {
		t.Run(name, func(t *testing.T) {
			s := startSignals(t, func(c *Config) {
				c.TunnelPath = "/tunnel"
				if test.edit != nil {
					test.edit(c)
				}
			})
			req := s.request("POST", test.path, strings.NewReader(test.header+"\n"+item("event", "", errorEvent)))
			req.Header.Set("Content-Type", "text/plain;charset=UTF-8")
			req.Header.Set("Authorization", "Basic c2l0ZTpwYXNzd29yZA==") // of the site: site:password
			got := s.do(req)
			assert.Equal(t, test.status, got.status, got.text)
			assert.Equal(t, "*", got.header.Get("Access-Control-Allow-Origin"))
			if test.reason == "" {
				assert.Equal(t, 1, s.logs.LogRecordCount())
				return
			}
			assert.NotEmpty(t, got.Detail)
			want := "reason=" + test.reason
			if test.status == 404 {
				want = "endpoint=other " + want
			}
			assert.Equal(t, map[string]int64{want: 1}, s.rejected())
			assert.Zero(t, s.logs.LogRecordCount())
		})
	}
}

// Compressed bodies break tunnels that look for the DSN in what they cannot read.
func TestTunnelTakesAllEncodings(t *testing.T) {
	s := startSignals(t, twoProjects)
	plain := []byte("{\"dsn\":\"https://" + testKey + "@x/42\"}\n" + item("event", "", errorEvent))
	bodies := map[string][]byte{"": plain, "identity": plain, "gzip": encode(t, "gzip", plain), "deflate": encode(t, "zlib", plain),
		"br": encode(t, "br", plain), "zstd": encode(t, "zstd", plain)}
	for encoding, body := range bodies {
		req := s.request("POST", "/tunnel", strings.NewReader(string(body)))
		req.Header.Set("Content-Encoding", encoding)
		got := s.do(req)
		assert.Equal(t, 200, got.status, "%s: %s", encoding, got.text)
	}
	assert.Equal(t, len(bodies), s.logs.LogRecordCount())
}

func TestAnyDSNIsLogged(t *testing.T) {
	const message = "Accepting any DSN"
	for name, test := range map[string]struct {
		endpoint string
		edit     func(*Config)
		said     int
	}{
		"this machine only":        {"127.0.0.1:0", nil, 0},
		"all addresses":            {"0.0.0.0:0", nil, 1},
		"all addresses, with list": {"0.0.0.0:0", twoProjects, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, func(c *Config) {
				c.HTTP.NetAddr.Endpoint = test.endpoint
				if test.edit != nil {
					test.edit(c)
				}
			})
			said := 0
			for _, line := range h.logs.All() {
				if strings.HasPrefix(line.Message, message) {
					said++
				}
			}
			assert.Equal(t, test.said, said)
		})
	}
}
