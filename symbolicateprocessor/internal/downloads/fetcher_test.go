// SPDX-License-Identifier: Apache-2.0

package downloads

import (
	"compress/gzip"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// anyone is the tenant of messages without authentication.
var anyone tenant.Tenant

const (
	buildID  = "4fbf22d9b8d24ba2a7f8c1e2d3a4b5c6"
	breakpad = "MODULE Linux x86_64 " + buildID + " shop\nFUNC 1000 10 0 main\n"
)

// harness is a fetcher and a server that records requests.
type harness struct {
	*testing.T
	server    *httptest.Server
	directory string
	fetcher   *Fetcher

	mu       sync.Mutex
	requests []string
	outcomes []Outcome
	stored   int
}

// start starts a server with responses by path. A response is the content, or a redirect if it
// starts with "→".
func start(t *testing.T, files map[string]string, adjust ...func(*Options)) *harness {
	h := &harness{T: t, directory: t.TempDir()}
	h.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.requests = append(h.requests, r.URL.String())
		h.mu.Unlock()
		content, ok := files[r.URL.Path]
		target, redirect := strings.CutPrefix(content, "→")
		switch {
		case content == "slow":
			<-r.Context().Done()
		case content == "bomb":
			w.Header().Set("Content-Encoding", "gzip")
			writer := gzip.NewWriter(w)
			_, _ = writer.Write(make([]byte, 10<<20))
			_ = writer.Close()
		case content == "header":
			w.Header().Set("SourceMap", "/maps/other.map")
			_, _ = w.Write([]byte("a()\n//# sourceMappingURL=wrong.map"))
		case content == "error":
			w.WriteHeader(http.StatusInternalServerError)
		case redirect:
			http.Redirect(w, r, target, http.StatusFound)
		case ok:
			_, _ = w.Write([]byte(content))
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(h.server.Close)
	store, err := filestore.Open(h.directory, 1<<20)
	require.NoError(t, err)
	options := Options{
		Hosts: []string{h.host()}, Servers: []string{h.server.URL}, HTTP: true, Timeout: 30 * time.Second, Concurrent: 2, RetryAfter: time.Hour,
		MaxFileBytes: 1000, MaxNativeBytes: 1000,
		Count: func(o Outcome, _ string, err error) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.outcomes = append(h.outcomes, o)
			if (o == Stored) != (err == nil) {
				t.Errorf("%s: %v", o, err)
			}
		},
		Stored: func(context.Context) { h.mu.Lock(); defer h.mu.Unlock(); h.stored++ },
		Ended:  func() {},
	}
	for _, change := range adjust {
		change(&options)
	}
	h.fetcher = NewFetcher(store, options)
	t.Cleanup(func() {
		h.fetcher.Close()
		_ = store.Close()
	})
	return h
}

func (h *harness) host() string { return strings.TrimPrefix(h.server.URL, "http://") }

// script fetches a script, and returns the outcome when the fetcher is done.
func (h *harness) script(path string) Outcome {
	h.Helper()
	require.True(h, h.fetcher.Script(anyone, h.server.URL+path), path)
	return h.wait(func() bool { return h.fetcher.Script(anyone, h.server.URL+path) })
}

func (h *harness) object(id string) Outcome {
	h.Helper()
	require.True(h, h.fetcher.Object(anyone, id), id)
	return h.wait(func() bool { return h.fetcher.Object(anyone, id) })
}

func (h *harness) wait(coming func() bool) Outcome {
	h.Helper()
	require.Eventually(h, func() bool { return !coming() }, time.Minute, time.Millisecond)
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.outcomes[len(h.outcomes)-1]
}

// content returns the stored files by name.
func (h *harness) content() map[string]string {
	h.Helper()
	found := map[string]string{}
	require.NoError(h, filepath.WalkDir(h.directory, func(name string, entry os.DirEntry, err error) error {
		if err == nil && entry.Type().IsRegular() {
			var text []byte
			text, err = os.ReadFile(name)
			found[filepath.Base(name)] = string(text)
		}
		return err
	}))
	return found
}

const sourceMap = `{"version":3,"sources":[],"mappings":""}`

// The source map is the one of the header, of the comment, or the one with the suffix .map. The
// query is not sent.
func TestScript(t *testing.T) {
	for path, files := range map[string]map[string]string{
		"/a/app.js":      {"/a/app.js": "a()", "/a/app.js.map": sourceMap},
		"/a/app.mjs?v=1": {"/a/app.mjs": "a()\n//# sourceMappingURL=../maps/x.map", "/maps/x.map": sourceMap},
		"/a/app.cjs#x":   {"/a/app.cjs": "header", "/maps/other.map": sourceMap},
		"/moved.js":      {"/moved.js": "→/b/app.js", "/b/app.js": "a()", "/b/app.js.map": sourceMap},
	} {
		h := start(t, files)
		assert.Equal(t, Stored, h.script(path), path)
		content := h.content()
		assert.Len(t, content, 2, path)
		assert.Contains(t, content["script.js"], "a()", path)
		assert.Equal(t, sourceMap, content["script.js.map"], path)
		_, err := os.Stat(filepath.Join(h.directory, wanted{}.folder(), ScriptPath(h.server.URL+path)))
		require.NoError(t, err)
		assert.Equal(t, 1, h.stored)
		assert.NotContains(t, strings.Join(h.requests, " "), "?")
	}
}

// Files that cannot be used are not stored, and are not fetched again.
func TestUnusableScripts(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  Outcome
	}{
		"missing":         {nil, NotFound},
		"without a map":   {map[string]string{"/app.js": "a()"}, NotFound},
		"page":            {map[string]string{"/app.js": "\n<!doctype html>"}, NotFound},
		"page as map":     {map[string]string{"/app.js": "a()", "/app.js.map": "<html>"}, NotFound},
		"too large":       {map[string]string{"/app.js": strings.Repeat("a", 1001)}, TooLarge},
		"map too large":   {map[string]string{"/app.js": "a()", "/app.js.map": strings.Repeat("a", 1001)}, TooLarge},
		"bomb":            {map[string]string{"/app.js": "bomb"}, TooLarge},
		"empty":           {map[string]string{"/app.js": ""}, Failed},
		"server error":    {map[string]string{"/app.js": "error"}, Failed},
		"inline map":      {map[string]string{"/app.js": "a()\n//# sourceMappingURL=data:application/json;base64,e30="}, Failed},
		"map elsewhere":   {map[string]string{"/app.js": "a()\n//# sourceMappingURL=http://127.0.0.1:1/secret"}, Forbidden},
		"map of a file":   {map[string]string{"/app.js": "a()\n//# sourceMappingURL=file:///etc/passwd"}, Forbidden},
		"redirect":        {map[string]string{"/app.js": "→http://127.0.0.1:1/secret"}, Forbidden},
		"second redirect": {map[string]string{"/app.js": "→/b.js", "/b.js": "→http://169.254.169.254/latest"}, Forbidden},
		"redirect loop":   {map[string]string{"/app.js": "→/app.js"}, Failed},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, test.files)
			assert.Equal(t, test.want, h.script("/app.js"))
			assert.Empty(t, h.content())
			before := len(h.requests)
			assert.False(t, h.fetcher.Script(anyone, h.server.URL+"/app.js"), "the negative cache has the file")
			assert.False(t, h.fetcher.Script(anyone, h.server.URL+"/app.js?other"), "the query does not matter")
			assert.Len(t, h.requests, before)
			assert.LessOrEqual(t, before, 2+maxRedirects)
			assert.Zero(t, h.stored)
		})
	}
}

