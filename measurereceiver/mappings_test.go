// SPDX-License-Identifier: Apache-2.0

package measurereceiver

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/config/configopaque"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/filestore"
	"github.com/otelcol-sentry/otelcol-sentry/measurereceiver/internal/measure"
)

func readRecord(t *testing.T, text []byte) (r mappingRecord) {
	t.Helper()
	require.NoError(t, json.Unmarshal(text, &r), "%s", text)
	return r
}

// symbols is an ELF file that has nothing but a build id and some content.
func symbols(content string) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), 1, 1}, Shoff: 64, Shentsize: 64, Shnum: 1,
	})
	_ = binary.Write(&b, binary.LittleEndian, elf.Section64{Type: uint32(elf.SHT_NOTE), Off: 128, Size: 20})
	_ = binary.Write(&b, binary.LittleEndian, []uint32{4, 4, 3})
	b.WriteString("GNU\x00\xca\xfe\xba\xbe" + content)
	return b.Bytes()
}

// onDisk is the size that a file counts as in the directory of builds.
func onDisk(size int64) int64 {
	return filestore.SizeOnDisk(max(size, defaultMaxMappingsTotal/maxBuildFiles))
}

// TestMappings: a file is found by its build, where the last upload counts, and by its debug id,
// where the first does.
func TestMappings(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) {
		c.Builds.Enabled, c.Builds.Directory, c.Builds.APIKeys = true, folder, []configopaque.String{testKey}
	})
	upload := func(fileType measure.FileType, version string, content []byte) (id string) {
		t.Helper()
		got := h.send(http.MethodPut, "/builds", []byte(`{"version_name":"`+version+`","version_code":"1","build_type":"apk","build_size":1,"mappings":[{"type":"`+string(fileType)+`","filename":"x"}]}`),
			"Authorization", "Bearer "+testKey)
		var answer measure.BuildResponse
		require.NoError(t, json.Unmarshal([]byte(got.text), &answer))
		require.Equal(t, 200, h.send(http.MethodPut, answer.Mappings[0].UploadURL, content).status)
		return answer.Mappings[0].ID
	}
	byBuild := func(id string) mappingRecord { return readRecord(t, stored(t, folder)[id+".json"]) }
	byDebugID := func(id string) mappingRecord { return readRecord(t, stored(t, folder)[id[2:]+".json"]) }
	content := func(r mappingRecord) []byte {
		text, err := os.ReadFile(filepath.Join(folder, filepath.FromSlash(r.File)))
		require.NoError(t, err)
		return text
	}

	first, second := symbols("first"), symbols("second")
	id := upload(measure.FileELFDebug, "1.0", first)
	upload(measure.FileELFDebug, "1.0", first)
	assert.Equal(t, []string{"cafebabe"}, byBuild(id).DebugIDs)
	require.Equal(t, id, upload(measure.FileELFDebug, "1.0", second))
	assert.Equal(t, second, content(byBuild(id)), "the last one of the build")
	assert.Equal(t, first, content(byDebugID("cafebabe")), "the first one of the id")

	proguard := byBuild(upload(measure.FileProguard, "1.0", []byte("a.B -> c:\n")))
	require.Len(t, proguard.DebugIDs, 1)
	assert.Equal(t, proguard, byDebugID(proguard.DebugIDs[0]))

	unreadable := byBuild(upload(measure.FileDSYM, "1.0", []byte("nothing of the kind")))
	assert.Empty(t, unreadable.DebugIDs)
	assert.Equal(t, "nothing of the kind", string(content(unreadable)))
	upload(measure.FileJSBundle, "1.0", []byte("var a"))
	counts := h.counts("files")
	assert.Equal(t, map[string]int64{"outcome=stored type=elf_debug": 3, "outcome=stored type=proguard": 1, "outcome=unidentified type=dsym": 1, "outcome=stored type=jsbundle": 1}, counts)

	// A file that was swept does not keep its id from another.
	require.NoError(t, os.Remove(filepath.Join(folder, filepath.FromSlash(byDebugID("cafebabe").File))))
	upload(measure.FileELFDebug, "1.0", second)
	assert.Equal(t, second, content(byDebugID("cafebabe")))

	// What the store believes it has is what it has.
	var total int64
	for _, file := range h.shared.builds.List() {
		total += onDisk(file.Size)
	}
	assert.Equal(t, h.shared.builds.Total(), total+onDisk(int64(len(first))), "but for the one that was removed behind its back")
}

