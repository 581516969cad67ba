// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"io/fs"
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

// TestOTLPLimit: the decoder of the collector's receiver has no depth limit. A nested message of 12
// MB ended the collector (v0.164.0); with 4 MB, the peak was 0.5 GB.
func TestOTLPLimit(t *testing.T) {
	receivers := 0
	for _, path := range append(examples(t), filepath.Join(golden.Root(t), "packaging", "image", "config.yaml")) {
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		var config struct {
			Receivers map[string]struct {
				Protocols map[string]map[string]any
			}
		}
		require.NoError(t, yaml.Unmarshal(text, &config), path)
		for name, receiver := range config.Receivers {
			if http, ok := receiver.Protocols["http"]; ok {
				receivers++
				assert.Equal(t, 4<<20, http["max_request_body_size"], "%s: %s", path, name)
			}
		}
	}
	assert.NotZero(t, receivers)
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
			if !isCollectorConfig(block) {
				continue
			}
			config := filepath.Join(dir, fmt.Sprintf("%s-%d.yaml", strings.ReplaceAll(page, string(filepath.Separator), "-"), i+1))
			configs = append(configs, config)
			if err := os.WriteFile(config, []byte(block), 0o600); err != nil {
				return err
			}
		}
		return nil
	}))
	return configs
}