// A file is fetched again when its entry in the negative cache expires.
func TestRetry(t *testing.T) {
	h := start(t, map[string]string{}, func(o *Options) { o.RetryAfter = time.Nanosecond })
	url := h.server.URL + "/app.js"
	require.Eventually(t, func() bool {
		h.fetcher.Script(anyone, url)
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.outcomes) >= 3
	}, time.Minute, time.Millisecond)
}

// The negative cache has a limit.
func TestTriedLimit(t *testing.T) {
	h := start(t, nil)
	for i := range maxTried + 10 {
		h.fetcher.done(wanted{anyone, strings.Repeat("x", i)})
	}
	assert.Len(t, h.fetcher.tried, maxTried)
	assert.Contains(t, h.fetcher.tried, wanted{anyone, strings.Repeat("x", maxTried+9)})
}

// A server that does not respond does not block callers; its files are given up after the timeout.
// The queue has a limit.
func TestSlowServer(t *testing.T) {
	h := start(t, map[string]string{"/app.js": "slow"}, func(o *Options) { o.Timeout = 50 * time.Millisecond })
	assert.Equal(t, Failed, h.script("/app.js"))
}

func TestQueueLimit(t *testing.T) {
	files := map[string]string{}
	h := start(t, files)
	h.fetcher.Close() // nobody reads the queue
	for i := range maxQueue + 10 {
		assert.True(t, h.fetcher.Script(anyone, h.server.URL+"/"+strings.Repeat("x", i)+".js"))
	}
	assert.Len(t, h.fetcher.active, maxQueue)
	assert.Equal(t, maxQueue, h.fetcher.queue.Len())
}

