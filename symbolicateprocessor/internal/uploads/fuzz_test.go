// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// FuzzUploads: whatever a client with the token sends, the server stores only files with valid
// names in its four folders, no larger than the limits, and answers 200 or 400.
func FuzzUploads(f *testing.F) {
	f.Add(byte(0), []byte(zipOf(f, map[string]string{manifestName: goodManifest, "_/_/app.js": "x", "_/_/app.js.map": "{}"})))
	f.Add(byte(0), []byte(zipOf(f, map[string]string{manifestName: `{"files":{"../x.js":{"type":"minified_source"}}}`})))
	f.Add(byte(1), []byte(symbolFile))
	f.Add(byte(2), []byte("a.b -> c:\n"))
	f.Add(byte(3), []byte("--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../../x\"\r\n\r\n1\r\n--x--\r\n"))
	f.Add(byte(4), []byte(`{"5f3c":{"name":"../x","chunks":["../../etc/passwd"]}}`))
	f.Add(byte(5), []byte(`{"checksum":"../..","chunks":["..",null]}`))
	f.Fuzz(func(t *testing.T, kind byte, content []byte) {
		c, text := newClient(t, 1<<20), string(content)
		if kind%6 < 3 && len(content) > 0 {
			status, body := c.chunks("file", map[string]string{sum(text): text})
			require.Equal(t, 200, status, body)
		}
		status := 200
		switch kind % 6 {
		case 0:
			c.bundle(text, []string{"", "shop@1.0"}[kind/6%2])
		case 1:
			c.assemble("shop.sym", text)
		case 2:
			c.assemble("/proguard/"+buildID+".txt", text)
		case 3:
			status, _ = c.do("POST", chunksPath, token, "multipart/form-data; boundary=x", bytes.NewReader(content))
		case 4:
			status, _ = c.do("POST", filesPath, token, "application/json", bytes.NewReader(content))
		case 5:
			status, _ = c.do("POST", bundlesPath, token, "application/json", bytes.NewReader(content))
		}
		assert.Contains(t, []int{200, 400}, status)
		for _, file := range c.store.List() {
			folder, _, _ := strings.Cut(file.Name, "/")
			assert.Contains(t, []string{"bundles", "chunks", "files", ReleasesFolder}, folder)
			assert.True(t, fs.ValidPath(file.Name), file.Name)
			if folder != ChunksFolder {
				assert.LessOrEqual(t, file.Size, int64(50_000))
			}
		}
	})
}
