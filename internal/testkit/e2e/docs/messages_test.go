// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
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
// enough, one of decoding and one of validation, and those of whole configurations.
func TestMessages(t *testing.T) {
	path := harness.Binary(t)
	done := map[string]bool{}
	for _, entry := range messages.Components(t) {
		step, _, _ := strings.Cut(entry.Message, ": ")
		switch {
		case entry.Kind == messages.Whole:
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

// TestServiceMistakes: the collector's own messages about the service section, and the converter's,
// name the key and the value.
func TestServiceMistakes(t *testing.T) {
	const receiver, exporter = "receivers: {sentry: }\n", "exporters: {nop: }\n"
	for config, facts := range map[string][]string{
		receiver + exporter + "service: {pipelines: {}}":                                                                                                                  {"service", "pipeline"},
		receiver + exporter + "service: {pipelines: {spans: {receivers: [sentry], exporters: [nop]}}}":                                                                    {"service", "spans"},
		receiver + exporter + "service: {pipelines: {log: {receivers: [sentry], exporters: [nop]}}}":                                                                      {"service::pipelines", `"log"`, `"logs"`},
		receiver + exporter + "service: {pipelines: {logs: {receivers: [other], exporters: [nop]}}}":                                                                      {"service::pipelines::logs", `"other"`},
		receiver + exporter + "service: {pipelines: {logs: {receivers: [sentry], exporters: [other]}}}":                                                                   {"service::pipelines::logs", `"other"`},
		receiver + exporter + "service: {pipelines: {logs: {receivers: [sentry], processors: [other], exporters: [nop]}}}":                                                {"service::pipelines::logs", `"other"`},
		receiver + exporter + "service: {pipelines: {logs: {receivers: [sentry]}}}":                                                                                       {"logs", "exporter"},
		receiver + exporter + "service: {pipelines: {logs: {exporters: [nop]}}}":                                                                                          {"logs", "receiver"},
		receiver + exporter + "service: {extensions: [other], pipelines: {logs: {receivers: [sentry], exporters: [nop]}}}":                                                {"service::extensions", `"other"`},
		receiver + exporter + "service: {piplines: {logs: {receivers: [sentry], exporters: [nop]}}}":                                                                      {"service", "piplines"},
		receiver + exporter + "service: {telemetry: {logs: {level: loud}}, pipelines: {logs: {receivers: [sentry], exporters: [nop]}}}":                                   {"telemetry", "loud"},
		"receivers: {sentri: }\n" + exporter + "service: {pipelines: {logs: {receivers: [sentri], exporters: [nop]}}}":                                                    {"receivers", `"sentri"`, "sentry"},
		"receivers: {sentry/: }\n" + exporter + "service: {pipelines: {logs: {receivers: [sentry/], exporters: [nop]}}}":                                                  {"receivers", "sentry/"},
		"recievers: {sentry: }\n" + exporter + "service: {pipelines: {logs: {receivers: [sentry], exporters: [nop]}}}":                                                    {"recievers", "receivers"},
		receiver + exporter + "processors: {profile_transform: }\nservice: {pipelines: {logs: {receivers: [sentry], processors: [profile_transform], exporters: [nop]}}}": {"profile_transform", "logs"},
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(file, []byte(config), 0o600))
		output, err := exec.CommandContext(t.Context(), harness.Binary(t), "validate", "--config", file, harness.ProfilesGate).CombinedOutput()
		assert.Error(t, err, config)
		for _, fact := range facts {
			assert.Contains(t, string(output), fact, config)
		}
	}
}

// TestLockedStorage: a second collector with the same storage says why it does not start.
func TestLockedStorage(t *testing.T) {
	const exporter, processor = "sending_queue: {storage: file_storage}", "storage: file_storage"
	directory := t.TempDir()
	config := func(endpoint, queue, held string) string {
		return fmt.Sprintf(`
receivers:
  sentry: {endpoint: %q}
processors:
  profile_transform: {%s}
exporters:
  sentry_envelope: {dsn: "https://a@127.0.0.1:1/42", %s}
extensions:
  file_storage: {directory: %q}
service:
  extensions: [file_storage]
  telemetry: {metrics: {level: none}}
  pipelines:
    profiles: {receivers: [sentry], processors: [profile_transform], exporters: [sentry_envelope]}
`, endpoint, held, queue, directory)
	}
	harness.Start(t, harness.Settings{Config: config("ENDPOINT", exporter, processor)})
	for name, second := range map[string]string{
		"a queue":       config("localhost:0", exporter, ""),
		"held profiles": config("localhost:0", "", processor),
	} {
		file := filepath.Join(t.TempDir(), "config.yaml")
		require.NoError(t, os.WriteFile(file, []byte(second), 0o600))
		output, err := exec.CommandContext(t.Context(), harness.Binary(t), "--config", file, harness.ProfilesGate).CombinedOutput()
		assert.Error(t, err, name)
		assert.Contains(t, string(output), "another process uses the storage directory", name)
	}
}