// A tenant that asks for many files leaves slots and places in the queue to others, and does not
// decide when they ask again.
func TestQueueIsFair(t *testing.T) {
	h := start(t, nil)
	f := h.fetcher
	f.Close()
	a, b := tenant.Tenant{Ingress: tenant.Sentry, Name: "1"}, tenant.Tenant{Ingress: tenant.Sentry, Name: "2"}
	id := func(i int) string { return fmt.Sprintf("%016x", i) }
	for i := range 2 * maxQueue {
		assert.True(t, f.Object(a, id(i)))
	}
	for range 2 { // slots
		w, ok := f.next()
		require.True(t, ok)
		assert.Equal(t, a, w.tenant)
	}
	for i := range 3 {
		assert.True(t, f.Object(b, id(i)))
	}
	for i := range 3 {
		w, _ := f.next()
		assert.Equal(t, wanted{b, id(i)}, w, "its turn, although a wants the file, too")
		f.done(w)
		assert.False(t, f.Object(b, id(i)))
	}
	assert.LessOrEqual(t, f.queue.Len(), maxQueue)

	for i := range 2 * maxTried {
		f.done(wanted{a, id(i)})
	}
	assert.False(t, f.Object(b, id(0)), "the memory of failures has a share for each tenant")
	assert.True(t, f.Object(b, id(2*maxTried-1)), "a failure of another tenant")
}

// The store keeps the files of a tenant whose share is small.
func TestStoreIsFair(t *testing.T) {
	files := map[string]string{}
	for i := range 6 {
		files[fmt.Sprintf("/%d.js", i)], files[fmt.Sprintf("/%d.js.map", i)] = "a()", sourceMap
	}
	h := start(t, files)
	store, err := filestore.Open(t.TempDir(), 6*filestore.BlockSize) // two scripts with maps, and one that arrives
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	h.fetcher.store = store
	small := tenant.Tenant{Ingress: tenant.Measure, Name: "small/../x"}
	url := h.server.URL + "/0.js"
	require.True(t, h.fetcher.Script(small, url))
	h.wait(func() bool { return h.fetcher.Script(small, url) })
	for _, path := range []string{"/1.js", "/2.js", "/3.js", "/4.js", "/5.js"} {
		assert.Equal(t, Stored, h.script(path))
	}
	_, err = store.Root.Stat(wanted{tenant: small}.folder() + ScriptPath(url))
	require.NoError(t, err)
}

// At most Options.Concurrent files are fetched at once.
func TestConcurrent(t *testing.T) {
	h := start(t, map[string]string{"/1.js": "slow", "/2.js": "slow", "/3.js": "slow", "/4.js": "slow"})
	for _, path := range []string{"/1.js", "/2.js", "/3.js", "/4.js"} {
		assert.True(t, h.fetcher.Script(anyone, h.server.URL+path))
	}
	require.Eventually(t, func() bool { h.mu.Lock(); defer h.mu.Unlock(); return len(h.requests) == 2 }, time.Minute, time.Millisecond)
	assert.Equal(t, 2, h.fetcher.queue.Len())
	h.fetcher.Close()
	assert.Len(t, h.requests, 2)
	assert.Empty(t, h.outcomes, "a shutdown is not a failure")
}

