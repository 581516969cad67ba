// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// machO returns a Mach-O file with a UUID and one symbol, _pay at 0x100001000.
func machO(id string) []byte {
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
	put([]uint32{2, 24, head + loads, 1, head + loads + 16, 6}, uint32(1), []byte{0x0e, 1, 0, 0}, uint64(0x100001000), []byte("\x00_pay\x00"))
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
func (h *harness) mapping(id string, want symbols.Status) (class string) {
	h.t.Helper()
	files := h.processor.(*profilesProcessor).Shared
	require.Eventually(h.t, func() bool {
		m, status := files.Mapping(id)
		if status == symbols.OK {
			class, _ = m.Class("a")
		}
		return status == want
	}, time.Minute, 10*time.Millisecond, "want %s of %q", want, id)
	return class
}

// The directory of the measure receiver's builds, as its README describes it.
func TestBuildsOfMeasure(t *testing.T) {
	h := start(t, "")
	upload, other := uuid.NewString(), uuid.NewString()
	const computed, first, second = "3f2b7c1e8d4a5e659b0c73656e747279", "11111111111111111111111111111111", "22222222222222222222222222222222"
	h.write("my%20shop/files/01/0123", "com.example.Cart -> a:\n")
	h.write("my%20shop/mappings/"+upload+".json", `{"type":"proguard","file":"my%20shop/files/01/0123","size":23,"sha256":"0123","debug_ids":["`+computed+`"]}`)
	h.write("my%20shop/builds/1.0/42/apk.json", `{"version_name":"1.0","version_code":"42","build_type":"apk","mappings":[{"id":"`+upload+`","type":"proguard","filename":"mapping.txt"}]}`)
	h.write("my%20shop/files/45/4567", dsyms(t, machO(first), machO(second)))
	h.write("my%20shop/mappings/"+other+".json", `{"type":"dsym","file":"my%20shop/files/45/4567","debug_ids":["`+first+`","`+second+`"]}`)

	build := symbolicate.BuildID("my shop", "1.0", "42")
	assert.Equal(t, "com.example.Cart", h.mapping(build, symbols.OK))
	assert.Equal(t, "com.example.Cart", h.mapping(computed, symbols.OK))
	h.mapping(symbolicate.BuildID("my shop", "1.0", "43"), symbols.MissingFile)
	h.mapping(symbolicate.BuildID("other", "1.0", "42"), symbols.MissingFile)
	for _, id := range []string{first, second} {
		assert.Equal(t, "pay", functionAt(h.object(symbolicate.NativeID{DebugID: id}, symbols.OK), 0x100001000))
	}

	// A new upload of the build, without a restart.
	h.write("my%20shop/files/89/89ab", "com.example.Basket -> a:\n")
	h.write("my%20shop/mappings/"+upload+".json", `{"type":"proguard","file":"my%20shop/files/89/89ab","debug_ids":["`+strings.ReplaceAll(computed, "3", "4")+`"]}`)
	require.Eventually(t, func() bool { return h.mapping(build, symbols.OK) == "com.example.Basket" }, time.Minute, 10*time.Millisecond)
}

// If the process is killed, the file of an extracted binary remains until the next start.
func TestExtractedBinaryIsRemoved(t *testing.T) {
	const id = "11111111111111111111111111111111"
	x := &indexes{directory: t.TempDir(), limit: 1 << 20, logger: zap.NewNop()}
	upload, err := os.Create(filepath.Join(t.TempDir(), "dsyms"))
	require.NoError(t, err)
	_, err = upload.WriteString(dsyms(t, machO(id)))
	require.NoError(t, err)
	_, err = upload.Seek(0, io.SeekStart)
	require.NoError(t, err)
	binary, _, err := x.extract(t.Context(), upload, id)
	require.NoError(t, err)
	require.NoError(t, binary.Close())
	require.NoError(t, os.WriteFile(binary.Name(), []byte("left"), 0o600))
	x.clean()
	assert.NoFileExists(t, binary.Name())
}

// Records outside of the receiver's directories, damaged ones, and ones that lead out of the store.
func TestRecordsOfOthers(t *testing.T) {
	const id = "3f2b7c1e8d4a5e659b0c73656e747279"
	h := start(t, "")
	h.write("files/0", "com.example.Cart -> a:\n")
	good := `{"type":"proguard","file":"files/0","debug_ids":["` + id + `"]}`
	h.write("uploads/bundles/mappings/x.json", good)
	h.write("x.json", good)
	h.write("app/mappings/cut.json", good[:len(good)-3])
	h.write("app/builds/1/2/apk.json", `{"version_name":"1","version_code":"2","mappings":[{"id":"../../../files/0","type":"proguard"}]}`)
	h.write("seen.sym", breakpad(breakpadID, "Seen"))
	h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK)
	h.mapping(id, symbols.MissingFile)
	h.mapping(symbolicate.BuildID("app", "1", "2"), symbols.MissingFile)

	h.write("app/mappings/out.json", `{"type":"proguard","file":"../../../etc/hostname","debug_ids":["`+id+`"]}`)
	h.mapping(id, symbols.Error)
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

	var ids []string
	for i := range 30 {
		ids = append(ids, fmt.Sprintf("%032x", i+1))
	}
	other := start(t, "max_files: 20")
	other.write("app/mappings/many.json", `{"type":"dsym","file":"app/files/0","debug_ids":["`+strings.Join(ids, `","`)+`"]}`)
	other.write("zzz/shop.sym", breakpad(breakpadID, "Shop"))
	c := other.processor.(*profilesProcessor).Shared
	require.Eventually(t, func() bool { return c.catalog.Load() != nil && c.catalog.Load().full }, time.Minute, 10*time.Millisecond, "a record with many IDs counts as many files")
}
