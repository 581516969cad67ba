// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestDashboardSchema checks the dashboard against Grafana's schema, which is published as types of
// TypeScript. No registry that the tests can use has Grafana itself.
func TestDashboardSchema(t *testing.T) {
	packages := filepath.Join(golden.Root(t), "internal", "testkit", "e2e", "importers")
	compiler := filepath.Join(packages, "node_modules", "typescript", "bin", "tsc")
	harness.File(t, "npm packages of Grafana's schema", compiler, harness.Packages)
	types, err := os.ReadFile(filepath.Join(packages, "dashboard.ts"))
	require.NoError(t, err)
	dashboard, err := os.ReadFile(filepath.Join(golden.Root(t), "packaging", "grafana-dashboard.json"))
	require.NoError(t, err)
	check := func(dashboard []byte) (output string, err error) {
		folder := t.TempDir()
		require.NoError(t, os.Symlink(filepath.Join(packages, "node_modules"), filepath.Join(folder, "node_modules")))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "dashboard.ts"), types, 0o600))
		literal := append([]byte("import type { Checked } from './dashboard';\nexport const dashboard: Checked = "), dashboard...)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "literal.ts"), literal, 0o600))
		command := exec.Command("node", compiler, "--noEmit", "--strict", "--skipLibCheck", "--module", "esnext", "--moduleResolution", "bundler", "literal.ts")
		command.Dir = folder
		all, err := command.CombinedOutput()
		return string(all), err
	}
	output, err := check(dashboard)
	assert.NoError(t, err, output)
	for _, mistake := range [][2]string{{`"graphMode": "area"`, `"graphMode": "aera"`}, {`"showPoints"`, `"showPoint"`}, {`"refresh": "30s"`, `"refresh": 30`}} {
		wrong := bytes.Replace(dashboard, []byte(mistake[0]), []byte(mistake[1]), 1)
		require.NotEqual(t, dashboard, wrong)
		output, err = check(wrong)
		assert.Error(t, err, mistake[1])
		assert.Contains(t, output, "error TS2", mistake[1])
	}
}
