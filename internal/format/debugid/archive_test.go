// SPDX-License-Identifier: Apache-2.0

package debugid_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/extremes"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

const binaryName = "x.dSYM/Contents/Resources/DWARF/x"

// tarEntry returns an entry of a tar archive: archive/tar does not write sparse ones.
func tarEntry(name string, kind byte, size string, content []byte) []byte {
	header := make([]byte, 512)
	copy(header, name)
	copy(header[100:], "0000600\x000000000\x000000000\x00")
	copy(header[124:136], size)
	copy(header[136:], "00000000000\x00        ")
	header[156] = kind
	copy(header[257:], "ustar\x0000")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return append(append(header, content...), make([]byte, -len(content)&511)...)
}

func octal(size int) string { return fmt.Sprintf("%011o", size) }

// records returns the content of a PAX header.
func records(pairs ...string) (content []byte) {
	for i := 0; i < len(pairs); i += 2 {
		line := " " + pairs[i] + "=" + pairs[i+1] + "\n"
		size := len(line)
		for len(fmt.Sprint(size))+len(line) != size {
			size++
		}
		content = append(content, fmt.Sprint(size)+line...)
	}
	return content
}

// sparseArchive returns an archive with a binary of a size. All but its first bytes is a hole.
func sparseArchive(realSize string, places string, first []byte) []byte {
	pax := records("GNU.sparse.major", "1", "GNU.sparse.minor", "0", "GNU.sparse.name", binaryName, "GNU.sparse.realsize", realSize)
	content := append([]byte(places), make([]byte, -len(places)&511)...)
	content = append(content, first...)
	return append(tarEntry("PaxHeaders/x", 'x', octal(len(pax)), pax), tarEntry("sparse/x", '0', octal(len(content)), content)...)
}

func packed(parts ...[]byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(append(bytes.Join(parts, nil), make([]byte, 1024)...))
	_ = w.Close()
	return b.Bytes()
}

// extracted counts what is written, without a disk.
type extracted struct {
	head    []byte
	written int64
}

func (e *extracted) Truncate(int64) error { e.head = nil; return nil }

func (e *extracted) ReadAt(p []byte, at int64) (int, error) {
	return bytes.NewReader(e.head).ReadAt(p, at)
}

func (e *extracted) WriteAt(p []byte, at int64) (int, error) {
	if e.written += int64(len(p)); at == int64(len(e.head)) && at < 1<<16 {
		e.head = append(e.head, p...)
	}
	return len(p), nil
}

// withinLimit checks that an archive expands to at most a hundred times its size, on disk and when
// it is searched, and takes no more CPU time than its size permits. The readers are ahead by one
// buffer.
func withinLimit(t *testing.T, archive []byte, what string) {
	t.Helper()
	to := &extracted{}
	extremes.WithinCPU(t, len(archive), func() string { return what }, func() {
		_ = debugid.ExtractDSYM(to, bytes.NewReader(archive), strings.Repeat("c3", 16))
		_, _ = debugid.DSYM(bytes.NewReader(archive))
	})
	if limit := 100 * int64(len(archive)); to.written > limit {
		t.Errorf("%s: wrote %d bytes of an archive of %d", what, to.written, len(archive))
	}
}

// TestSparse: a hole takes no space in the archive, but on the disk.
func TestSparse(t *testing.T) {
	binary := machO(binary.LittleEndian, true, 0xc3)
	for _, size := range []string{"3221225472", fmt.Sprint(int64(math.MaxInt64)), "1048576"} {
		archive := packed(sparseArchive(size, fmt.Sprintf("1\n0\n%d\n", len(binary)), binary))
		to := &extracted{}
		assert.ErrorIs(t, debugid.ExtractDSYM(to, bytes.NewReader(archive), strings.Repeat("c3", 16)), debugid.ErrTooLarge, size)
		assert.LessOrEqual(t, to.written, 100*int64(len(archive)), size)
		withinLimit(t, archive, size)
	}
	// A hole as large as linkers leave one.
	archive := packed(sparseArchive("16384", fmt.Sprintf("1\n0\n%d\n", len(binary)), binary))
	to := &extracted{}
	require.NoError(t, debugid.ExtractDSYM(to, bytes.NewReader(archive), strings.Repeat("c3", 16)))
	assert.EqualValues(t, 16384, to.written)
}

