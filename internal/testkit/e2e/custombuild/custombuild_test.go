// SPDX-License-Identifier: Apache-2.0

package custombuild

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/e2e/harness"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const config = `receivers:
  sentry:
    endpoint: ADDRESS
exporters:
  top_functions:
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    profiles:
      receivers: [sentry]
      exporters: [top_functions]
`

// TestCustomBuild builds examples/custom-build from a version of the module, and sends a profile to
// its receiver. The example's own exporter reads it with the public packages.
func TestCustomBuild(t *testing.T) {
	testsize.NeedFull(t)
	p, folder := newProxy(t), copyExample(t, "examples/custom-build")
	manifest := filepath.Join(folder, "builder-config.yaml")
	text, err := os.ReadFile(manifest)
	require.NoError(t, err)
	released := regexp.MustCompile(`(?m)^    path: \.\./\.\..*\n`).ReplaceAll(text, nil)
	require.NotEqual(t, text, released)
	require.NoError(t, os.WriteFile(manifest, released, 0o644))

	output, err := p.builder(t, folder, "--config", manifest)
	require.NoError(t, err, "%s", output)

	binary := filepath.Join(folder, "otelcol-custom", "otelcol-custom")
	modules := p.run(t, folder, "version", "-m", binary)
	assert.Regexp(t, `(?m)^\tdep\t`+module+`\t`+version+`\t?h?1?:?\S*$`, modules)

	address := harness.FreeAddress(t)
	file := filepath.Join(folder, "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte(strings.Replace(config, "ADDRESS", address, 1)), 0o644))
	collector := harness.StartCommand(t, exec.Command(binary, "--config", file, harness.ProfilesGate), address)
	require.NoError(t, collector.WaitReady(), "%s", collector.Log.Tail())
	envelope, err := os.ReadFile(filepath.Join(golden.Root(t), "testdata/cases/sdk-python-v2/in.envelope"))
	require.NoError(t, err)
	require.Equal(t, 200, collector.Send(t, harness.EnvelopeRequest(envelope)).Status)
	line := func() string { return regexp.MustCompile(`Top functions.*`).FindString(collector.Log.String()) }
	require.Eventually(t, func() bool { return line() != "" }, 30*time.Second, 50*time.Millisecond)
	assert.Contains(t, line(), `"functions": ["`)
	assert.Contains(t, line(), `"violations": 0`)
}

// TestManifest: the modules of the manifest in the example's README resolve, with the command there
// for modules that are not available. Compiling them would take more than a minute.
func TestManifest(t *testing.T) {
	testsize.NeedFull(t)
	readme, err := os.ReadFile(filepath.Join(golden.Root(t), "examples", "custom-build", "README.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(dist:.*?)```").FindSubmatch(readme)
	require.NotNil(t, block)
	p, folder := newProxy(t), t.TempDir()
	manifest := filepath.Join(folder, "builder-config.yaml")
	require.NoError(t, os.WriteFile(manifest, block[1], 0o644))
	if output, err := p.builder(t, folder, "--skip-compilation", "--config", manifest); err != nil {
		require.Contains(t, output, ".test imports", "only tests need what is missing")
	}
	p.run(t, filepath.Join(folder, "otelcol-custom"), "mod", "tidy", "-e")
	packages := p.run(t, filepath.Join(folder, "otelcol-custom"), "list", "-deps", ".")
	assert.Contains(t, packages, "/k8sattributesprocessor\n")
}

// TestInstall installs the tool as the pages describe, and checks a file with it.
func TestInstall(t *testing.T) {
	testsize.NeedFull(t)
	p, folder := newProxy(t), t.TempDir()
	install := p.command(t, folder, "install", module+"/cmd/envelope@"+version)
	install.Env = append(install.Env, "GOBIN="+folder)
	output, err := install.CombinedOutput()
	require.NoError(t, err, "%s", output)
	output, err = exec.Command(filepath.Join(folder, "envelope"), "check", filepath.Join(golden.Root(t), "testdata/otlp/profiles.json")).CombinedOutput()
	require.NoError(t, err, "%s", output)
	assert.Empty(t, string(output))
}
