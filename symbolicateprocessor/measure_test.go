// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// machO returns a Mach-O file with a UUID and one symbol, _pay at 0x100001000.
func machO(id string) []byte { return machOOf(id, "pay") }

func machOOf(id, function string) []byte {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			_ = binary.Write(&b, binary.LittleEndian, v)
		}
	}
	name := func(s string) []byte { return append([]byte(s), make([]byte, 16-len(s))...) }
	content, _ := hex.DecodeString(id)
	const head, loads = 32, 24 + 72 + 80 + 24
	put([]uint32{0xfeedfacf, 0x0100000c, 0, 10, 3, loads, 0, 0}, []uint32{0x1b, 24}, content)
	put([]uint32{0x19, 72 + 80}, name("__TEXT"), []uint64{0x100000000, 0x4000, 0, 0x4000}, []uint32{7, 5, 1, 0})
	put(name("__text"), name("__TEXT"), []uint64{0x100001000, 0x1000}, []uint32{0x1000, 2, 0, 0, 0x80000400, 0, 0, 0})
	put([]uint32{2, 24, head + loads, 1, head + loads + 16, uint32(3 + len(function))}, uint32(1), []byte{0x0e, 1, 0, 0}, uint64(0x100001000), []byte("\x00_"+function+"\x00"))
	return b.Bytes()
}

// dsyms returns an archive of dSYMs.
func dsyms(t *testing.T, binaries ...[]byte) string {
	var b bytes.Buffer
	packed := gzip.NewWriter(&b)
	archive := tar.NewWriter(packed)
	for i, content := range binaries {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("a%d.dSYM/Contents/Resources/DWARF/a", i), Size: int64(len(content)), Typeflag: tar.TypeReg, Mode: 0o600}))
		_, err := archive.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, archive.Close())
	require.NoError(t, packed.Close())
	return b.String()
}

// mapping asks for a ProGuard mapping until its status is as wanted, and returns the original name
// of the class a.
func (h *harness) mapping(t tenant.Tenant, id string, want symbols.Status) (class string) {
	h.t.Helper()
	files := h.processor.(*profilesProcessor).Shared.of(t)
	require.Eventually(h.t, func() bool {
		m, status := files.Mapping(id)
		if status == symbols.OK {
			class, _ = m.Class("a")
		}
		return status == want
	}, time.Minute, 10*time.Millisecond, "want %s of %q", want, id)
	return class
}

// upload stores an upload like the measure receiver, which keeps the first record of a debug ID.
func (h *harness) upload(app, id, kind, content string, debugIDs ...string) {
	sum := sha256.Sum256([]byte(content))
	name := hex.EncodeToString(sum[:])
	name = app + "/files/" + name[:2] + "/" + name
	h.write(name, content)
	record := fmt.Sprintf(`{"type":%q,"file":%q,"size":%d,"sha256":%q,"debug_ids":["%s"]}`, kind, name, len(content), path.Base(name), strings.Join(debugIDs, `","`))
	h.write(app+"/mappings/"+id+".json", record)
	for _, debugID := range debugIDs {
		name := app + "/debug-ids/" + debugID[:2] + "/" + debugID[2:] + ".json"
		if _, err := os.Stat(filepath.Join(h.directory, name)); err != nil {
			h.write(name, record)
		}
	}
}

// build stores the record of a build with mappings like the measure receiver, which adds those of
// an earlier record.
func (h *harness) build(app, version, code, kind string, uploads ...string) {
	name := path.Join(app, "builds", version, code, kind+".json")
	if text, err := os.ReadFile(filepath.Join(h.directory, name)); err == nil {
		var before record
		require.NoError(h.t, json.Unmarshal(text, &before))
		for i, file := range before.Files {
			uploads = slices.Insert(uploads, i, file.ID)
		}
	}
	var mappings []string
	for _, id := range uploads {
		mappings = append(mappings, fmt.Sprintf(`{"id":%q,"type":"proguard","filename":"mapping.txt"}`, id))
	}
	h.write(name, fmt.Sprintf(`{"version_name":%q,"version_code":%q,"build_type":%q,"mappings":[%s]}`, version, code, kind, strings.Join(mappings, ",")))
}