// TestOverwrite: without keys for builds, whoever has the key of an app may add what is not there,
// and replace nothing.
func TestOverwrite(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) { c.Builds.Enabled, c.Builds.Directory = true, folder })
	upload := func(size int, filename, content string) (id string, status int) {
		t.Helper()
		got := h.send(http.MethodPut, "/builds", fmt.Appendf(nil, `{"version_name":"1","version_code":"2","build_type":"ipa","build_size":%d,"mappings":[{"type":"jsbundle","filename":%q}]}`, size, filename),
			"Authorization", "Bearer "+testKey)
		require.Equal(t, 200, got.status, got.text)
		var answer measure.BuildResponse
		require.NoError(t, json.Unmarshal([]byte(got.text), &answer))
		return answer.Mappings[0].ID, h.send(http.MethodPut, answer.Mappings[0].UploadURL, []byte(content)).status
	}
	first, status := upload(10, "a", "the app's")
	require.Equal(t, 200, status)
	_, status = upload(10, "a", "the app's")
	assert.Equal(t, 200, status, "the same again")
	_, status = upload(20, "a", "another's")
	assert.Equal(t, 409, status)
	second, status := upload(20, "b", "of the same build")
	assert.Equal(t, 200, status)

	record := readRecord(t, stored(t, folder)[first+".json"])
	assert.Equal(t, "the app's", string(stored(t, folder)[record.SHA256]))
	var build buildRecord
	require.NoError(t, json.Unmarshal(stored(t, folder)["ipa.json"], &build))
	assert.Equal(t, buildRecord{VersionName: "1", VersionCode: "2", Type: "ipa", Size: 10, Files: []mappingFile{{first, "jsbundle", "a"}, {second, "jsbundle", "b"}}}, build)
	assert.Equal(t, map[string]int64{"reason=overwrite": 1}, h.counts("requests_rejected"))

	var total int64
	for _, file := range h.shared.builds.List() {
		total += onDisk(file.Size)
	}
	assert.Equal(t, total, h.shared.builds.Total())
	_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(record.File)))
	require.NoError(t, err)
	require.NoError(t, os.Remove(filepath.Join(folder, filepath.FromSlash(record.File))))
	_, status = upload(10, "a", "another's")
	assert.Equal(t, 200, status, "what was swept may come again")
}