// A failed refresh keeps the older version.
func TestRefresh(t *testing.T) {
	files := map[string]string{"/app.js": "a()", "/app.js.map": sourceMap}
	h := start(t, files, func(o *Options) { o.RetryAfter = time.Nanosecond })
	fetch := func() Outcome {
		h.mu.Lock()
		before := len(h.outcomes)
		h.mu.Unlock()
		require.True(t, h.fetcher.want(wanted{anyone, h.server.URL + "/app.js"}))
		require.Eventually(t, func() bool {
			h.fetcher.mu.Lock()
			defer h.fetcher.mu.Unlock()
			return len(h.fetcher.active) == 0
		}, time.Minute, time.Millisecond)
		return h.outcomes[before]
	}
	require.Equal(t, Stored, fetch())
	files["/app.js"], files["/app.js.map"] = "b()", "<html>"
	assert.Equal(t, NotFound, fetch())
	assert.Equal(t, map[string]string{"script.js": "a()", "script.js.map": sourceMap}, h.content())
	files["/app.js.map"] = sourceMap + " "
	assert.Equal(t, Stored, fetch())
	assert.Equal(t, map[string]string{"script.js": "b()", "script.js.map": sourceMap + " "}, h.content())
}

func TestNotScripts(t *testing.T) {
	h := start(t, nil)
	for _, location := range []string{
		"", "app.js", "/srv/app.js", "app:///app.js", "https://" + h.host() + ".evil.example/app.js", "http://evil.example/app.js", h.server.URL, h.server.URL + "/page", h.server.URL + "/a.js/b",
		"http://user@" + h.host() + "/app.js", "http://" + h.host() + "/" + strings.Repeat("x", maxURL) + ".js", "http://%zz/app.js", "https:app.js",
	} {
		assert.False(t, h.fetcher.Script(anyone, location), location)
	}
	assert.Empty(t, h.requests)
}

func TestObject(t *testing.T) {
	h := start(t, map[string]string{"/buildid/" + buildID + "/debuginfo": breakpad})
	assert.Equal(t, Stored, h.object(strings.ToUpper(buildID)))
	assert.Equal(t, map[string]string{"debuginfo": breakpad}, h.content())
	_, err := os.Stat(filepath.Join(h.directory, wanted{}.folder(), "debuginfo", buildID[:2], buildID[2:], "debuginfo"))
	require.NoError(t, err)
	assert.False(t, h.fetcher.Object(anyone, buildID), "it is stored")
	for _, id := range []string{"", "abc", "../../../../etc/passwd", strings.Repeat("a", maxBuildID+2), "zz" + buildID} {
		assert.False(t, h.fetcher.Object(anyone, id), id)
	}
}

func TestUnusableObjects(t *testing.T) {
	const other = "5fbf22d9b8d24ba2a7f8c1e2d3a4b5c6"
	for name, test := range map[string]struct {
		content string
		want    Outcome
	}{
		"other ID":  {breakpad, Failed},
		"page":      {"<html>", NotFound},
		"text":      {"not found", Failed},
		"too large": {breakpad + strings.Repeat("x", 1000), TooLarge},
		"bomb":      {"bomb", TooLarge},
		"redirect":  {"→http://127.0.0.1:1/", Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			h := start(t, map[string]string{"/buildid/" + other + "/debuginfo": test.content})
			assert.Equal(t, test.want, h.object(other))
			assert.Empty(t, h.content())
			assert.False(t, h.fetcher.Object(anyone, other))
		})
	}
}

