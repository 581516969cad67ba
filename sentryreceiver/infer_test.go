// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestInferClient: items are completed with the client's address and user agent, which later
// components do not see.
func TestInferClient(t *testing.T) {
	const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	event := item("event", "", `{"event_id":"c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7c7","platform":"javascript","message":"m"}`)
	log := item("log", `,"item_count":1,"content_type":"application/vnd.sentry.items.log+json"`,
		`{"version":2,"ingest_settings":{"infer_ip":"auto","infer_user_agent":"auto"},"items":[{"timestamp":1777629600,"trace_id":"53295a878b574a5665399b12b6f1d7fb","level":"info","body":"b","attributes":{}}]}`)
	for _, test := range []struct {
		name    string
		pii     bool
		headers map[string]string
		address string
	}{
		{"with include_pii", true, nil, "127.0.0.1"},
		{"without", false, nil, ""},
		{"behind a trusted proxy", true, map[string]string{"X-Forwarded-For": "192.0.2.1"}, "192.0.2.1"},
		{"behind one with an unknown header", true, map[string]string{"Forwarded": "for=192.0.2.1"}, ""},
	} {
		s := startSignals(t, func(c *Config) { c.IncludePII, c.Scrubbing.IPAddresses = test.pii, false })
		req := s.envelopeRequest([]byte(envelope(event, log)))
		req.Header.Set("User-Agent", browser)
		for name, value := range test.headers {
			req.Header.Set(name, value)
		}
		require.Equal(t, http.StatusOK, s.do(req).status, test.name)
		require.Equal(t, 2, s.logs.LogRecordCount(), test.name)
		for _, logs := range s.logs.AllLogs() {
			for _, resource := range logs.ResourceLogs().All() {
				attrs := resource.ScopeLogs().At(0).LogRecords().At(0).Attributes()
				address, found := attrs.Get("client.address")
				if assert.Equal(t, test.address != "", found, test.name) && found {
					assert.Equal(t, test.address, address.Str(), test.name)
				}
				if _, isEvent := attrs.Get("sentry.item.type"); !isEvent {
					userAgent, _ := attrs.Get("user_agent.original")
					assert.Equal(t, browser, userAgent.Str(), test.name)
				}
			}
		}
	}
}
