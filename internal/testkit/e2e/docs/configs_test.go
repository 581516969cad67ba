// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
)

// TestConfigs: the collector accepts every configuration in examples/ and every complete
// configuration on a page.
func TestConfigs(t *testing.T) {
	path := harness.Binary(t)
	for _, name := range []string{"SENTRY_DSN", "SENTRY_DSN_SHOP", "SENTRY_DSN_API"} {
		t.Setenv(name, "https://0123456789abcdef0123456789abcdef@sentry.example/42")
	}
	configs := examples(t)
	require.NotEmpty(t, configs, "configurations under examples/")
	shown := shownOnPages(t, t.TempDir())
	require.Greater(t, len(shown), 5, "configurations on pages")
	for _, config := range slices.Concat(configs, shown) {
		t.Run(filepath.Base(filepath.Dir(config))+"/"+filepath.Base(config), func(t *testing.T) {
			output, err := exec.Command(path, "validate", "--config", config, harness.ProfilesGate).CombinedOutput()
			assert.NoError(t, err, "%s", output)
		})
	}
}

// TestOTLPLimits: wherever a configuration opens the collector's OTLP receiver, it has the settings
// under which TestHostileInputs attacks the receiver. It survives nested messages: the decoder
// stops at 100 levels since v0.165.0.
func TestOTLPLimits(t *testing.T) {
	receivers := 0
	for _, path := range slices.Concat(examples(t), packagedConfigs(t), shownOnPages(t, t.TempDir())) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var config struct {
			Receivers map[string]struct {
				Protocols map[string]map[string]any
			}
			Service struct{ Extensions []string }
		}
		require.NoError(t, yaml.Unmarshal(text, &config), path)
		for name, receiver := range config.Receivers {
			for protocol, settings := range receiver.Protocols {
				receivers++
				where := fmt.Sprintf("%s: %s: %s", path, name, protocol)
				assert.Equal(t, []any{map[string]any{"id": "otlp_limit"}}, settings["middlewares"], where)
				assert.Contains(t, config.Service.Extensions, "otlp_limit", where)
				switch protocol {
				case "http":
					assert.Equal(t, 4<<20, settings["max_request_body_size"], where)
					assert.Equal(t, []any{"", "gzip"}, settings["compression_algorithms"], where)
					assert.Equal(t, "30s", settings["read_timeout"], where)
				case "grpc":
					assert.Contains(t, settings, "max_recv_msg_size_mib", where)
					assert.Equal(t, 16, settings["max_concurrent_streams"], where)
				}
			}
		}
	}
	assert.Greater(t, receivers, 5)
}

// TestPackagedSignals: packaged configurations have a pipeline for each signal.
func TestPackagedSignals(t *testing.T) {
	packaged := append(packagedConfigs(t), filepath.Join(golden.Root(t), "examples", "quickstart", "config.yaml")) // in archives
	for _, path := range packaged {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var config struct {
			Service struct{ Pipelines map[string]any }
		}
		require.NoError(t, yaml.Unmarshal(text, &config), path)
		assert.ElementsMatch(t, []string{"profiles", "traces", "logs", "metrics"}, slices.Collect(maps.Keys(config.Service.Pipelines)), path)
	}
}

// TestExporters: wherever otlp_http is configured, it keeps a connection for each consumer of its
// queue. The queues of packages and examples are limited in bytes, because the number of requests
// says nothing about memory.
func TestExporters(t *testing.T) {
	exporters := 0
	check := func(where, text string, queue bool) {
		var config struct{ Exporters map[string]map[string]any }
		if yaml.Unmarshal([]byte(text), &config) != nil {
			return // not a configuration
		}
		for id, settings := range config.Exporters {
			if kind, _, _ := strings.Cut(id, "/"); kind != "otlp_http" || settings["config"] != nil { // values of the chart, which sets it
				continue
			}
			exporters++
			assert.Equal(t, map[string]any{"max_idle_conns_per_host": 10}, settings["keepalive"], "%s: %s; sending_queue::num_consumers is 10", where, id)
			if queue {
				set, _ := settings["sending_queue"].(map[string]any)
				assert.Equal(t, "bytes", set["sizer"], "%s: %s", where, id)
				assert.IsType(t, 0, set["queue_size"], "%s: %s", where, id)
			}
		}
	}
	for _, path := range slices.Concat(examples(t), packagedConfigs(t)) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		check(path, string(text), true)
	}
	eachBlock(t, func(page string, _ int, block string) { check(page, block, page == "README.md") })
	assert.Greater(t, exporters, 10)
}

func packagedConfigs(t *testing.T) []string {
	configs, err := filepath.Glob(filepath.Join(golden.Root(t), "packaging", "*", "config.yaml"))
	require.NoError(t, err)
	require.Len(t, configs, 2)
	return configs
}

func examples(t *testing.T) []string {
	configs, err := filepath.Glob(filepath.Join(golden.Root(t), "examples", "*", "*.yaml"))
	require.NoError(t, err)
	return slices.DeleteFunc(configs, func(path string) bool { // builder-config.yaml and configurations of backends
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		return !isCollectorConfig(string(text))
	})
}

func isCollectorConfig(text string) bool { return strings.Contains("\n"+text, "\nservice:") }

// shownOnPages writes YAML blocks of all pages to files, if they have a service section and are
// therefore complete.
func shownOnPages(t *testing.T, dir string) (configs []string) {
	eachBlock(t, func(page string, i int, block string) {
		if !isCollectorConfig(block) {
			return
		}
		config := filepath.Join(dir, fmt.Sprintf("%s-%d.yaml", strings.ReplaceAll(page, "/", "-"), i))
		configs = append(configs, config)
		require.NoError(t, os.WriteFile(config, []byte(block), 0o600))
	})
	return configs
}

// eachBlock calls do with each YAML block of all pages, and its number on the page.
func eachBlock(t *testing.T, do func(page string, i int, block string)) {
	root := golden.Root(t)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name := entry.Name()
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == "node_modules" || name == "dist" || name == "output" || name == ".git"):
			return filepath.SkipDir
		case filepath.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		page, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for i, block := range strings.Split(string(text), "```yaml\n")[1:] {
			block, _, _ := strings.Cut(block, "```")
			do(filepath.ToSlash(page), i+1, block)
		}
		return nil
	}))
}
