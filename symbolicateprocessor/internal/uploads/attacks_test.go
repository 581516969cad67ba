// SPDX-License-Identifier: Apache-2.0

package uploads

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/badsymbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/extremes"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

func allocatedBytes() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// TestArchiveExtremes sets every number of a zip, at every place and of every size, to extremes.
// What is stored stays within the limits, and needs memory that depends on the size of the archive.
func TestArchiveExtremes(t *testing.T) {
	archive := []byte(zipOf(t, map[string]string{"manifest.json": goodManifest, "_/_/app.js": "l()", "_/_/app.js.map": strings.Repeat("{}", 50)}))
	const size = 1 << 20
	c := newClient(t, size)
	stride := len(archive) / 11
	switch {
	case extremes.Every():
		stride = 5
	case testsize.Full():
		stride = 17
	}
	for at := 0; at+8 <= len(archive); at += stride {
		for _, width := range []int{1, 2, 4, 8} {
			for _, value := range extremes.Near(archive, at, width) {
				damaged := bytes.Clone(archive)
				extremes.Put(damaged[at:], width, value, false)
				what := fmt.Sprintf("%d bytes at %d: %#x", width, at, value)

				require.NoError(t, c.server.store.Root.MkdirAll(ChunksFolder, 0o700))
				packed := ChunksFolder + "/x.zip"
				_, err := c.store.Save(packed, bytes.NewReader(damaged), size)
				require.NoError(t, err)
				before := allocatedBytes()
				extremes.WithinCPU(t, len(damaged), func() string { return what }, func() {
					_ = c.server.unpack(t.Context(), packed, bundle{Checksum: sum(string(damaged))})
				})
				assert.Less(t, allocatedBytes()-before, uint64(8<<20), what)
				require.NoError(t, c.store.Remove(packed))
				assert.LessOrEqual(t, c.store.Total(), int64(size), what)
				for _, f := range c.store.List() {
					assert.LessOrEqual(t, f.Size, c.server.MaxNativeBytes, what)
					_ = c.store.Remove(f.Name)
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}

// TestOpenAssemblies: requests for thousands of files whose chunks never arrive store nothing, and
// the next one needs no more memory than the first.
func TestOpenAssemblies(t *testing.T) {
	c := newClient(t, 1<<20)
	ask := func(n int) uint64 {
		files := map[string]file{}
		for i := range 50 {
			chunks := make([]string, 20)
			for j := range chunks {
				chunks[j] = sum(fmt.Sprint(n, i, j))
			}
			files[sum(fmt.Sprint(n, i))] = file{Name: "x", Chunks: chunks}
		}
		body, err := json.Marshal(files)
		require.NoError(t, err)
		before := allocatedBytes()
		status, _ := c.do("POST", filesPath, token, "application/json", bytes.NewReader(body))
		require.Equal(t, 200, status)
		return allocatedBytes() - before
	}
	first := ask(0)
	requests := 20
	if testsize.Full() {
		requests = 200
	}
	for n := range requests {
		assert.Less(t, ask(n+1), 2*first)
	}
	assert.Empty(t, c.names())
	assert.Zero(t, c.store.Total())
}

// TestConcurrentAssemblies: clients upload, replace and assemble the same chunks at the same time,
// some with wrong checksums. A stored file always has the content of its checksum, and the store
// keeps to its size at every moment.
func TestConcurrentAssemblies(t *testing.T) {
	const size = 64 << 10
	c := newClient(t, size)
	c.server.Count = func(Outcome) {}
	c.server.Stored = func() {}
	var stop atomic.Bool
	var watching, clients sync.WaitGroup
	watching.Go(func() {
		for !stop.Load() {
			total := int64(0)
			for _, f := range c.store.List() {
				total += f.Size
			}
			assert.LessOrEqual(t, total, int64(size))
		}
	})
	rounds := 10
	if testsize.Full() {
		rounds = 100
	}
	for client := range 4 {
		clients.Go(func() {
			for i := range rounds {
				head, tail := symbolFile[:20], symbolFile[20:]+strings.Repeat("\n", 1000*(i%5))
				c.chunks("file", map[string]string{sum(head): head})
				c.chunks("file", map[string]string{sum(tail): tail})
				c.chunks("file", map[string]string{sum(tail): strings.Repeat("x", 1000)}) // does not replace it
				wrong := c.server.file(context.Background(), sum(fmt.Sprint("wrong", client, i)), file{Name: "x", Chunks: []string{sum(tail), sum(head)}})
				assert.NotEqual(t, stateOK, wrong.State)
				_ = c.server.file(context.Background(), sum(head+tail), file{Name: "x", Chunks: []string{sum(head), sum(tail)}})
			}
		})
	}
	clients.Wait()
	stop.Store(true)
	watching.Wait()
	for _, name := range c.names() {
		assert.NotContains(t, name, filestore.PartPrefix)
		content, err := c.store.Read(name)
		require.NoError(t, err)
		want := name[strings.LastIndex(name, "/")+1:]
		if folder, ok := strings.CutSuffix(name, "/symbols"); ok {
			want = strings.TrimPrefix(folder, "files/")
		}
		assert.Equal(t, want, sum(string(content)), name)
	}
}

// TestDamagedUploads damages archives, symbol files, mappings, compressed chunks, forms and
// requests at random. After each, the store has only complete files within its limits, and knows
// its size; requests do not allocate more than their size permits.
func TestDamagedUploads(t *testing.T) {
	const size = 1 << 20
	c := newClient(t, size)
	count := extremes.Damaged(150, 1500)
	random := rand.New(rand.NewPCG(uint64(count), 38))
	good := map[string]string{manifestName: goodManifest, "_/_/app.js": strings.Repeat("l()\n", 200), "_/_/app.js.map": "{}"}
	many := map[string]string{manifestName: `{"files":{`}
	for i := range 50 {
		many[manifestName] += fmt.Sprintf(`"%[1]d.js":{"type":"minified_source"},"%[1]d.js.map":{"type":"source_map"},`, i)
		many[fmt.Sprint(i, ".js")], many[fmt.Sprint(i, ".js.map")] = "l()", "{}"
	}
	many[manifestName] = strings.TrimSuffix(many[manifestName], ",") + "}}"
	archives := []string{zipOf(t, good), "SYSB\x02\x00\x00\x00" + zipOf(t, good), zipOf(t, many), zipIn(t, zstd.ZipMethodWinZip, good)}
	files := []string{symbolFile, string(badsymbols.GoTable(4)), string(badsymbols.CompressedNames(1000)), string(badsymbols.ZstdNames(1000)), string(badsymbols.HugeDictionary(20))}
	form := func(field, content string) (boundary string, body []byte) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, chunk := range []string{"first", content} {
			part, err := w.CreateFormFile(field, sum(chunk))
			require.NoError(t, err)
			if field == "file_gzip" {
				chunk = zipped(chunk)
			}
			_, _ = part.Write([]byte(chunk))
		}
		require.NoError(t, w.Close())
		return w.FormDataContentType(), b.Bytes()
	}
	damage := func(text string) string {
		b := []byte(text)
		for range 1 + random.IntN(8) {
			b = extremes.Damage(random, b)
		}
		return string(b)
	}
	one := func(all []string) string { return all[random.IntN(len(all))] }
	statuses := map[string]int{}
	for i := range count {
		kind, path, body, stored := "application/json", filesPath, "", 0 // bytes that are assembled
		switch i % 6 {
		case 0, 1, 2:
			content := damage(one(archives))
			if i%6 > 0 {
				content = damage(one(files))
			}
			if content == "" {
				continue
			}
			stored = len(content)
			c.chunks("file", map[string]string{sum(content): content})
			names := []string{"shop.sym", "/proguard/" + buildID + ".txt"}
			var request any = map[string]file{sum(content): {Name: one(names), Chunks: []string{sum(content)}}}
			if i%6 == 0 {
				path, request = bundlesPath, bundle{sum(content), []string{sum(content)}, one([]string{"", "shop@1.0"})}
			}
			text, err := json.Marshal(request)
			require.NoError(t, err)
			body = string(text)
		case 3, 4:
			path = chunksPath
			boundary, content := form([]string{"file", "file_gzip"}[i%2], strings.Repeat(one(files), 1+random.IntN(20)))
			kind, body = boundary, damage(string(content))
		case 5:
			path = one([]string{filesPath, bundlesPath})
			known := sum(symbolFile)
			body = damage(`{"` + known + `":{"name":"x","chunks":["` + known + `","` + sum("x") + `"]},"checksum":"` + known + `","chunks":["` + known + `"],"version":"1"}`)
		}
		before := allocatedBytes()
		var status int
		var text string
		extremes.WithinCPU(t, len(body)+stored, func() string { return fmt.Sprintf("request %d", i) }, func() {
			status, text = c.do("POST", path, token, kind, strings.NewReader(body))
		})
		allocated := allocatedBytes() - before
		var a answer
		_ = json.Unmarshal([]byte(text), &a)
		statuses[fmt.Sprint(status, " ", a.State)]++
		what := fmt.Sprintf("request %d: %d %s", i, status, text)
		require.Contains(t, []int{200, 400}, status, what)
		require.Less(t, allocated, uint64(8<<20), what) // up to 49 kB for each of 100 files, if no decompressor is reused
		total := int64(0)
		for _, f := range c.store.List() {
			folder, _, _ := strings.Cut(f.Name, "/")
			require.Contains(t, []string{"bundles", ChunksFolder, "files", ReleasesFolder}, folder, what)
			require.True(t, fs.ValidPath(f.Name) && !strings.Contains(f.Name, filestore.PartPrefix), f.Name)
			require.LessOrEqual(t, f.Size, c.server.MaxNativeBytes, what)
			total += filestore.SizeOnDisk(f.Size)
		}
		require.Equal(t, total, c.store.Total(), what)
		require.LessOrEqual(t, total, int64(size), what)
	}
	t.Logf("%d requests: %v, %v", count, statuses, c.counts)
}
