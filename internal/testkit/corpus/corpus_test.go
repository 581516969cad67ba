// SPDX-License-Identifier: Apache-2.0

package corpus

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const root = "../../.."

// maxSize is the maximum size of all recordings in the repository.
const maxSize = 5_000_000

var readableLine = regexp.MustCompile(`"(?:context_line|pre_context|post_context)"\s*:\s*\[?\s*"[^"]*[^"*]`)

// TestPublic: the recordings are complete, small, and without source code and paths of machines.
func TestPublic(t *testing.T) {
	requests, err := ReadPublic(Public(root))
	require.NoError(t, err)
	require.Greater(t, len(requests), 700)
	for i, r := range requests {
		body, _, err := r.DecodeEvent()
		if !strings.HasSuffix(r.Path, "/store/") {
			body, err = r.Decode()
		}
		require.NoError(t, err, r.Name)
		require.NotEmpty(t, body, r.Name)
		if bytes.Contains(body, []byte("_context")) || bytes.Contains(body, []byte("context_")) {
			assert.Empty(t, readableLine.Find(body), r.Name)
		}
		for _, path := range []string{"/root/", "/work/", "/Users/"} {
			assert.False(t, bytes.Contains(body, []byte(path)), "%s in %s", path, r.Name)
		}
		if i%20 == 0 {
			encodings(t, body)
		}
	}
	size := int64(0)
	require.NoError(t, filepath.WalkDir(filepath.Join(root, "testdata", "corpus"), func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		size += info.Size()
		return err
	}))
	assert.Less(t, size, int64(maxSize))
	t.Logf("%d requests in %d bytes", len(requests), size)
}

func encodings(t *testing.T, body []byte) {
	for _, encoding := range []string{"gzip", "br", ""} {
		encoded, err := encode(body, encoding, false)
		require.NoError(t, err)
		decoded, err := Request{Body: encoded, Encoding: encoding}.Decode()
		require.NoError(t, err)
		require.True(t, bytes.Equal(body, decoded))
	}
}

// TestPage: testdata/corpus/README.md lists every recorded SDK, and the purpose of each scenario.
func TestPage(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "testdata", "corpus", "README.md"))
	require.NoError(t, err)
	archives, err := filepath.Glob(filepath.Join(Public(root), "*", "*.tar.zst"))
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, archive := range archives {
		folder := filepath.Base(filepath.Dir(archive))
		dash := strings.LastIndex(folder, "-")
		scenario := strings.TrimSuffix(filepath.Base(archive), ".tar.zst")
		assert.Regexp(t, "`"+regexp.QuoteMeta(folder[:dash])+"` [^;]*"+regexp.QuoteMeta(folder[dash+1:])+"[,;.]", string(page))
		assert.Regexp(t, `(?m)^\| `+regexp.QuoteMeta(scenario)+` \| [^|]+ \|$`, string(page))
	}
}
