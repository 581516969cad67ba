// SPDX-License-Identifier: Apache-2.0

package sentryreceiver

import (
	"bufio"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
)

// spotlightURL returns the URL of the server for Spotlight, which the log states.
func (h *harness) spotlightURL() string {
	entries := h.logs.FilterMessageSnippet("with Spotlight").All()
	require.Len(h.t, entries, 1)
	return "http://" + entries[0].ContextMap()["address"].(string)
}

// TestSpotlight: SDKs need no DSN, not even with configured projects; the envelope is in the event
// stream.
func TestSpotlight(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Spotlight.Endpoint = "127.0.0.1:0"
		c.PathPrefix = "/sentry"
		c.Projects = []ProjectConfig{{ID: 42, PublicKeys: []string{testKey}}}
	})
	h.url = h.spotlightURL()
	assert.Equal(t, http.StatusOK, h.do(h.request(http.MethodGet, "/health", nil)).status)

	request := h.request(http.MethodPost, "/stream", strings.NewReader(envelope(chunkItem)))
	request.Header.Set("Content-Type", "application/x-sentry-envelope")
	assert.Equal(t, http.StatusOK, h.do(request).status)
	all, _ := h.sink.only(t)
	attributes := all.ResourceProfiles().At(0).Resource().Attributes()
	_, hasProject := attributes.Get("sentry.project_id")
	assert.False(t, hasProject)
	assert.Equal(t, map[string]int64{"outcome=accepted type=profile_chunk": 1}, h.items())

	stream, err := h.client.Get(h.url + "/stream")
	require.NoError(t, err)
	defer stream.Body.Close()
	var data string
	for lines := bufio.NewScanner(stream.Body); data == "" && lines.Scan(); {
		data, _ = strings.CutPrefix(lines.Text(), "data: ")
		if data == lines.Text() {
			data = ""
		}
	}
	assert.Contains(t, data, `"type":"profile_chunk"`)

	assert.Equal(t, http.StatusBadRequest, h.do(h.request(http.MethodPost, "/stream", strings.NewReader("hello"))).status)
	assert.Equal(t, http.StatusNotFound, h.do(h.request(http.MethodPost, "/api/42/envelope/", nil)).status, "of the other listener")
	foreign := h.request(http.MethodPost, "/stream", strings.NewReader(envelope(chunkItem)))
	foreign.Header.Set("Origin", "https://evil.example")
	response, err := h.client.Do(foreign)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, http.StatusForbidden, response.StatusCode)
	assert.Equal(t, 1, h.sink.count())
}

func TestSpotlightPortInUse(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	set, _, _ := testSettings(t)
	created, err := createProfiles(t.Context(), set, testConfig(func(c *Config) { c.Spotlight.Endpoint = taken.Addr().String() }), &sink{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, created.Shutdown(t.Context())) }()
	err = created.Start(t.Context(), componenttest.NewNopHost())
	assert.ErrorContains(t, err, taken.Addr().String())
	assert.ErrorContains(t, err, `"spotlight::endpoint"`)
}
