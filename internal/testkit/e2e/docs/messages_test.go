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
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/messages"
)

// TestMessages: the collector prints the messages of the table. Two entries per component are
// enough: one of decoding, one of validation.
func TestMessages(t *testing.T) {
	path := harness.Binary(t)
	done := map[string]bool{}
	for _, entry := range messages.Components(t) {
		step, _, _ := strings.Cut(entry.Message, ": ")
		switch {
		case strings.HasPrefix(entry.Message, "decoding "):
			step = entry.Kind + "/" + entry.Type
		case !strings.HasPrefix(entry.Message, entry.Kind+"::"):
			continue // starts
		}
		if done[step] {
			continue
		}
		done[step] = true
		config := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(config, []byte(entry.YAML()), 0o600))
		output, err := exec.Command(path, "validate", "--config", config, harness.ProfilesGate).CombinedOutput()
		assert.Error(t, err, entry.YAML())
		assert.Contains(t, string(output), entry.Message)
	}
	assert.Greater(t, len(done), 9)
}
