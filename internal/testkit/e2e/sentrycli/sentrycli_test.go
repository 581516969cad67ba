// SPDX-License-Identifier: Apache-2.0

package sentrycli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// findSentryCLI finds Sentry's command line tool, in any version.
func findSentryCLI(t testing.TB) string {
	t.Helper()
	if path, err := exec.LookPath("sentry-cli"); err == nil {
		return path
	}
	path := filepath.Join(golden.Root(t), "internal", "testkit", "e2e", "sentrycli", "node_modules", ".bin", "sentry-cli")
	return harness.File(t, "sentry-cli", path, harness.Packages)
}

// TestSentryCLI: people use sentry-cli to test a DSN.
func TestSentryCLI(t *testing.T) {
	const foreignKey = "ffffffffffffffffffffffffffffffff"
	tool := findSentryCLI(t)
	backend := harness.NewSink(t)
	c := harness.Start(t, harness.Settings{Sink: backend, Signals: []string{"logs"}, Receiver: []string{
		`projects: [{id: 42, public_keys: ["` + harness.TestKey + `"], resource_attributes: {service.name: by-hand}}]`,
	}})
	folder := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	// run runs sentry-cli in a new home directory.
	run := func(key string, arguments ...string) (output string, err error) {
		command := exec.Command(tool, arguments...)
		command.Dir = folder
		command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + folder, fmt.Sprintf("SENTRY_DSN=http://%s@%s/42", key, c.Address)}
		text, err := command.CombinedOutput()
		return string(text), err
	}

	const event = `{"event_id":"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e7","message":"kept in a file","level":"warning","platform":"python"}`
	inEnvelope := fmt.Sprintf("{\"event_id\":\"7d1f0c9f2f1c4f0ea9b3f1a2b3c4d5e7\"}\n{\"type\":\"event\",\"length\":%d}\n%s\n", len(event), event)
	for _, step := range []struct {
		name      string
		arguments []string
		want      string
		severity  plog.SeverityNumber
	}{
		{"send-event", []string{"send-event", "-m", "hello %s", "-a", "world", "-r", "shop@1.2", "-E", "test", "-t", "tier:web", "--no-environ"}, "hello world", plog.SeverityNumberError},
		{"send-event of a file", []string{"send-event", file("event.json", event)}, "kept in a file", plog.SeverityNumberWarn},
		{"send-event of a file as it is", []string{"send-event", "--raw", file("raw.json", event)}, "kept in a file", plog.SeverityNumberWarn},
		{"send-envelope", []string{"send-envelope", file("event.envelope", inEnvelope)}, "kept in a file", plog.SeverityNumberWarn},
		{"send-envelope as it is", []string{"send-envelope", "--raw", file("raw.envelope", inEnvelope)}, "kept in a file", plog.SeverityNumberWarn},
	} {
		t.Run(step.name, func(t *testing.T) {
			output, err := run(harness.TestKey, step.arguments...)
			require.NoError(t, err, "%s", output)
			resource, record := harness.OnlyLogRecord(t, backend)
			assert.Equal(t, step.want, record.Body().Str())
			assert.Equal(t, step.severity, record.SeverityNumber())
			assert.Equal(t, "by-hand", resource["service.name"])
			assert.Equal(t, "42", resource["sentry.project_id"])
			if step.name == "send-event" {
				assert.Equal(t, "shop@1.2", resource["sentry.release"])
				assert.Equal(t, "test", resource["deployment.environment.name"])
				assert.Equal(t, "sentry-cli", resource["telemetry.sdk.name"])
				attributes := record.Attributes().AsRaw()
				assert.Equal(t, "world", attributes["sentry.message.parameter.0"])
				assert.Equal(t, "web", attributes["tier"])
			}
		})
	}
	t.Run("key that is not known", func(t *testing.T) {
		output, err := run(foreignKey, "send-envelope", "--raw", file("foreign.envelope", inEnvelope))
		assert.Error(t, err, "%s", output)
		assert.Contains(t, output, "403")
		assert.Empty(t, backend.Drain(harness.LogsPath))
	})
	harness.CheckLog(t, c, harness.TestKey, foreignKey)
}
