// SPDX-License-Identifier: Apache-2.0

package sentryteeextension

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/httpbody"
	"github.com/otelcol-sentry/otelcol-sentry/sentryteeextension/internal/omit"
)

const (
	theirKey = "ffffffffffffffffffffffffffffffff"
	theirDSN = "https://" + theirKey + "@sentry.example/x/99"
)

// TestMappedRequests: project and key are replaced wherever Sentry reads them, and nowhere else.
func TestMappedRequests(t *testing.T) {
	upstream := newRecorder(t, nil)
	dsn := "http://" + theirKey + "@" + upstream.Listener.Addr().String() + "/x/99"
	h := start(t, "", options{tee: []func(*Config){func(cfg *Config) { cfg.Projects = []ProjectConfig{{ID: 4507, UpstreamDSN: configopaque.String(dsn)}} }}})
	ours := "https://" + testKey + "@collector.example/4507"
	header := func(dsn, key string) string {
		return fmt.Sprintf(`{"dsn":%q,"x":{"dsn":1},"trace":{"trace_id":"0af7651916cd43dd8448eb211c80319c","public_key":%q,"org_id":"1"},"later":"`+testKey+`"}`, dsn, key)
	}
	item := `{"type":"event","length":29}` + "\n" + `{"message":"` + testKey[:15] + `"}` + "\n"
	for _, coding := range []string{httpbody.Identity, httpbody.Gzip} {
		body := header(ours, testKey) + "\n" + item
		headers := []string{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_key=" + testKey}
		if coding != httpbody.Identity {
			body = string(compress([]byte(body)))
			headers = append(headers, "Content-Encoding", coding)
		}
		resp, text := h.do("POST", "/api/4507/envelope/", body, headers...)
		require.Equal(t, 200, resp.StatusCode, text)
		got := upstream.take(t, 1)[0]
		assert.Equal(t, "/x/api/99/envelope/", got.URI)
		assert.Equal(t, "Sentry sentry_version=7, sentry_key="+theirKey, got.Header.Get("X-Sentry-Auth"))
		decoded, err := httpbody.Decoded([]byte(got.Body), httpbody.Coding(got.Header["Content-Encoding"]), 1<<20, nil)
		require.NoError(t, err)
		assert.Equal(t, header(dsn, theirKey)+"\n"+item, string(decoded.Data))
	}
	unchanged := compress([]byte("{}\n" + item))
	h.do("POST", "/api/4507/envelope/?sentry_key="+testKey, string(unchanged), "Content-Encoding", "gzip")
	assert.Equal(t, string(unchanged), upstream.take(t, 1)[0].Body, "nothing to map in the body")
	resp, _ := h.do("POST", "/api/1/envelope/?sentry_key="+testKey, errorEnvelope)
	assert.Equal(t, 200, resp.StatusCode)
	assert.EqualValues(t, 1, h.counts("requests")["envelope dropped no_upstream"], "another project, and there is no upstream")
	h.do("POST", "/api/4507/store/?sentry_key="+testKey, `{}`)
	assert.Equal(t, "/x/api/99/store/?sentry_key="+theirKey, upstream.take(t, 1)[0].URI)
	assert.Zero(t, upstream.count())
}

// TestMappedReports: omitted data of our project is reported to Sentry's project.
func TestMappedReports(t *testing.T) {
	o := newOutgoing(&Config{Projects: []ProjectConfig{{ID: 4507, UpstreamDSN: theirDSN}}}, newKeyLimits())
	report, err := newReport(key{"4507", testKey}, omit.Losses{{Outcome: "rate_limited", Reason: "generic", Category: "error"}: 1}, time.Now())
	require.NoError(t, err)
	p, err := o.prepare(t.Context(), report, time.Now())
	require.NoError(t, err)
	assert.Equal(t, "/api/99/envelope/", p.request.Target)
	assert.Contains(t, p.request.Header.Get("X-Sentry-Auth"), "sentry_key="+theirKey)
	assert.Equal(t, "sentry.example", p.request.base.Host)
	assert.Equal(t, http.MethodPost, p.request.Method)
}