// TestFirstMappingStays: without keys for builds, a build keeps its first mapping of R8, whatever a
// second one is called, and however often the first is uploaded again. The symbolicate processor
// takes the record with the earliest time.
func TestFirstMappingStays(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) { c.Builds.Enabled, c.Builds.Directory = true, folder })
	upload := func(kind, filename, content string) (id string, status int) {
		t.Helper()
		got := h.send(http.MethodPut, "/builds", fmt.Appendf(nil, `{"version_name":"1","version_code":"2","build_type":%q,"build_size":1,"mappings":[{"type":"proguard","filename":%q}]}`, kind, filename),
			"Authorization", "Bearer "+testKey)
		require.Equal(t, 200, got.status, got.text)
		var answer measure.BuildResponse
		require.NoError(t, json.Unmarshal([]byte(got.text), &answer))
		return answer.Mappings[0].ID, h.send(http.MethodPut, answer.Mappings[0].UploadURL, []byte(content)).status
	}
	first, status := upload("apk", "mapping.txt", "a.First -> b:\n")
	require.Equal(t, 200, status)
	record, err := filepath.Glob(filepath.Join(folder, "*", "mappings", first+".json"))
	require.NoError(t, err)
	require.Len(t, record, 1)
	earlier := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(record[0], earlier, earlier))
	for _, kind := range []string{"aab", "apk", "ipa"} {
		for _, filename := range []string{"mapping.txt", "mapping2.txt", "MAPPING.TXT"} {
			id, status := upload(kind, filename, "a.Second -> b:\n")
			assert.Equal(t, 409, status, "%s %q", kind, filename)
			assert.Equal(t, first, id)
			_, status = upload(kind, filename, "a.First -> b:\n")
			assert.Equal(t, 200, status, "the same again")
		}
	}
	info, err := os.Stat(record[0])
	require.NoError(t, err)
	assert.Equal(t, earlier, info.ModTime())
	assert.Equal(t, "a.First -> b:\n", string(stored(t, folder)[readRecord(t, stored(t, folder)[first+".json"]).SHA256]))
	files := 0
	for _, file := range h.shared.builds.List() {
		if strings.Contains(file.Name, "/files/") || strings.Contains(file.Name, "/uploads/") {
			files++
		}
	}
	assert.Equal(t, 1, files)
}

// TestFirstDebugIDStays: of many uploads at the same time with one debug ID, all records refer to
// the first, and it stays.
func TestFirstDebugIDStays(t *testing.T) {
	folder := t.TempDir()
	h := start(t, nopHost, func(c *Config) { c.Builds.Enabled, c.Builds.Directory = true, folder })
	var urls []string
	for i := range 8 {
		got := h.send(http.MethodPut, "/builds", fmt.Appendf(nil, `{"version_name":"%d","version_code":"2","build_type":"apk","build_size":1,"mappings":[{"type":"elf_debug","filename":"x"}]}`, i),
			"Authorization", "Bearer "+testKey)
		var answer measure.BuildResponse
		require.NoError(t, json.Unmarshal([]byte(got.text), &answer))
		urls = append(urls, answer.Mappings[0].UploadURL)
	}
	var seen sync.Map
	var clients sync.WaitGroup
	for i, url := range urls {
		clients.Go(func() {
			assert.Equal(t, 200, h.send(http.MethodPut, url, symbols(fmt.Sprint(i))).status)
			text, err := fs.ReadFile(h.shared.builds.Root.FS(), h.shared.apps.byID[appIDOf(testKey)].folder+"/debug-ids/ca/febabe.json")
			assert.NoError(t, err)
			seen.Store(string(text), true)
		})
	}
	clients.Wait()
	records := 0
	seen.Range(func(any, any) bool { records++; return true })
	assert.Equal(t, 1, records)
}

func appIDOf(key string) appID {
	hash := sha256.Sum256([]byte(key))
	return appID(hash[:8])
}

// leaving is the body of a client that disconnects after its last byte.
type leaving struct {
	io.Reader
	leave func()
}

func (l leaving) Read(p []byte) (int, error) {
	n, err := l.Reader.Read(p)
	if err == io.EOF {
		l.leave()
	}
	return n, err
}

// TestDisconnectedClient: nothing is read for a client that is gone, which repeats its upload.
func TestDisconnectedClient(t *testing.T) {
	h := start(t, nopHost, func(c *Config) { c.Builds.Enabled, c.Builds.Directory = true, t.TempDir() })
	for _, fileType := range []measure.FileType{measure.FileProguard, measure.FileDSYM} {
		ctx, leave := context.WithCancel(t.Context())
		var a *app
		for _, a = range h.shared.apps.byID {
		}
		_, _, err := h.shared.storeMapping(ctx, a, ticket{id: uuid.New(), fileType: fileType}, leaving{strings.NewReader("a.B -> c:\n"), leave})
		assert.ErrorIs(t, err, context.Canceled)
		assert.Equal(t, http.StatusServiceUnavailable, fileRejection(err).status)
		assert.Empty(t, h.shared.builds.List())
	}
}
