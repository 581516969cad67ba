// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/downloads"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// appServer serves the minified application and its map at /assets/app.js, with a debug ID unless
// it is empty.
func appServer(t *testing.T, id string) (server *httptest.Server, requests *atomic.Int64) {
	t.Helper()
	const app = "internal/symbols/sourcemap/testdata/app/esbuild.js"
	script, err := os.ReadFile(app)
	require.NoError(t, err)
	sourceMap, err := os.ReadFile(app + ".map")
	require.NoError(t, err)
	if id != "" {
		script = append(script, "\n//# debugId="+id+"\n"...)
	}
	requests = new(atomic.Int64)
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		switch r.URL.Path {
		case "/assets/app.js":
			w.Header().Set("SourceMap", "/maps/app.json")
			_, _ = w.Write(script)
		case "/maps/app.json":
			_, _ = w.Write(sourceMap)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server, requests
}

func startDownloads(t *testing.T, server *httptest.Server) *harness {
	t.Helper()
	return start(t, "}, downloads: {allow_http: true, source_map_hosts: ['"+strings.TrimPrefix(server.URL, "http://")+"'], debuginfod_urls: ['"+server.URL+"']")
}

// Scripts are downloaded when a profile needs them; the profiles until then pass. Scripts without a
// usable file count as missing.
func TestDownloadedScript(t *testing.T) {
	server, requests := appServer(t, "")
	h := startDownloads(t, server)
	h.eventually(server.URL+"/assets/app.js?v=1", "", "discountOf")
	assert.Equal(t, int64(1), h.sum("downloads"))
	assert.Equal(t, int64(2), requests.Load())
	h.eventually("https://other.example/assets/app.js", "", "l")
	h.eventually(server.URL+"/other/script.js", "", "l")
	files := h.processor.(*profilesProcessor).Shared
	require.Eventually(t, func() bool {
		_, status := files.of(anyone).Script(symbolicate.ScriptID{URL: server.URL + "/other/script.js"})
		return status == symbols.MissingFile
	}, time.Minute, time.Millisecond)
	assert.Equal(t, int64(3), requests.Load())
}

// A downloaded script with a debug ID is found by it, also under other URLs. It is not used for
// other debug IDs.
func TestDownloadedDebugID(t *testing.T) {
	server, _ := appServer(t, debugID)
	h := startDownloads(t, server)
	h.eventually(server.URL+"/assets/app.js", strings.ReplaceAll(debugID, "3", "4"), "l")
	h.eventually(server.URL+"/assets/app.js", debugID, "discountOf")
	h.eventually("https://other.example/x.js", debugID, "discountOf")
	files := h.processor.(*profilesProcessor).Shared
	require.Eventually(t, func() bool {
		_, status := files.of(anyone).Script(symbolicate.ScriptID{URL: server.URL + "/assets/app.js", DebugID: strings.ReplaceAll(debugID, "3", "4")})
		return status == symbols.MissingFile
	}, time.Minute, time.Millisecond)
}

// A download that is old is used, and fetched again: a new build may have the same URL. The newest
// one is used, whichever tenant asked for it.
func TestOldDownload(t *testing.T) {
	server, requests := appServer(t, "")
	h := startDownloads(t, server)
	url := server.URL + "/assets/app.js"
	script := filepath.Join(downloadsFolder, downloads.ScriptPath(url))
	h.add(script, "")
	old := time.Now().Add(-2 * refreshAfter)
	require.NoError(t, os.Chtimes(filepath.Join(h.directory, script), old, old))
	h.eventually(url, "", "discountOf")
	require.Eventually(t, func() bool {
		h.eventually(url, "", "discountOf")
		b := h.processor.(*profilesProcessor).Shared.catalog.Load().downloaded(url)
		return requests.Load() > 0 && time.Since(b.file.modified) < refreshAfter // a scan may see the file before it is old
	}, time.Minute, time.Millisecond)
	assert.Equal(t, int64(2), requests.Load())
}

// A downloaded script whose map was removed is not opened.
func TestRemovedMap(t *testing.T) {
	h := start(t, "")
	h.add("app.js", "")
	h.eventually(pageURL, "", "discountOf")
	require.NoError(t, os.Remove(filepath.Join(h.directory, "app.js.map")))
	h.eventually(pageURL, "", "l")
}

// Debug information is downloaded from debuginfod.
func TestDebuginfod(t *testing.T) {
	const id = "4fbf22d9b8d24ba2a7f8c1e2d3a4b5c0"
	content := breakpad(strings.TrimSuffix(id, "0"), "Downloaded")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/buildid/"+id+"/debuginfo" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write([]byte(content))
	}))
	t.Cleanup(server.Close)
	h := startDownloads(t, server)
	h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.MissingFile)
	assert.Zero(t, h.sum("downloads"))
	assert.Equal(t, "Downloaded", functionAt(h.object(symbolicate.NativeID{BuildID: id}, symbols.OK), 0x1005))
	assert.Equal(t, int64(1), h.sum("downloads"))
	h.object(symbolicate.NativeID{BuildID: strings.Repeat("ab", 20)}, symbols.MissingFile)
	assert.Equal(t, int64(2), h.sum("downloads"))
}
