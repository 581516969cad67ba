// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestAlerts: promtool accepts the alerts and their unit tests. Those name each alert twice: once
// when it fires, and once when it does not.
func TestAlerts(t *testing.T) {
	promtool := harness.Tool(t, "promtool", harness.Debian+"prometheus")
	folder := filepath.Join(golden.Root(t), "packaging")
	for _, check := range [][]string{{"check", "rules", "--lint-fatal", "alerts.yaml"}, {"test", "rules", "alerts.test.yaml"}} {
		command := exec.Command(promtool, check...)
		command.Dir = folder
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	tests, err := os.ReadFile(filepath.Join(folder, "alerts.test.yaml"))
	require.NoError(t, err)
	for _, alert := range alerts(t) {
		assert.Len(t, regexp.MustCompile(`alertname: `+alert.Alert+`\b`).FindAll(tests, -1), 2, alert.Alert)
	}
}

// alertRule is a rule in packaging/alerts.yaml.
type alertRule struct {
	Alert string `yaml:"alert"`
	Expr  string `yaml:"expr"`
}

func alerts(t *testing.T) (all []alertRule) {
	text, err := os.ReadFile(filepath.Join(golden.Root(t), "packaging", "alerts.yaml"))
	require.NoError(t, err)
	var file struct {
		Groups []struct {
			Rules []alertRule `yaml:"rules"`
		} `yaml:"groups"`
	}
	require.NoError(t, yaml.Unmarshal(text, &file))
	for _, group := range file.Groups {
		all = append(all, group.Rules...)
	}
	require.Greater(t, len(all), 10)
	return all
}
