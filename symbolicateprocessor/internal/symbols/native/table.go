// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sort"
	"strings"

	"github.com/ianlancetaylor/demangle"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/swift"
)

// Version is the version of the table, and of its content. A new version invalidates all existing
// indexes.
const Version = 1

// A table is a header, the loads, the rows, the sites, and the strings: little-endian, without
// pointers. The digit of the magic is the version.
const (
	magic      = "symtab 1"
	headerSize = 8 + 4*4 + 4
	loadSize   = 3 * 8
	rowSize    = 8 + 4
	siteSize   = 4 * 4

	// blockRows is the number of rows that a lookup reads. The first address of each block stays in
	// memory: 8 bytes for 3 KiB.
	blockRows = 256
)

// write writes the table.
func (b *builder) write(to io.Writer) error {
	b.sort()
	rows := uint32(0)
	for range b.rows {
		rows++
	}
	if rows == 0 {
		return ErrEmpty
	}
	sum := crc32.New(castagnoli)
	body := func(to io.Writer) error {
		out := bufio.NewWriterSize(to, 64<<10)
		var n [loadSize]byte
		for _, l := range b.loads {
			out.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(n[:0], l.offset), l.address), l.size))
		}
		for r := range b.rows {
			out.Write(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(n[:0], r.address), r.site))
		}
		for _, s := range b.sites {
			for _, field := range []uint32{uint32(s.name), uint32(s.file), s.line, s.parent} {
				out.Write(binary.LittleEndian.AppendUint32(n[:0], field))
			}
		}
		out.Write(b.text)
		return out.Flush() // the first error of all writes
	}
	if err := body(sum); err != nil {
		return err
	}
	header := append([]byte(magic), make([]byte, headerSize-8)...)
	for i, n := range []uint32{uint32(len(b.loads)), rows, uint32(len(b.sites)), uint32(len(b.text)), sum.Sum32()} {
		binary.LittleEndian.PutUint32(header[8+4*i:], n)
	}
	if _, err := to.Write(header); err != nil {
		return err
	}
	return body(to)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Table is an index that Index wrote. It is safe for concurrent use.
type Table struct {
	file                   io.ReaderAt
	loads                  []load
	blocks                 []uint64 // the first address of each block of rows
	rows, sites            uint32
	text                   uint32
	rowsAt, sitesAt, endAt int64
}

var errTable = fmt.Errorf("%w: not a table of this version, or a damaged one", ErrDamaged)

