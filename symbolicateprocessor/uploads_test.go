// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/uploads"
)

// TestBodyReader: requests share a budget of memory, and release their part.
func TestBodyReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // requests wait for memory
		read := bodyReader()
		request := func(size int) ([]byte, func(), error) {
			return read(httptest.NewRequest("POST", "/", strings.NewReader(strings.Repeat("x", size))), 2<<20, 8)
		}
		var releases []func()
		refused := 0
		for range 8 {
			body, done, err := request(2 << 20)
			releases = append(releases, done)
			if err != nil {
				assert.ErrorIs(t, err, uploads.ErrNoMemory)
				refused++
				break
			}
			assert.Len(t, body, 2<<20)
		}
		require.Equal(t, 1, refused)
		for _, release := range releases {
			release()
		}
		body, done, err := request(100)
		require.NoError(t, err)
		assert.Len(t, body, 100)
		done()
		_, done, err = request(2<<20 + 1)
		assert.ErrorContains(t, err, "too large")
		done()
	})
}

// Uploads may have half of the files, and downloads a quarter.
func TestShareOfFiles(t *testing.T) {
	h := start(t, "max_files: 40}, uploads: {endpoint: 'localhost:0', token: secret}, downloads: {debuginfod_urls: ['https://symbols.example']")
	files := h.processor.(*profilesProcessor).Shared
	for store, most := range map[*filestore.Store]int{files.uploads.store: 20, files.remote.store: 10} {
		for i := range 50 {
			_, err := store.Save(fmt.Sprintf("a/%d", i), strings.NewReader("x"), 1)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(store.List()), most)
		}
		assert.GreaterOrEqual(t, len(store.List()), most*8/10)
	}
}
