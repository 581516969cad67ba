// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
)

// secrets has all settings of the project's components with a secret, which is SECRET in each.
const secrets = `
receivers:
  sentry: {endpoint: localhost:0}
  measure: {endpoint: localhost:0, apps: [{api_key: SECRET}], attachments: {directory: /tmp, token_secret: SECRET}, builds: {enabled: true, directory: /tmp, api_keys: [SECRET]}}
processors:
  symbolicate:
    store: {directory: /tmp}
    uploads: {endpoint: localhost:0, token: SECRET}
exporters:
  sentry_envelope: {dsn: "https://SECRET@sentry.example/1", dsns: [{match: {service.name: a}, dsn: "https://SECRET@sentry.example/2"}]}
extensions:
  sentry_tee: {upstream: "https://sentry.example", projects: [{id: 1, upstream_dsn: "https://SECRET@sentry.example/3"}]}
service:
  extensions: [sentry_tee]
  pipelines:
    profiles: {receivers: [sentry], processors: [symbolicate], exporters: [sentry_envelope]}
    logs: {receivers: [sentry, measure], exporters: [sentry_envelope]}
`

// TestPrintedConfigHasNoSecrets: print-config, whose output people paste into reports, hides them.
func TestPrintedConfigHasNoSecrets(t *testing.T) {
	const secret = "5ec4e75ec4e75ec4e75ec4e75ec4e75e"
	config := filepath.Join(t.TempDir(), "config.yaml")
	require.NoError(t, os.WriteFile(config, []byte(strings.ReplaceAll(secrets, "SECRET", secret)), 0o600))
	output, err := exec.Command(harness.Binary(t), "print-config", "--config", config, harness.ProfilesGate).CombinedOutput()
	require.NoError(t, err, string(output))
	for line := range strings.Lines(string(output)) {
		assert.NotContains(t, line, secret)
	}
	assert.Equal(t, strings.Count(secrets, "SECRET"), strings.Count(string(output), "[REDACTED]"), string(output))
}