// The directory of the measure receiver's builds, as its README describes it.
func TestBuildsOfMeasure(t *testing.T) {
	h := start(t, "")
	shop, other := tenant.Tenant{Ingress: tenant.Measure, Name: "my%20shop"}, tenant.Tenant{Ingress: tenant.Measure, Name: "other"}
	upload := uuid.NewString()
	const computed, first, second = "3f2b7c1e8d4a5e659b0c73656e747279", "11111111111111111111111111111111", "22222222222222222222222222222222"
	const gnu = "0123456789abcdef0123456789abcdef01234567"
	h.upload("my%20shop", upload, "proguard", "com.example.Cart -> a:\n", computed)
	h.build("my%20shop", "1.0", "42", "apk", upload)
	h.upload("my%20shop", uuid.NewString(), "dsym", dsyms(t, machO(first), machO(second)), first, second)
	h.upload("my%20shop", uuid.NewString(), "elf_debug", elfProgram(t, gnu), gnu)
	h.write("my%20shop/files/77/"+strings.Repeat("7", 64), breakpad(breakpadID, "NoRecord"))

	build := symbolicate.BuildID("my shop", "1.0", "42")
	assert.Equal(t, "com.example.Cart", h.mapping(shop, build, symbols.OK))
	assert.Equal(t, "com.example.Cart", h.mapping(shop, computed, symbols.OK))
	h.mapping(shop, symbolicate.BuildID("my shop", "1.0", "43"), symbols.MissingFile)
	h.mapping(shop, symbolicate.BuildID("other", "1.0", "42"), symbols.MissingFile)
	h.mapping(other, build, symbols.MissingFile)
	h.mapping(anyone, computed, symbols.MissingFile)
	for _, id := range []string{first, second} {
		assert.Equal(t, "pay", functionAt(h.objectOf(shop, symbolicate.NativeID{DebugID: id}, symbols.OK), 0x100001000))
	}
	table := h.objectOf(shop, symbolicate.NativeID{BuildID: gnu}, symbols.OK)
	assert.Contains(t, functionAt(table, table.Base()+0x1800), ".")
	h.objectOf(shop, symbolicate.NativeID{DebugID: breakpadID}, symbols.MissingFile)

	// The operator's keys replace the upload of a build, without a restart.
	h.upload("my%20shop", upload, "proguard", "com.example.Basket -> a:\n", strings.ReplaceAll(computed, "3", "4"))
	require.Eventually(t, func() bool { return h.mapping(shop, build, symbols.OK) == "com.example.Basket" }, time.Minute, 10*time.Millisecond)
}

// If the process is killed, the file of an extracted binary remains until the next start.
func TestExtractedBinaryIsRemoved(t *testing.T) {
	const id = "11111111111111111111111111111111"
	x := testIndexes(t, 1<<20)
	upload, err := os.Create(filepath.Join(t.TempDir(), "dsyms"))
	require.NoError(t, err)
	_, err = upload.WriteString(dsyms(t, machO(id)))
	require.NoError(t, err)
	_, err = upload.Seek(0, io.SeekStart)
	require.NoError(t, err)
	binary, _, err := x.extract(t.Context(), anyone, upload, id)
	require.NoError(t, err)
	require.NoError(t, binary.Close())
	require.NoError(t, os.WriteFile(binary.Name(), []byte("left"), 0o600))
	x.clean()
	assert.NoFileExists(t, binary.Name())
}

// Records outside of the receiver's directories, damaged ones, and ones that lead out of the store.
func TestRecordsOfOthers(t *testing.T) {
	const id, upload = "3f2b7c1e8d4a5e659b0c73656e747279", "3f2b7c1e-8d4a-5e65-9b0c-73656e747279"
	app := tenant.Tenant{Ingress: tenant.Measure, Name: "app"}
	h := start(t, "")
	h.write("files/0", "com.example.Cart -> a:\n")
	good := `{"type":"proguard","file":"files/0","debug_ids":["` + id + `"]}`
	h.write("uploads/bundles/app/debug-ids/3f/"+id[2:]+".json", good)
	h.write("debug-ids/3f/"+id[2:]+".json", good)
	h.write("app/debug-ids/3f2b/7c.json", good)
	h.write("app/debug-ids/"+id+".json", good)
	h.write("app/debug-ids/3f/"+id[2:]+".json", good[:len(good)-3])
	h.write("app/builds/1/2/apk.json", `{"version_name":"1","version_code":"2","mappings":[{"id":"../../../files/0","type":"proguard"},{"id":"`+upload+`","type":"proguard"}]}`)
	h.write("seen.sym", breakpad(breakpadID, "Seen"))
	h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK)
	h.mapping(app, id, symbols.MissingFile)
	h.mapping(app, symbolicate.BuildID("app", "1", "2"), symbols.MissingFile)

	h.write("app/debug-ids/3f/"+id[2:]+".json", `{"type":"proguard","file":"../../../etc/hostname"}`)
	h.mapping(app, id, symbols.Error)
}

// However many files are uploaded or downloaded, the others are found.
func TestFilesBesideUploads(t *testing.T) {
	h := start(t, "max_files: 20")
	for i := range 50 {
		h.write(fmt.Sprintf("uploads/files/%d.txt", i), "a.b -> a:\n")
		h.write(fmt.Sprintf("downloads/native/%d.txt", i), "a.b -> a:\n")
	}
	h.write("zzz/shop.sym", breakpad(breakpadID, "Shop"))
	h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK)
	files := h.processor.(*profilesProcessor).Shared
	assert.True(t, files.catalog.Load().full)
	assert.LessOrEqual(t, len(files.catalog.Load().files), 20)

	other := start(t, "max_files: 20")
	for i := range 30 {
		id := fmt.Sprintf("%032x", i+1)
		other.upload("app", uuid.NewString(), "dsym", "x", id)
		other.write("app/files/00/"+id+id, "x") // does not count
	}
	other.upload("small", uuid.NewString(), "proguard", "com.example.Cart -> a:\n", debugID)
	other.write("zzz/shop.sym", breakpad(breakpadID, "Shop"))
	c := other.processor.(*profilesProcessor).Shared
	require.Eventually(t, func() bool { return c.catalog.Load() != nil && c.catalog.Load().full }, time.Minute, 10*time.Millisecond)
	other.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK)
	assert.Equal(t, "com.example.Cart", other.mapping(tenant.Tenant{Ingress: tenant.Measure, Name: "small"}, debugID, symbols.OK))
	assert.LessOrEqual(t, len(c.catalog.Load().files), 20)
}
