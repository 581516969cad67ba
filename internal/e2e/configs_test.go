package e2e

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/golden"
)

// TestConfigs: the collector takes every configuration under examples/.
func TestConfigs(t *testing.T) {
	path := findBinary(t)
	configs, err := filepath.Glob(filepath.Join(golden.Root(t), "examples", "*", "config.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, configs, "configurations under examples/")
	for _, config := range configs {
		t.Run(filepath.Base(filepath.Dir(config)), func(t *testing.T) {
			output, err := exec.Command(path, "validate", "--config", config, profilesGate).CombinedOutput()
			require.NoError(t, err, "%s", output)
		})
	}
}
