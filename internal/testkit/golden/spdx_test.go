// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestSPDX: every Go file names its licence.
func TestSPDX(t *testing.T) {
	list := exec.Command("git", "ls-files", "*.go")
	list.Dir = Root(t)
	output, err := list.Output()
	if err != nil {
		t.Skipf("not a checkout of git: %v", err)
	}
	for _, name := range strings.Fields(string(output)) {
		text, err := os.ReadFile(filepath.Join(Root(t), name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		require.NoError(t, err)
		assert.True(t, bytes.HasPrefix(text, []byte("// SPDX-License-Identifier: Apache-2.0\n")), "%s has no SPDX header", name)
	}
}
