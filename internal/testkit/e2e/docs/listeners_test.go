// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// listeners has all listeners of the project's components. GUARD… is replaced by a setting that
// protects the listener, or by nothing.
const listeners = `
receivers:
  sentry/ready: {endpoint: ENDPOINT}
  sentry:
    endpoint: HOST:0
    GUARD_SENTRY
    spotlight: {endpoint: SPOTLIGHT}
  measure: {endpoint: "HOST:0", GUARD_MEASURE}
processors:
  symbolicate:
    store: {directory: "DIRECTORY"}
    uploads: {endpoint: "HOST:0", token: 0123456789abcdef0123456789abcdef, GUARD_UPLOADS}
exporters:
  profile_viewer: {endpoint: "HOST:0", GUARD_VIEWER}
extensions:
  basicauth: {htpasswd: {inline: "ada:secret"}}
service:
  extensions: [basicauth]
  pipelines:
    profiles: {receivers: [sentry, sentry/ready], processors: [symbolicate], exporters: [profile_viewer]}
    logs: {receivers: [sentry, measure], exporters: [profile_viewer]}
`

// openListeners are the warnings about listeners that nothing guards.
var openListeners = map[string]string{
	"sentry":    "Accepting any DSN, even from other machines",
	"spotlight": "Accepting data without credentials and sending it to any listener",
	"measure":   "Accepting any key, even from other machines",
	"uploads":   "Clients on other machines send the token and their files unencrypted",
	"viewer":    "Showing the received data to anyone, even on other machines",
}

// TestOpenListeners: each listener that other machines reach and nothing guards is in the log, with
// the setting that guards it.
func TestOpenListeners(t *testing.T) {
	guards := strings.NewReplacer(
		"GUARD_SENTRY", "projects: [{id: 1, public_keys: [0123456789abcdef0123456789abcdef]}]",
		"GUARD_MEASURE", "apps: [{api_key: any}]",
		"GUARD_UPLOADS", `tls: {cert_file: "CERT", key_file: "KEY"}`,
		"GUARD_VIEWER", "auth: {authenticator: basicauth}",
		"SPOTLIGHT", "localhost:0", // SDKs with Spotlight have no credentials
	)
	none := strings.NewReplacer("GUARD_SENTRY", "", "GUARD_MEASURE", "allow_any_key: true", ", GUARD_UPLOADS", "", ", GUARD_VIEWER", "", "SPOTLIGHT", "HOST:0")
	for name, test := range map[string]struct {
		host   string
		guards *strings.Replacer
		open   bool
	}{
		"on all addresses without guards": {"0.0.0.0", none, true},
		"on all addresses with guards":    {"0.0.0.0", guards, false},
		"on this machine only":            {"localhost", none, false},
	} {
		t.Run(name, func(t *testing.T) {
			cert, key := harness.Certificate(t)
			config := strings.NewReplacer("HOST", test.host, "DIRECTORY", t.TempDir(), "CERT", cert, "KEY", key).Replace(test.guards.Replace(listeners))
			c := harness.Start(t, harness.Settings{Config: config})
			for listener, warning := range openListeners {
				assert.Equal(t, test.open, strings.Contains(c.Log.String(), warning), listener)
			}
		})
	}
}
