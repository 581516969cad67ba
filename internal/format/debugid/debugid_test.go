// SPDX-License-Identifier: Apache-2.0

package debugid_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/golden"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// TestProGuard: the same as with all of the file in memory.
func TestProGuard(t *testing.T) {
	text := strings.Repeat("com.example.Cart -> a.b:\n", 1000)
	want := uuid.NewSHA1(uuid.NewSHA1(uuid.NameSpaceDNS, []byte("guardsquare.com")), []byte(text))
	got, err := debugid.ProGuard(strings.NewReader(text))
	require.NoError(t, err)
	assert.Equal(t, strings.ReplaceAll(want.String(), "-", ""), got)
}

// elfFile has one section of notes: one that is not it, then the build id.
func elfFile(class elf.Class, order binary.ByteOrder, id []byte) []byte {
	var notes, file bytes.Buffer
	note := func(kind uint32, content []byte) {
		_ = binary.Write(&notes, order, []uint32{4, uint32(len(content)), kind})
		notes.WriteString("GNU\x00")
		notes.Write(content)
		notes.Write(make([]byte, -len(content)&3))
	}
	note(1, []byte("abcde"))
	note(3, id)
	ident := [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(class), 1, 1}
	if order == binary.ByteOrder(binary.BigEndian) {
		ident[elf.EI_DATA] = 2
	}
	if class == elf.ELFCLASS64 {
		_ = binary.Write(&file, order, elf.Header64{Ident: ident, Shoff: 64, Shentsize: 64, Shnum: 2})
		_ = binary.Write(&file, order, []elf.Section64{{}, {Type: uint32(elf.SHT_NOTE), Off: 64 + 128, Size: uint64(notes.Len())}})
	} else {
		_ = binary.Write(&file, order, elf.Header32{Ident: ident, Shoff: 52, Shentsize: 40, Shnum: 2})
		_ = binary.Write(&file, order, []elf.Section32{{}, {Type: uint32(elf.SHT_NOTE), Off: 52 + 80, Size: uint32(notes.Len())}})
	}
	return append(file.Bytes(), notes.Bytes()...)
}

func TestELF(t *testing.T) {
	for _, class := range []elf.Class{elf.ELFCLASS64, elf.ELFCLASS32} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			file := elfFile(class, order, []byte{0xde, 0xad, 0xbe, 0xef, 1, 2, 3, 4})
			got, err := debugid.ELF(bytes.NewReader(file))
			require.NoError(t, err)
			assert.Equal(t, "deadbeef01020304", got)
			for n := range len(file) { // cut off anywhere
				_, err := debugid.ELF(bytes.NewReader(file[:n]))
				assert.Error(t, err, n)
			}
		}
	}
	_, err := debugid.ELF(bytes.NewReader(elfFile(elf.ELFCLASS64, binary.LittleEndian, nil)))
	assert.ErrorIs(t, err, debugid.ErrNone)
}

func machO(order binary.ByteOrder, is64 bool, id byte) []byte {
	var b bytes.Buffer
	magic := uint32(0xfeedface)
	if is64 {
		magic++
	}
	_ = binary.Write(&b, order, []uint32{magic, 0, 0, 10, 2, 8 + 24, 0})
	if is64 {
		b.Write(make([]byte, 4))
	}
	_ = binary.Write(&b, order, []uint32{2, 8, 0x1b, 24})
	b.Write(bytes.Repeat([]byte{id}, 16))
	return b.Bytes()
}

func fat(parts ...[]byte) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.BigEndian, []uint32{0xcafebabe, uint32(len(parts))})
	for i, part := range parts {
		_ = binary.Write(&b, binary.BigEndian, []uint32{12, 0, uint32(4096 * (i + 1)), uint32(len(part)), 12})
	}
	for i, part := range parts {
		b.Write(make([]byte, 4096*(i+1)-b.Len()))
		b.Write(part)
	}
	return b.Bytes()
}

func archive(t testing.TB, files map[string][]byte) []byte {
	var b bytes.Buffer
	zip := gzip.NewWriter(&b)
	out := tar.NewWriter(zip)
	for name, content := range files {
		require.NoError(t, out.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Typeflag: tar.TypeReg, Mode: 0o600}))
		_, err := out.Write(content)
		require.NoError(t, err)
	}
	require.NoError(t, out.Close())
	require.NoError(t, zip.Close())
	return b.Bytes()
}

