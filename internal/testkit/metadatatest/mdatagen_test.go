// SPDX-License-Identifier: Apache-2.0

package metadatatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestOrder: mdatagen rejects files whose attributes or metrics are not sorted.
func TestOrder(t *testing.T) {
	for _, component := range components(t) {
		text, err := os.ReadFile(component)
		require.NoError(t, err)
		var file struct {
			Attributes yaml.Node
			Telemetry  struct{ Metrics yaml.Node }
		}
		require.NoError(t, yaml.Unmarshal(text, &file))
		for _, list := range []yaml.Node{file.Attributes, file.Telemetry.Metrics} {
			var keys []string
			for i := 0; i < len(list.Content); i += 2 {
				keys = append(keys, list.Content[i].Value)
			}
			assert.True(t, slices.IsSorted(keys), "%s: %v", component, keys)
		}
	}
}

const (
	mdatagen        = "go.opentelemetry.io/collector/cmd/mdatagen"
	mdatagenVersion = "v0.159.0" // later: parts are not served
)

// TestMdatagen checks metadata.yaml with OpenTelemetry's generator, which also writes code from it.
// MDATAGEN is the path of another build.
func TestMdatagen(t *testing.T) {
	generator := os.Getenv("MDATAGEN")
	if generator == "" {
		testsize.NeedFull(t)
		folder := t.TempDir()
		generator = filepath.Join(folder, "mdatagen")
		require.NoError(t, os.WriteFile(filepath.Join(folder, "go.mod"), []byte("module tool\ngo 1.26.0\nrequire "+mdatagen+" "+mdatagenVersion+"\n"), 0o600))
		build := exec.Command("go", "build", "-mod=mod", "-o", generator, mdatagen)
		build.Dir = folder
		if output, err := build.CombinedOutput(); err != nil {
			t.Skipf("mdatagen cannot be built: %s", output)
		}
	}
	sources := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(sources, "go.mod"), []byte("module github.com/otelcol-sentry/otelcol-sentry\n"), 0o600))
	for _, component := range components(t) {
		name := filepath.Base(filepath.Dir(component))
		folder := filepath.Join(sources, name)
		require.NoError(t, os.Mkdir(folder, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(folder, "doc.go"), []byte("package "+name+"\n"), 0o600))
		text, err := os.ReadFile(component)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "metadata.yaml"), text, 0o600))
		generate := exec.Command(generator, "metadata.yaml")
		generate.Dir = folder
		output, err := generate.CombinedOutput()
		require.NoError(t, err, "%s: %s", name, output)
		assert.FileExists(t, filepath.Join(folder, "internal", "metadata", "generated_status.go"))
	}
}

func components(t *testing.T) []string {
	files, err := filepath.Glob(filepath.Join(golden.Root(t), "*", "metadata.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	return files
}
