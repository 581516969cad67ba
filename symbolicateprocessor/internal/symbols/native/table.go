// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"slices"
	"sort"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// Version is the version of the table, and of its content. A new version invalidates all existing
// indexes.
const Version = 2

// A table is the magic, the loads, the rows, the strings, the sites, and a trailer with the counts:
// little-endian, without pointers. The strings are those of the file, then demangled names: a
// lookup does not demangle. The digit of the magic is the version.
const (
	magic       = "symtab 2"
	trailerSize = 5 * 4
	loadSize    = 3 * 8
	rowSize     = 8 + 4
	siteSize    = 5 * 4

	// blockRows is the number of rows that a lookup reads. The first address of each block stays in
	// memory: 8 bytes for 3 KiB.
	blockRows = 256
)

// write writes the table.
func (b *builder) write(to io.Writer) error {
	b.sort()
	sum := crc32.New(castagnoli)
	out := bufio.NewWriterSize(to, 64<<10) // its first error is that of Flush
	out.WriteString(magic)
	body := io.MultiWriter(out, sum)
	var n [loadSize]byte
	put := func(fields ...uint32) {
		record := n[:0]
		for _, field := range fields {
			record = binary.LittleEndian.AppendUint32(record, field)
		}
		body.Write(record)
	}
	for _, l := range b.loads {
		body.Write(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(n[:0], l.offset), l.address), l.size))
	}
	rows := uint32(0)
	for r := range b.rows {
		rows++
		put(uint32(r.address), uint32(r.address>>32), r.site)
	}
	if rows == 0 && b.err == nil {
		return ErrEmpty
	}
	body.Write(b.Text)
	names, size, err := b.writeNames(body)
	if err != nil {
		return err
	}
	for _, s := range b.sites {
		b.step(1)
		put(uint32(s.name), uint32(names.shown(s.name)), uint32(s.file), s.line, s.parent)
	}
	if b.err != nil {
		return b.err
	}
	check := sum.Sum32()
	put(uint32(len(b.loads)), rows, uint32(len(b.sites)), size, check)
	return out.Flush()
}

// demangledNames are the names that have a demangled form, in order.
type demangledNames struct{ raw, demangled []ref }

// writeNames writes the demangled names after the strings, and returns the size of both.
func (b *builder) writeNames(to io.Writer) (names demangledNames, size uint32, err error) {
	all, release := symbols.Reserve[ref](int64(len(b.sites)))
	defer release()
	if err := b.work.Claim(8 * int64(len(b.sites))); err != nil {
		return names, 0, err
	}
	for _, s := range b.sites {
		all = append(all, s.name)
	}
	slices.SortFunc(all, func(x, y ref) int { return b.compared(cmp.Compare(x, y)) })
	d := newDemangler(b.work, b.limit)
	size = uint32(len(b.Text))
	var record []byte
	for _, raw := range slices.Compact(all) {
		name := b.Get(raw)
		shown, err := d.demangle(name)
		if err != nil {
			return names, 0, err
		}
		if shown == name || size > maxShown {
			continue
		}
		shown = shown[:min(len(shown), maxName)]
		names.raw, names.demangled = append(names.raw, raw), append(names.demangled, ref(size))
		record = append(binary.AppendUvarint(record[:0], uint64(len(shown))), shown...)
		if _, err := to.Write(record); err != nil {
			return names, 0, err
		}
		size += uint32(len(record))
	}
	return names, size, nil
}

// shown returns the demangled form of a name, 0 if there is none.
func (d demangledNames) shown(name ref) ref {
	if i, ok := slices.BinarySearch(d.raw, name); ok {
		return d.demangled[i]
	}
	return 0
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Table is an index that Index wrote. It is safe for concurrent use.
type Table struct {
	file                    io.ReaderAt
	loads                   []load
	blocks                  []uint64 // the first address of each block of rows
	rows, sites             uint32
	text                    uint32
	rowsAt, textAt, sitesAt int64
}

var errTable = fmt.Errorf("%w: not a table of this version, or a damaged one", ErrDamaged)

// Open checks and opens a table. When the file is closed, lookups return symbols.Pending.
func Open(file io.ReaderAt, size int64) (*Table, error) {
	var head [len(magic)]byte
	var trailer [trailerSize]byte
	_, err := file.ReadAt(head[:], 0)
	if err == nil {
		_, err = file.ReadAt(trailer[:], max(size-trailerSize, 0))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errTable, err)
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(trailer[4*i:]) }
	t := &Table{file: file, rows: field(1), sites: field(2), text: field(3)}
	t.rowsAt = int64(len(magic)) + loadSize*int64(field(0))
	t.textAt = t.rowsAt + rowSize*int64(t.rows)
	t.sitesAt = t.textAt + int64(t.text)
	end := t.sitesAt + siteSize*int64(t.sites)
	if string(head[:]) != magic || end+trailerSize != size {
		return nil, errTable
	}
	sum := crc32.New(castagnoli)
	in := io.TeeReader(bufio.NewReaderSize(io.NewSectionReader(file, int64(len(magic)), end-int64(len(magic))), 256<<10), sum)
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
		return dst, failed(err)
	}
	if at == 0 {
		return dst, symbols.NoSymbol
	}
	start := len(dst)
	for at != 0 && len(dst)-start < maxChain {
		s, shown, err := t.site(at)
		if err != nil {
			return dst[:start], failed(err)
		}
		name, err1 := t.string(s.name)
		file, err2 := t.string(s.file)
		demangled, err3 := t.string(shown)
		if err := errors.Join(err1, err2, err3); err != nil {
			return dst[:start], failed(err)
		}
		dst = append(dst, frame(name, demangled, file, s.line))
		at = s.parent
	}
	return dst, symbols.OK
}

// failed returns the status of a lookup that cannot read the file. A closed one can be opened
// again.
func failed(err error) symbols.Status {
	if errors.Is(err, fs.ErrClosed) {
		return symbols.Pending
	}
	return symbols.Error
}

func frame(name, demangled, file string, line uint32) symbols.Frame {
	f := symbols.Frame{Function: name, File: file, Line: int64(line)}
	if demangled != "" {
		f.Function, f.Raw = demangled, name
	}
	return f
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

// site returns a site, and the demangled name of its function, 0 if there is none.
func (t *Table) site(at uint32) (s site, shown ref, err error) {
	var b [siteSize]byte
	if at >= t.sites {
		return s, 0, errTable
	}
	if _, err := t.file.ReadAt(b[:], t.sitesAt+siteSize*int64(at)); err != nil {
		return s, 0, err
	}
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(b[4*i:]) }
	return site{ref(field(0)), ref(field(2)), field(3), field(4)}, ref(field(1)), nil
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
	if _, err := t.file.ReadAt(b, t.textAt+int64(at)); err != nil {
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
	_, err := t.file.ReadAt(long, t.textAt+int64(at)+int64(size))
	return string(long), err
}
