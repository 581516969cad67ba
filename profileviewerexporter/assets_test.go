// SPDX-License-Identifier: Apache-2.0

package profileviewerexporter

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestAssets holds the committed page against its sources, without Node: building it writes a stamp
// of both.
func TestAssets(t *testing.T) {
	stamp, err := os.ReadFile("assets/stamp")
	require.NoError(t, err)
	want := fmt.Sprintf("sources %s\nassets %s\n", digest(t, "web"), digest(t, "assets"))
	assert.Equal(t, want, string(stamp), "the page was not built from these sources: make page")
}

// digest is the SHA-256 of a line per file: its digest, and its path. build.mjs has the same.
func digest(t *testing.T, folder string) string {
	t.Helper()
	var files []string
	require.NoError(t, filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.IsDir() && entry.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if err == nil && entry.Type().IsRegular() && entry.Name() != "stamp" {
			files = append(files, filepath.ToSlash(path))
		}
		return err
	}))
	slices.Sort(files)
	var lines strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		fmt.Fprintf(&lines, "%x %s\n", sha256.Sum256(content), strings.TrimPrefix(file, folder+"/"))
	}
	return fmt.Sprintf("%x", sha256.Sum256([]byte(lines.String())))
}

func TestPage(t *testing.T) {
	h := start(t, nil)
	for path, contentType := range map[string]string{
		"/": "text/html; charset=utf-8", "/page.js": "text/javascript; charset=utf-8", "/page.css": "text/css; charset=utf-8",
		"/icon.svg": "image/svg+xml", "/licenses.txt": "text/plain; charset=utf-8", "/speedscope/": "text/html; charset=utf-8",
	} {
		response, body := h.request(path)
		assert.Equal(t, 200, response.StatusCode, path)
		assert.Equal(t, contentType, response.Header.Get("Content-Type"), path)
		assert.NotEmpty(t, body, path)
	}
	_, index := h.request("/")
	assert.NotContains(t, string(index), "://", "nothing from elsewhere")
	assert.NotContains(t, string(index), "<style", "nothing that the policy forbids")
	assert.NotContains(t, string(index), "<script>")
}
