// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
)

const (
	token   = "secret"
	buildID = "5f3c1ab0-8d4a-4e65-9b0c-73656e747279"
	debugID = "3f2b7c1e-8d4a-4e65-9b0c-73656e747279"

	chunksPath  = "/api/0/organizations/o/chunk-upload/"
	filesPath   = "/api/0/projects/o/p/files/difs/assemble/"
	bundlesPath = "/api/0/organizations/o/artifactbundle/assemble/"

	symbolFile = "MODULE Linux x86_64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop\nFUNC 1000 10 0 main\n"
)

// client is sentry-cli.
type client struct {
	*testing.T
	server *Server
	store  *filestore.Store
	counts map[Outcome]int
	stored int
}

func newClient(t *testing.T, size int64) *client {
	store, err := filestore.Open(t.TempDir(), size)
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	c := &client{T: t, store: store, counts: map[Outcome]int{}}
	c.server = NewServer(store, Options{
		Token: token, MaxFileBytes: 10_000, MaxNativeBytes: 50_000, ReadBody: readBody, Count: func(o Outcome) { c.counts[o]++ }, Stored: func() { c.stored++ },
	})
	return c
}

func readBody(r *http.Request, limit, _ int64) ([]byte, func(), error) {
	body, err := io.ReadAll(http.MaxBytesReader(nil, r.Body, limit))
	return body, func() {}, err
}

func (c *client) do(method, path, token, kind string, body io.Reader) (int, string) {
	r := httptest.NewRequest(method, path, body)
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	c.server.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

func sum(text string) string {
	s := sha1.Sum([]byte(text))
	return hex.EncodeToString(s[:])
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, text)
	_ = w.Close()
	return b.String()
}

// chunks uploads chunks by their names.
func (c *client) chunks(field string, chunks map[string]string) (int, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, content := range chunks {
		part, err := w.CreateFormFile(field, name)
		require.NoError(c, err)
		_, err = io.WriteString(part, content)
		require.NoError(c, err)
	}
	require.NoError(c, w.Close())
	return c.do("POST", chunksPath, token, w.FormDataContentType(), &b)
}

// assemble asks for a file of one chunk per text.
func (c *client) assemble(name string, texts ...string) answer {
	f := file{Name: name}
	for _, text := range texts {
		f.Chunks = append(f.Chunks, sum(text))
	}
	whole := sum(strings.Join(texts, ""))
	body, err := json.Marshal(map[string]file{whole: f})
	require.NoError(c, err)
	status, text := c.do("POST", filesPath, token, "application/json", bytes.NewReader(body))
	require.Equal(c, 200, status, text)
	var answers map[string]answer
	require.NoError(c, json.Unmarshal([]byte(text), &answers))
	return answers[whole]
}

func (c *client) bundle(archive, release string) answer {
	body, err := json.Marshal(bundle{sum(archive), []string{sum(archive)}, release})
	require.NoError(c, err)
	status, text := c.do("POST", bundlesPath, token, "application/json", bytes.NewReader(body))
	require.Equal(c, 200, status, text)
	var a answer
	require.NoError(c, json.Unmarshal([]byte(text), &a))
	return a
}

func (c *client) names() (names []string) {
	for _, f := range c.store.List() {
		names = append(names, f.Name)
	}
	return names
}

func TestFiles(t *testing.T) {
	c := newClient(t, 1<<20)
	first, second := symbolFile[:20], symbolFile[20:]
	a := c.assemble("shop.sym", first, second)
	assert.Equal(t, stateNotFound, a.State)
	assert.Equal(t, []string{sum(first), sum(second)}, a.Missing)

	status, text := c.chunks("file", map[string]string{sum(first): first})
	require.Equal(t, 200, status, text)
	assert.Equal(t, []string{sum(second)}, c.assemble("shop.sym", first, second).Missing)
	status, text = c.chunks("file_gzip", map[string]string{sum(second): zipped(second)})
	require.Equal(t, 200, status, text)
	for _, outcome := range []Outcome{Stored, Known} {
		a = c.assemble("shop.sym", first, second)
		require.Equal(t, stateOK, a.State, a.Detail)
		assert.Equal(t, "4fbf22d9-b8d2-4ba2-a7f8-c1e2d3a4b5c6", a.File.DebugID)
		assert.Equal(t, "shop.sym", a.File.Name)
		assert.Equal(t, 1, c.counts[outcome])
	}
	assert.Equal(t, 1, c.stored)
	assert.Equal(t, []string{"files/" + sum(symbolFile) + "/symbols"}, c.names(), "without chunks")
}

