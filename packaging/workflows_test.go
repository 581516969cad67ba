// SPDX-License-Identifier: Apache-2.0

package packaging

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestWorkflows checks the workflows of the forge with actionlint: syntax, contexts, inputs of
// actions, shell scripts.
func TestWorkflows(t *testing.T) {
	// Not in go.mod: it needs another release candidate of a YAML library than the Compose library.
	const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
	files, err := filepath.Glob("../.github/workflows/*.yml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	run(t, "go", append([]string{"run", actionlint, "-no-color"}, files...)...)
}
