// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// goFiles returns the Go files of the repository by their paths.
func goFiles(t *testing.T) map[string][]byte {
	list := exec.Command("git", "ls-files", "*.go")
	list.Dir = Root(t)
	output, err := list.Output()
	if err != nil {
		t.Skipf("not a checkout of git: %v", err)
	}
	files := map[string][]byte{}
	for _, name := range strings.Fields(string(output)) {
		text, err := os.ReadFile(filepath.Join(Root(t), name))
		if os.IsNotExist(err) {
			continue // deleted, and not committed yet
		}
		require.NoError(t, err)
		files[name] = text
	}
	return files
}

// TestSPDX: every Go file names its license.
func TestSPDX(t *testing.T) {
	for name, text := range goFiles(t) {
		assert.True(t, bytes.HasPrefix(text, []byte("// SPDX-License-Identifier: Apache-2.0\n")), "%s has no SPDX header", name)
	}
}

// TestCommentWidth: lines of comments end at column 100, with tabs of four columns. Indented text
// and examples are exempt: they are code or output.
func TestCommentWidth(t *testing.T) {
	prose := regexp.MustCompile(`^\t*// \S`)
	for name, text := range goFiles(t) {
		if strings.HasSuffix(name, "/example_test.go") {
			continue
		}
		for number, line := range strings.Split(string(text), "\n") {
			if prose.MatchString(line) && strings.Count(line, " ") > 1 {
				assert.LessOrEqual(t, utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")), maxCommentWidth, "%s:%d", name, number+1)
			}
		}
	}
}

const maxCommentWidth = 100