func TestMappings(t *testing.T) {
	const mapping = "com.example.Shop -> a.a:\n"
	c := newClient(t, 1<<20)
	c.chunks("file", map[string]string{sum(mapping): mapping})
	a := c.assemble("/proguard/"+strings.ToUpper(buildID)+".txt", mapping)
	require.Equal(t, stateOK, a.State, a.Detail)
	assert.Equal(t, buildID, a.File.DebugID)
	assert.Equal(t, []string{"files/" + sum(mapping) + "/" + buildID + ".txt"}, c.names())
}

// zipOf returns an archive; a manifest has the types of its other files.
func zipOf(t testing.TB, files map[string]string) string { return zipIn(t, zip.Deflate, files) }

// zipIn compresses all files but the list of them with a method.
func zipIn(t testing.TB, method uint16, files map[string]string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zstd.ZipMethodWinZip, zstd.ZipCompressor())
	for name, content := range files {
		header := zip.FileHeader{Name: name, Method: method}
		if name == manifestName {
			header.Method = zip.Deflate
		}
		f, err := w.CreateHeader(&header)
		require.NoError(t, err)
		_, err = io.WriteString(f, content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.String()
}

const goodManifest = `{"files":{
	"_/_/app.js":{"type":"minified_source","headers":{"debug-id":"` + debugID + `","sourcemap":"app.js.map"}},
	"_/_/app.js.map":{"type":"source_map"},
	"_/_/app.ts":{"type":"source"}}}`

func TestBundles(t *testing.T) {
	c := newClient(t, 1<<20)
	archive := "SYSB\x02\x00\x00\x00" + zipOf(t, map[string]string{
		"manifest.json": goodManifest, "_/_/app.js": "l()", "_/_/app.js.map": "{}", "_/_/app.ts": "x",
	})
	assert.Equal(t, stateNotFound, c.bundle(archive, "").State)
	c.chunks("file_gzip", map[string]string{sum(archive): zipped(archive)})
	a := c.bundle(archive, "")
	require.Equal(t, stateOK, a.State, a.Detail)
	folder := "bundles/" + sum(archive) + "/"
	assert.Equal(t, []string{folder + "_/_/app.js", folder + "_/_/app.js.map", folder + "manifest.json"}, c.names())
	script, err := c.store.Read(folder + "_/_/app.js")
	require.NoError(t, err)
	assert.Equal(t, "l()\n//# debugId="+debugID+"\n", string(script))
	assert.Equal(t, stateOK, c.bundle(archive, "").State)
	assert.Equal(t, map[Outcome]int{Stored: 1, Known: 1}, c.counts)
	require.NoError(t, c.store.Remove(folder+"_/_/app.js.map"))
	assert.Equal(t, stateNotFound, c.bundle(archive, "").State, "a bundle whose files were evicted is uploaded again")
}

// Scripts without debug IDs are stored by release and path. A new build replaces the files of the
// old one.
func TestReleases(t *testing.T) {
	c := newClient(t, 1<<20)
	upload := func(release, script string) answer {
		archive := zipOf(t, map[string]string{
			"manifest.json":           `{"files":{"files/_/_/assets/app.js":{"type":"minified_source"},"files/https/cdn.example/assets/app.js.map":{"type":"source_map"}}}`,
			"files/_/_/assets/app.js": script, "files/https/cdn.example/assets/app.js.map": "{}",
		})
		c.chunks("file", map[string]string{sum(archive): archive})
		return c.bundle(archive, release)
	}
	for _, build := range []string{"first()", "second()"} {
		a := upload("shop/web@1.0", build)
		require.Equal(t, stateOK, a.State, a.Detail)
		script, err := c.store.Read("releases/shop%2Fweb@1.0/assets/app.js")
		require.NoError(t, err)
		assert.Equal(t, build, string(script))
	}
	folder := ReleasesFolder + "/" + ReleaseFolder("shop/web@1.0") + "/"
	assert.Equal(t, []string{folder + "assets/app.js", folder + "assets/app.js.map", folder + "manifest.json"}, c.names())
	for _, release := range []string{".", "..", strings.Repeat("x", 201)} {
		assert.Contains(t, upload(release, "x").Detail, "invalid release", release)
	}
	assert.Contains(t, upload("", "x").Detail, "--release")
	assert.Len(t, c.names(), 3)
}

// Useless and hostile uploads are rejected with a reason, and leave nothing.
func TestRejectedUploads(t *testing.T) {
	bundles := map[string]string{
		"not a valid zip file":   "no archive",
		"has no list of files":   zipOf(t, map[string]string{"app.js": "x"}),
		"sentry-cli sourcemaps":  zipOf(t, map[string]string{"manifest.json": `{"files":{"app.js":{"type":"minified_source"}}}`, "app.js": "x"}),
		"invalid path":           zipOf(t, map[string]string{"manifest.json": strings.Replace(goodManifest, "_/_/app.js.map", "../../x.map", 1), "../../x.map": "x"}),
		"unexpected EOF":         zipOf(t, map[string]string{"manifest.json": `{"files":`}),
		"file does not exist":    zipOf(t, map[string]string{"manifest.json": goodManifest, "_/_/app.js.map": "{}"}),
		"the file is too large":  zipOf(t, map[string]string{"manifest.json": goodManifest, "_/_/app.js": "x", "_/_/app.js.map": strings.Repeat("x", 20_000)}),
		"files, more than 10000": zipOf(t, map[string]string{"manifest.json": manyFiles()}),
	}
	for want, archive := range bundles {
		c := newClient(t, 10<<20)
		c.server.MaxNativeBytes = 10 << 20
		status, text := c.chunks("file", map[string]string{sum(archive): archive})
		require.Equal(t, 200, status, text)
		a := c.bundle(archive, "")
		assert.Equal(t, stateError, a.State, want)
		assert.Contains(t, a.Detail, want)
		assert.Equal(t, map[Outcome]int{Rejected: 1}, c.counts, want)
		for _, name := range c.names() {
			assert.NotContains(t, name, ".js\n", want)
			assert.NotContains(t, name, ChunksFolder, want)
		}
	}
	for want, content := range map[string]string{
		"cannot read this file": "PDB", "has no build ID": "\x7fELF" + strings.Repeat("\x00", 100), "too large": strings.Repeat("x", 60_000),
	} {
		c := newClient(t, 1<<20)
		c.chunks("file", map[string]string{sum(content): content})
		a := c.assemble("any", content)
		assert.Equal(t, stateError, a.State, want)
		if want != "has no build ID" { // or is damaged
			assert.Contains(t, a.Detail, want)
		}
		assert.Zero(t, c.stored)
		assert.NotContains(t, strings.Join(c.names(), " "), "files/")
	}
}

func manyFiles() string {
	var b strings.Builder
	b.WriteString(`{"files":{`)
	for i := range maxFiles + 1 {
		fmt.Fprintf(&b, `"%d.js":{},`, i)
	}
	return strings.TrimSuffix(b.String(), ",") + "}}"
}

func TestRejectedChunks(t *testing.T) {
	c := newClient(t, 100<<20)
	tooMany := map[string]string{}
	for i := range chunksPerRequest + 1 {
		text := fmt.Sprint(i)
		tooMany[sum(text)] = text
	}
	bomb := strings.Repeat("x", chunkSize+1)
	for want, chunks := range map[string]map[string]string{
		"is not a SHA-1":       {"../../etc": "x"},
		"SHA-1 of the content": {sum("a"): "b"},
		"more than 64":         tooMany,
		"is too large":         {sum(bomb): zipped(bomb)},
		"invalid header":       {sum("x"): "not gzip, but as long as a header"},
		"the file is empt":     {sum(""): zipped("")},
	} {
		field := "file"
		if want == "is too large" || want == "invalid header" || want == "the file is empt" {
			field = "file_gzip"
		}
		status, text := c.chunks(field, chunks)
		assert.Equal(t, 400, status, want)
		assert.Contains(t, text, want)
	}
	status, _ := c.do("POST", chunksPath, token, "text/plain", strings.NewReader("x"))
	assert.Equal(t, 400, status)
	assert.Equal(t, 7, c.counts[Rejected])
	for _, name := range c.names() {
		assert.NotContains(t, name, filestore.PartPrefix)
	}

	// Hashes of other forms do not lead out of the store.
	for _, body := range []string{`{"../x":{"name":"x","chunks":["` + sum("x") + `"]}}`, `{"` + sum("x") + `":{"name":"x","chunks":["../../x"]}}`} {
		status, text := c.do("POST", filesPath, token, "application/json", strings.NewReader(body))
		assert.Equal(t, 200, status)
		assert.Contains(t, text, `"state":"error"`)
	}
	_, text := c.do("POST", bundlesPath, token, "application/json", strings.NewReader(`{"checksum":"../x","chunks":["../x"]}`))
	assert.Contains(t, text, `"state":"error"`)
	assert.Equal(t, stateNotFound, c.assemble("empty").State)
}

func TestToken(t *testing.T) {
	c := newClient(t, 1<<20)
	for _, wrong := range []string{"", "x", token + "x"} {
		status, text := c.do("GET", chunksPath, wrong, "", nil)
		assert.Equal(t, 401, status)
		assert.Contains(t, text, "invalid token")
	}
	c.server.Token = ""
	status, _ := c.do("GET", chunksPath, "", "", nil)
	assert.Equal(t, 401, status, "no token never fits")
	assert.Equal(t, map[Outcome]int{Unauthorized: 4}, c.counts)
}

func TestOtherRequests(t *testing.T) {
	c := newClient(t, 1<<20)
	status, text := c.do("GET", chunksPath, token, "", nil)
	assert.Equal(t, 200, status)
	assert.Contains(t, text, `"url":"/organizations/o/chunk-upload/","chunkSize":8388608`)
	status, _ = c.do("GET", "/api/0/", token, "", nil)
	assert.Equal(t, 200, status)
	status, text = c.do("POST", "/api/0/organizations/o/releases/", token, "", strings.NewReader(`{"version":"shop@1"}`))
	assert.Equal(t, 200, status)
	assert.Contains(t, text, `"version":"shop@1"`)
	_, text = c.do("PUT", "/api/0/organizations/o/releases/shop@2/", token, "", strings.NewReader(`{}`))
	assert.Contains(t, text, `"version":"shop@2"`)
	for path, body := range map[string]string{filesPath: "x", bundlesPath: "[]", "/api/0/organizations/o/releases/": `{"version":"` + strings.Repeat("x", maxDescription) + `"}`} {
		status, _ = c.do("POST", path, token, "", strings.NewReader(body))
		assert.Equal(t, http.StatusBadRequest, status, path)
	}
	status, text = c.do("GET", "/api/0/projects/o/p/issues/", token, "", nil)
	assert.Equal(t, 404, status)
	assert.Contains(t, text, "only accepts uploads")
}

// TestArchiveBombs: an archive whose list of files needs much memory, or whose files need more
// folders than bytes.
func TestArchiveBombs(t *testing.T) {
	deep := strings.Repeat("a/", maxFolders+1) + "x.js"
	long := strings.Repeat("a", maxPath) + ".js"
	manifestOf := func(name string) string {
		return `{"files":{"` + name + `":{"type":"minified_source","headers":{"debug-id":"` + debugID + `"}}}}`
	}
	listed := map[string]string{"manifest.json": goodManifest}
	for i := range 60 { // the list of a zip has names of up to 64 KiB, twice: stored files are empty
		listed[strings.Repeat("x", 65_000)+fmt.Sprint(i)] = ""
		listed[strings.Repeat("y", 65_000)+fmt.Sprint(i)] = ""
		listed[strings.Repeat("z", 65_000)+fmt.Sprint(i)] = ""
	}
	for want, archive := range map[string]string{
		"the list of files has more than": zipOf(t, listed),
		"invalid path \"a/a/":             zipOf(t, map[string]string{"manifest.json": manifestOf(deep), deep: "x"}),
		"invalid path \"aaaa":             zipOf(t, map[string]string{"manifest.json": manifestOf(long), long: "x"}),
	} {
		c := newClient(t, 100<<20)
		c.server.MaxNativeBytes = 100 << 20
		var chunks []string
		for rest := archive; rest != ""; {
			part := rest[:min(len(rest), chunkSize)]
			rest = rest[len(part):]
			status, text := c.chunks("file", map[string]string{sum(part): part})
			require.Equal(t, 200, status, text)
			chunks = append(chunks, sum(part))
		}
		a := c.server.bundle(t.Context(), bundle{Checksum: sum(archive), Chunks: chunks})
		assert.Equal(t, stateError, a.State, want)
		assert.Contains(t, a.Detail, want)
		assert.Empty(t, c.names())
	}
}

// TestRepeatedChunks: one chunk can become a file of any size, which counts while it is written,
// and nobody reads if the client is gone.
func TestRepeatedChunks(t *testing.T) {
	c := newClient(t, 4<<20)
	c.server.MaxNativeBytes = 1 << 40
	chunk := strings.Repeat("x", 1<<20)
	status, text := c.chunks("file", map[string]string{sum(chunk): chunk})
	require.Equal(t, 200, status, text)
	f := file{Name: "x", Chunks: slices.Repeat([]string{sum(chunk)}, 40_000)}
	a := c.server.file(t.Context(), sum("other"), f)
	assert.Equal(t, stateError, a.State)
	assert.Contains(t, a.Detail, "full of incomplete files")
	assert.Equal(t, 1, c.counts[Failed])
	assert.LessOrEqual(t, c.store.Total(), int64(4<<20))

	gone, leave := context.WithCancel(t.Context())
	leave()
	c.chunks("file", map[string]string{sum(chunk): chunk})
	a = c.server.file(gone, sum(chunk), file{Name: "x", Chunks: []string{sum(chunk)}})
	assert.Contains(t, a.Detail, "context canceled")
	for _, name := range c.names() {
		assert.True(t, strings.HasPrefix(name, ChunksFolder), name)
	}
}

// TestNoMemory: requests without memory are to be repeated.
func TestNoMemory(t *testing.T) {
	c := newClient(t, 1<<20)
	c.server.ReadBody = func(*http.Request, int64, int64) ([]byte, func(), error) { return nil, func() {}, ErrNoMemory }
	for _, path := range []string{filesPath, bundlesPath} {
		status, text := c.do("POST", path, token, "", strings.NewReader("{}"))
		assert.Equal(t, http.StatusServiceUnavailable, status, text)
	}
	assert.Empty(t, c.counts)
}

// TestBrokenDisk: the client repeats chunks that the disk cannot store, and does not read where the
// collector stores files.
func TestBrokenDisk(t *testing.T) {
	c := newClient(t, 1<<20)
	require.NoError(t, c.store.Root.Close())
	status, text := c.chunks("file", map[string]string{sum("x"): "x"})
	assert.Equal(t, http.StatusInsufficientStorage, status)
	assert.Contains(t, text, "cannot store")
	assert.NotContains(t, text, c.store.Directory)
	assert.Equal(t, map[Outcome]int{Failed: 1}, c.counts)
}