// Servers are asked in order until one has the file. A server that fails is reported, even if
// another one does not have the file.
func TestSeveralServers(t *testing.T) {
	const other = "5fbf22d9b8d24ba2a7f8c1e2d3a4b5c6"
	second := start(t, map[string]string{"/sub/buildid/" + buildID + "/debuginfo": breakpad})
	h := start(t, map[string]string{"/buildid/" + buildID + "/debuginfo": "error", "/buildid/" + other + "/debuginfo": "error"},
		func(o *Options) { o.Servers = append(o.Servers, second.server.URL+"/sub/") })
	assert.Equal(t, Stored, h.object(buildID))
	assert.Equal(t, Failed, h.object(other))
	assert.Len(t, h.requests, 2)
	assert.Len(t, second.requests, 2)
}

// At the limit of the store, the oldest files are removed.
func TestStoreLimit(t *testing.T) {
	h := start(t, map[string]string{"/1.js": "a()", "/1.js.map": sourceMap, "/2.js": "a()", "/2.js.map": sourceMap, "/3.js": "a()", "/3.js.map": sourceMap})
	store, err := filestore.Open(t.TempDir(), 5*filestore.BlockSize) // two scripts with maps
	require.NoError(t, err)
	t.Cleanup(func() { _ = store.Close() })
	h.fetcher.store = store
	for i, path := range []string{"/1.js", "/2.js", "/3.js"} {
		assert.Equal(t, Stored, h.script(path))
		assert.LessOrEqual(t, store.Total(), int64(5*filestore.BlockSize))
		// The clock of file systems ticks every few milliseconds only.
		script, stored := wanted{}.folder()+ScriptPath(h.server.URL+path), time.Now().Add(time.Duration(i-10)*time.Minute)
		for _, name := range []string{script, script + ".map"} {
			require.NoError(t, store.Root.Chtimes(name, stored, stored))
		}
	}
	_, err = store.Root.Stat(wanted{}.folder() + ScriptPath(h.server.URL+"/3.js"))
	require.NoError(t, err)
	_, err = store.Root.Stat(wanted{}.folder() + ScriptPath(h.server.URL+"/1.js"))
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestHosts(t *testing.T) {
	h := newHosts([]string{"Shop.example", "*.cdn.example", "localhost:8443"}, false)
	for text, want := range map[string]bool{
		"https://shop.example/":       true,
		"https://SHOP.example:443/":   true,
		"https://a.b.cdn.example/":    true,
		"https://localhost:8443/":     true,
		"https://cdn.example/":        false,
		"https://evilcdn.example/":    false,
		"https://shop.example:22/":    false,
		"https://a.cdn.example:8080/": false,
		"https://localhost/":          false,
		"https://a.shop.example/":     false,
		"https://shop.example.evil/":  false,
		"https://shop.example@evil/":  false,
		"https://x@shop.example/":     false,
		"http://shop.example/":        false,
		"ftp://shop.example/":         false,
		"https:///app.js":             false,
	} {
		u, err := url.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, h.allow(u), text)
	}
	plain := newHosts([]string{"shop.example"}, true)
	for text, want := range map[string]bool{"http://shop.example/": true, "http://shop.example:80/": true, "http://shop.example:443/": false, "https://shop.example/": true} {
		u, err := url.Parse(text)
		require.NoError(t, err)
		assert.Equal(t, want, plain.allow(u), text)
	}
}

func TestChecks(t *testing.T) {
	for _, host := range []string{"shop.example", "*.shop.example", "localhost:8443", "10.0.0.1", "[::1]:80"} {
		assert.NoError(t, CheckHost(host), host)
	}
	for _, host := range []string{"", "*", "*.", "*.com", "https://shop.example", "shop.example/x", "a*.example", "*.*.example", "x@y.example"} {
		assert.Error(t, CheckHost(host), host)
	}
	assert.NoError(t, CheckServer("https://debuginfod.example", false))
	assert.NoError(t, CheckServer("https://debuginfod.example:443/path", false))
	assert.NoError(t, CheckServer("http://localhost:8002", true))
	for _, server := range []string{"", "debuginfod.example", "http://debuginfod.example", "https://", "https://u:p@debuginfod.example", "%"} {
		assert.Error(t, CheckServer(server, false), server)
	}
}
