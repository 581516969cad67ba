// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCompose loads the Compose files of the examples as Docker Compose does, which checks their
// schema. Mounted files exist.
func TestCompose(t *testing.T) {
	files, err := filepath.Glob("../examples/*/compose.yml")
	require.NoError(t, err)
	require.Len(t, files, 3)
	for _, file := range files {
		options, err := cli.NewProjectOptions([]string{file}, cli.WithName("test"), cli.WithResolvedPaths(true))
		require.NoError(t, err)
		project, err := cli.ProjectFromOptions(t.Context(), options)
		require.NoError(t, err, file)
		require.NotEmpty(t, project.Services)
		for _, service := range project.Services {
			for _, volume := range service.Volumes {
				if volume.Type == "bind" {
					_, err := os.Stat(volume.Source)
					assert.NoError(t, err, "%s: %s", file, service.Name)
				}
			}
		}
	}
}
