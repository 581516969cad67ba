// SPDX-License-Identifier: Apache-2.0

package browser

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestBrowserViewerLogin: with basic authentication, a browser asks for a password, and the page
// shows a flame graph after it.
func TestBrowserViewerLogin(t *testing.T) {
	testsize.NeedFull(t)
	b := findBrowser(t)
	t.Parallel()
	address := harness.FreeAddress(t)
	c := harness.Start(t, harness.Settings{Config: strings.NewReplacer("VIEWER", address).Replace(`
receivers:
  sentry: {endpoint: ENDPOINT}
exporters:
  profile_viewer: {endpoint: VIEWER, auth: {authenticator: basicauth}}
extensions:
  basicauth: {htpasswd: {inline: "ada:secret"}}
service:
  extensions: [basicauth]
  pipelines:
    profiles: {receivers: [sentry], exporters: [profile_viewer]}
`)})
	c.Send(t, harness.Chunk{}.Request())
	response, err := http.Get("http://" + address)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)

	var functions []string
	require.NoError(t, json.Unmarshal(b.run(t, "viewer-login.mjs", "http://ada:secret@"+address).Result, &functions))
	assert.NotEmpty(t, functions)
}