func TestDSYM(t *testing.T) {
	const dwarf = "x.dSYM/Contents/Resources/DWARF/"
	id := func(b string) string { return strings.Repeat(b, 16) }
	little, big := machO(binary.LittleEndian, true, 0xa1), machO(binary.BigEndian, false, 0xb2)
	for name, c := range map[string]struct {
		file []byte
		want []string
	}{
		"thin": {little, []string{id("a1")}}, "32 bits, other order": {big, []string{id("b2")}},
		"fat":     {fat(little, big), []string{id("a1"), id("b2")}},
		"archive": {archive(t, map[string][]byte{dwarf + "x": fat(little, big), dwarf + "._x": []byte("Mac OS X"), "x.dSYM/Contents/Info.plist": []byte("<plist/>")}), []string{id("a1"), id("b2")}},
		"twice":   {archive(t, map[string][]byte{dwarf + "x": little, "y/" + dwarf + "x": little}), []string{id("a1")}},
	} {
		got, err := debugid.DSYM(bytes.NewReader(c.file))
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	cut := archive(t, map[string][]byte{dwarf + "x": little})
	for name, file := range map[string][]byte{
		"text": []byte("hello"), "empty": nil, "archive of nothing": archive(t, nil), "cut": cut[:len(cut)/2], "no binary": archive(t, map[string][]byte{dwarf + "x": []byte("text")}),
		"too many architectures": fat(make([][]byte, 17)...), "commands cut": little[:50],
	} {
		_, err := debugid.DSYM(bytes.NewReader(file))
		assert.Error(t, err, name)
	}
}

// TestExtractDSYM: the binary with the UUID, of any architecture.
func TestExtractDSYM(t *testing.T) {
	const dwarf = "x.dSYM/Contents/Resources/DWARF/"
	first, second := machO(binary.LittleEndian, true, 0xa1), fat(machO(binary.LittleEndian, true, 0xb2), machO(binary.LittleEndian, true, 0xc3))
	packed := archive(t, map[string][]byte{dwarf + "x": first, "y/" + dwarf + "y": second, dwarf + "._x": []byte("Mac OS X")})
	for id, want := range map[string][]byte{"a1": first, "b2": second, "c3": second} {
		to, err := os.Create(filepath.Join(t.TempDir(), "binary"))
		require.NoError(t, err)
		require.NoError(t, debugid.ExtractDSYM(to, bytes.NewReader(packed), strings.Repeat(id, 16)))
		got, err := os.ReadFile(to.Name())
		require.NoError(t, err)
		assert.Equal(t, want, got)
		assert.ErrorIs(t, debugid.ExtractDSYM(to, bytes.NewReader(packed), strings.Repeat("d4", 16)), debugid.ErrNone)
		assert.Error(t, debugid.ExtractDSYM(to, bytes.NewReader(packed[:len(packed)/2]), strings.Repeat("d4", 16)))
		require.NoError(t, to.Close())
	}
}

// TestBombs: an archive that inflates to gigabytes is given up in time, and needs no memory; one
// that inflates to far more than itself, early.
func TestBombs(t *testing.T) {
	bomb := func(content io.Reader) (read int64, err error) {
		reader, writer := io.Pipe()
		go func() {
			zip, _ := gzip.NewWriterLevel(writer, gzip.BestSpeed)
			out := tar.NewWriter(zip)
			_ = out.WriteHeader(&tar.Header{Name: "big", Size: 8 << 30, Typeflag: tar.TypeReg, Mode: 0o600})
			_, err := io.Copy(out, io.LimitReader(content, 8<<30))
			_ = writer.CloseWithError(err)
		}()
		defer reader.Close()
		in := &counted{from: reader}
		_, err = debugid.DSYM(in)
		return in.n, err
	}
	read, err := bomb(zeros{})
	assert.ErrorIs(t, err, debugid.ErrTooLarge)
	assert.Less(t, read, int64(1<<20))

	testsize.NeedFull(t)
	_, err = bomb(&sparse{})
	assert.ErrorIs(t, err, debugid.ErrTooLarge)
}

type counted struct {
	from io.Reader
	n    int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// sparse shrinks to some fiftieth.
type sparse struct{ n uint32 }

func (s *sparse) Read(p []byte) (int, error) {
	clear(p)
	for i := 0; i+4 < len(p); i += 500 {
		s.n = s.n*1664525 + 1013904223
		binary.LittleEndian.PutUint32(p[i:], s.n)
	}
	return len(p), nil
}

// TestCorpus: the ids that the recorded crashes name. The files have only headers and notes.
func TestCorpus(t *testing.T) {
	folder := filepath.Join(golden.Root(t), "testdata", "corpus", "symbols")
	packed, err := os.Open(filepath.Join(folder, "app.android-arm64.symbols.gz"))
	require.NoError(t, err)
	defer packed.Close()
	plain, err := gzip.NewReader(packed)
	require.NoError(t, err)
	content, err := io.ReadAll(plain)
	require.NoError(t, err)
	symbols := bytes.NewReader(content)
	id, err := debugid.ELF(symbols)
	require.NoError(t, err)
	want, err := elf.NewFile(symbols)
	require.NoError(t, err)
	note, err := want.Section(".note.gnu.build-id").Data()
	require.NoError(t, err)
	assert.Equal(t, hex.EncodeToString(note[16:]), id)

	for name, prefix := range map[string]string{"App.framework.dSYM.tgz": "4521584f", "DemoApp.app.dSYM.tgz": "84de6e9c"} {
		file, err := os.Open(filepath.Join(folder, name))
		require.NoError(t, err)
		ids, err := debugid.DSYM(file)
		_ = file.Close()
		require.NoError(t, err)
		assert.Contains(t, strings.Join(ids, " "), prefix, name)
	}
}

func FuzzDSYM(f *testing.F) {
	f.Add(fat(machO(binary.LittleEndian, true, 1), machO(binary.BigEndian, false, 2)))
	f.Add(archive(f, map[string][]byte{"x.dSYM/Contents/Resources/DWARF/x": machO(binary.LittleEndian, true, 3)}))
	f.Fuzz(func(_ *testing.T, file []byte) { _, _ = debugid.DSYM(bytes.NewReader(file)) })
}

func FuzzELF(f *testing.F) {
	f.Add(elfFile(elf.ELFCLASS64, binary.LittleEndian, []byte("0123")))
	f.Add(elfFile(elf.ELFCLASS32, binary.BigEndian, []byte("0123")))
	f.Fuzz(func(t *testing.T, file []byte) {
		if id, err := debugid.ELF(bytes.NewReader(file)); err == nil && len(id) < 4 {
			t.Fatalf("%q is too short for a path", id)
		}
	})
}