// TestArchiveExtremes sets the numbers of archives to extremes: sizes, sparse maps and their
// counts, the numbers of PAX records, all bytes of headers, and the number of entries.
func TestArchiveExtremes(t *testing.T) {
	binary := machO(binary.LittleEndian, true, 0xa1)
	numbers := []string{"0", "1", "-1", "511", "512", "513", "4096", "2147483647", "4294967295", "9223372036854775807", "9223372036854775808", "18446744073709551616", "x", ""}
	for _, n := range numbers {
		withinLimit(t, packed(sparseArchive(n, fmt.Sprintf("1\n0\n%d\n", len(binary)), binary)), "real size "+n)
		for _, places := range []string{n + "\n0\n1\n", "1\n" + n + "\n1\n", "1\n0\n" + n + "\n", "2\n0\n" + n + "\n" + n + "\n1\n", "2\n" + n + "\n" + n + "\n0\n0\n", strings.Repeat(n+"\n", 300)} {
			withinLimit(t, packed(sparseArchive("3221225472", places, binary)), "map "+places)
		}
		for _, key := range []string{"size", "path", "GNU.sparse.size", "GNU.sparse.numblocks", "GNU.sparse.map", "GNU.sparse.offset"} {
			pax := records(key, n, "GNU.sparse.size", "3221225472", "GNU.sparse.map", n+",1,"+n+",1")
			withinLimit(t, packed(tarEntry("x", 'x', octal(len(pax)), pax), tarEntry(binaryName, '0', octal(len(binary)), binary)), key+" "+n)
		}
		withinLimit(t, packed(tarEntry(binaryName, '0', n, binary)), "size "+n)
		withinLimit(t, packed(tarEntry("x", 'x', octal(30), []byte(n+" path=x\n"))), "length of a record "+n)
	}
	withinLimit(t, packed(tarEntry(binaryName, '0', "\x80\x00\x00\x00\x7f\xff\xff\xff\xff\xff\xff\xff", binary)), "size in base 256")
	withinLimit(t, packed(bytes.Repeat(tarEntry(binaryName, '0', octal(len(binary)), binary), 2000)), "the same entry many times")
	sparse := sparseArchive("1073741824", fmt.Sprintf("1\n0\n%d\n", len(binary)), binary)
	withinLimit(t, packed(bytes.Repeat(sparse, 200)), "many holes")

	archive, stride := bytes.Join([][]byte{sparse, tarEntry(binaryName, '0', octal(len(binary)), binary)}, nil), 17
	switch {
	case extremes.Every():
		stride = 3
	case testsize.Full():
		stride = 7
	}
	for at := 0; at < len(archive); at += stride {
		for _, value := range []byte{0, 1, '0', '7', 0x7f, 0x80, 0xff, 'S', 'x', 'g', 'L'} {
			damaged := bytes.Clone(archive)
			damaged[at] = value
			if header := at &^ 511; at-header < 512 { // with the right checksum, in case it is a header
				fixChecksum(damaged[header:])
			}
			withinLimit(t, packed(damaged), fmt.Sprintf("%#x at %d", value, at))
		}
	}
}

func fixChecksum(header []byte) {
	if len(header) < 512 || string(header[257:262]) != "ustar" {
		return
	}
	copy(header[148:], "        ")
	sum := 0
	for _, b := range header[:512] {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
}

// TestDamagedArchives damages archives of dSYMs at random, before and after their compression.
func TestDamagedArchives(t *testing.T) {
	binary := machO(binary.LittleEndian, true, 0xa1)
	content := append(bytes.Clone(binary), bytes.Repeat([]byte("debug information "), 200)...)
	pax := records("path", binaryName, "size", fmt.Sprint(len(content)))
	archives := [][]byte{
		tarEntry(binaryName, '0', octal(len(content)), content),
		sparseArchive("16384", fmt.Sprintf("1\n0\n%d\n", len(binary)), binary),
		append(tarEntry("x", 'x', octal(len(pax)), pax), tarEntry("x", '0', octal(len(content)), content)...),
		bytes.Repeat(tarEntry(binaryName, '0', octal(len(binary)), fat(binary, binary)), 20),
	}
	count := extremes.Damaged(200, 5000)
	random := rand.New(rand.NewPCG(uint64(count), 38))
	for i := range count {
		archive := bytes.Clone(archives[random.IntN(len(archives))])
		for range 1 + random.IntN(8) {
			archive = extremes.Damage(random, archive)
		}
		for header := 0; header < len(archive) && i%4 > 0; header += 512 { // else most headers are only bad
			fixChecksum(archive[header:])
		}
		archive = packed(archive)
		for range random.IntN(4) * (i % 2) {
			archive = extremes.Damage(random, archive)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		withinLimit(t, archive, fmt.Sprintf("archive %d", i))
		runtime.ReadMemStats(&after)
		if allocated := after.TotalAlloc - before.TotalAlloc; allocated > uint64(4<<20+100*len(archive)) {
			t.Errorf("archive %d of %d bytes: %d bytes allocated", i, len(archive), allocated)
		}
		if t.Failed() {
			return
		}
	}
}