// Open checks and opens a table. The file must stay open.
func Open(file io.ReaderAt, size int64) (*Table, error) {
	var header [headerSize]byte
	if _, err := file.ReadAt(header[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(header[8+4*i:]) }
	t := &Table{file: file, rows: field(1), sites: field(2), text: field(3)}
	t.rowsAt = headerSize + loadSize*int64(field(0))
	t.sitesAt = t.rowsAt + rowSize*int64(t.rows)
	t.endAt = t.sitesAt + siteSize*int64(t.sites)
	if string(header[:8]) != magic || t.endAt+int64(t.text) != size {
		return nil, errTable
	}
	sum := crc32.New(castagnoli)
	in := io.TeeReader(bufio.NewReaderSize(io.NewSectionReader(file, headerSize, size-headerSize), 256<<10), sum)
	buffer := make([]byte, blockRows*rowSize)
	for range field(0) {
		if _, err := io.ReadFull(in, buffer[:loadSize]); err != nil {
			return nil, err
		}
		number := func(i int) uint64 { return binary.LittleEndian.Uint64(buffer[8*i:]) }
		t.loads = append(t.loads, load{number(0), number(1), number(2)})
	}
	for left := t.rows; left > 0; left -= min(left, blockRows) {
		if _, err := io.ReadFull(in, buffer[:rowSize*min(left, blockRows)]); err != nil {
			return nil, err
		}
		t.blocks = append(t.blocks, binary.LittleEndian.Uint64(buffer))
	}
	if _, err := io.CopyBuffer(io.Discard, in, buffer); err != nil {
		return nil, err
	}
	if sum.Sum32() != field(4) {
		return nil, errTable
	}
	return t, nil
}

// Bytes returns the approximate memory of the table.
func (t *Table) Bytes() int64 { return int64(8*cap(t.blocks)+loadSize*cap(t.loads)) + 128 }

// Use is the role of an address in a stack.
type Use uint8

const (
	// Leaf is the address of the instruction that runs.
	Leaf Use = iota
	// Caller is a return address. The call is before it, and can be the last instruction of another
	// line or function.
	Caller
)

// Address converts an offset of the file, as ELF mappings have it, to an address. Files with only
// symbols do not have the code, and Breakpad files do not state offsets: for these, an offset is
// relative to the start of the image, as in most programs.
func (t *Table) Address(offset uint64) (address uint64, ok bool) {
	bare := true
	for _, l := range t.loads {
		if l.offset <= offset && offset-l.offset < l.size {
			return offset - l.offset + l.address, true
		}
		bare = bare && l.size == 0
	}
	return t.Base() + offset, bare
}

// Base returns the address of the start of the image.
func (t *Table) Base() uint64 {
	if len(t.loads) == 0 {
		return 0
	}
	return t.loads[0].address
}

// Lookup appends the functions at an address to dst, innermost first.
func (t *Table) Lookup(dst []symbols.Frame, address uint64, use Use) ([]symbols.Frame, symbols.Status) {
	if use == Caller && address > 0 {
		address--
	}
	at, err := t.row(address)
	if err != nil {
		return dst, symbols.Error
	}
	if at == 0 {
		return dst, symbols.NoSymbol
	}
	start := len(dst)
	for at != 0 && len(dst)-start < maxChain {
		s, err := t.site(at)
		if err != nil {
			return dst[:start], symbols.Error
		}
		name, err1 := t.string(s.name)
		file, err2 := t.string(s.file)
		if errors.Join(err1, err2) != nil {
			return dst[:start], symbols.Error
		}
		dst = append(dst, frame(name, file, s.line))
		at = s.parent
	}
	return dst, symbols.OK
}

func frame(name, file string, line uint32) symbols.Frame {
	f := symbols.Frame{Function: demangled(name), File: file, Line: int64(line)}
	if f.Function != name {
		f.Raw = name
	}
	return f
}

// demangled returns the name of a function of C++, Rust or Swift without the types of parameters:
// profiles have no use for them.
func demangled(name string) string {
	if name, ok := swift.Demangle(name); ok {
		return name
	}
	return demangle.Filter(withoutVersion(name), demangle.NoParams, demangle.NoEnclosingParams, demangle.MaxLength(maxDemangled))
}

// withoutVersion removes "@GLIBC_2.2" from dynamic symbols.
func withoutVersion(name string) string {
	if i := strings.IndexByte(name, '@'); i > 0 && strings.HasPrefix(name, "_Z") {
		return name[:i]
	}
	return name
}

// row returns the site of the row of an address.
func (t *Table) row(address uint64) (site uint32, err error) {
	block := sort.Search(len(t.blocks), func(i int) bool { return t.blocks[i] > address }) - 1
	if block < 0 {
		return 0, nil
	}
	var buffer [blockRows * rowSize]byte
	rows := buffer[:rowSize*min(blockRows, int(t.rows)-block*blockRows)]
	if _, err := t.file.ReadAt(rows, t.rowsAt+int64(block)*blockRows*rowSize); err != nil {
		return 0, err
	}
	i := sort.Search(len(rows)/rowSize, func(i int) bool { return binary.LittleEndian.Uint64(rows[i*rowSize:]) > address }) - 1
	if i < 0 {
		return 0, errTable
	}
	return binary.LittleEndian.Uint32(rows[i*rowSize+8:]), nil
}

func (t *Table) site(at uint32) (s site, err error) {
	var b [siteSize]byte
	if at >= t.sites {
		return s, errTable
	}
	if _, err := t.file.ReadAt(b[:], t.sitesAt+siteSize*int64(at)); err != nil {
		return s, err
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return site{ref(field(0)), ref(field(1)), field(2), field(3)}, nil
}

func (t *Table) string(at ref) (string, error) {
	if at == 0 {
		return "", nil
	}
	if uint32(at) >= t.text {
		return "", errTable
	}
	var buffer [256]byte
	b := buffer[:min(len(buffer), int(t.text-uint32(at)))]
	if _, err := t.file.ReadAt(b, t.endAt+int64(at)); err != nil {
		return "", err
	}
	n, size := binary.Uvarint(b)
	if size <= 0 || n > maxName || uint64(at)+uint64(size)+n > uint64(t.text) {
		return "", errTable
	}
	if int(n) <= len(b)-size {
		return string(b[size:][:n]), nil
	}
	long := make([]byte, n)
	_, err := t.file.ReadAt(long, t.endAt+int64(at)+int64(size))
	return string(long), err
}
