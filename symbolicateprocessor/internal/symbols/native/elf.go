// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"io"
	"slices"

	"github.com/ulikunitz/xz"
)

func indexELF(b *builder, in *input, summary *Summary) error {
	file, err := elf.NewFile(in.file)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for _, p := range file.Progs {
		if p.Type == elf.PT_LOAD {
			b.loads = append(b.loads, load{p.Off, p.Vaddr, p.Filesz})
		}
	}
	for _, s := range file.Sections {
		if s.Flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) == elf.SHF_ALLOC|elf.SHF_EXECINSTR && s.Addr+s.Size > s.Addr {
			b.code = append(b.code, addresses{s.Addr, s.Addr + s.Size})
		}
	}
	slices.SortFunc(b.code, func(a, b addresses) int { return cmp.Compare(a.from, b.from) })

	if err := elfSymbols(b, in, file); err != nil {
		return err
	}
	if len(b.symbols) == 0 {
		if err := goFunctions(b, in, file); err != nil {
			summary.note(err)
		}
	}
	if err := embeddedSymbols(b, in, file); err != nil {
		summary.note(err)
	}
	b.sortSymbols()
	if err := indexDWARF(b, in, file.ByteOrder, summary, func(name string) ([]byte, error) { return elfSection(in, file, name) }); err != nil {
		summary.note(err)
	}
	return nil
}

// elfSection returns the content of a section, nil if there is none.
func elfSection(in *input, file *elf.File, name string) ([]byte, error) {
	s := file.Section(name)
	if s == nil || s.Type == elf.SHT_NOBITS {
		return nil, nil
	}
	if s.Flags&elf.SHF_COMPRESSED == 0 {
		return in.part(s.Offset, s.FileSize)
	}
	if s.Size/maxRatio > s.FileSize {
		return nil, fmt.Errorf("%w: %s inflates from %d to %d bytes", ErrTooLarge, name, s.FileSize, s.Size)
	}
	if err := in.allocate(s.Size); err != nil {
		return nil, err
	}
	return s.Data()
}

// elfSymbols reads the functions of the symbol tables.
func elfSymbols(b *builder, in *input, file *elf.File) error {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		table := file.SectionByType(kind)
		if table == nil || table.Type == elf.SHT_NOBITS || int(table.Link) >= len(file.Sections) {
			continue
		}
		text := file.Sections[table.Link]
		entries, err := in.part(table.Offset, table.FileSize)
		if err != nil {
			return err
		}
		names, err := in.part(text.Offset, text.FileSize)
		if err != nil {
			return err
		}
		if err := addELFSymbols(b, file, entries, names); err != nil {
			return err
		}
		in.release()
	}
	return nil
}

func addELFSymbols(b *builder, file *elf.File, entries, names []byte) error {
	size := elf.Sym64Size
	if file.Class == elf.ELFCLASS32 {
		size = elf.Sym32Size
	}
	for ; len(entries) >= size; entries = entries[size:] {
		var s elf.Sym64
		if file.Class == elf.ELFCLASS32 {
			s = elf.Sym64{Name: file.ByteOrder.Uint32(entries), Info: entries[12], Shndx: file.ByteOrder.Uint16(entries[14:]), Value: uint64(file.ByteOrder.Uint32(entries[4:])), Size: uint64(file.ByteOrder.Uint32(entries[8:]))}
		} else {
			s = elf.Sym64{Name: file.ByteOrder.Uint32(entries), Info: entries[4], Shndx: file.ByteOrder.Uint16(entries[6:]), Value: file.ByteOrder.Uint64(entries[8:]), Size: file.ByteOrder.Uint64(entries[16:])}
		}
		if kind := elf.ST_TYPE(s.Info); kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC && kind != elf.STT_NOTYPE || elf.SectionIndex(s.Shndx) == elf.SHN_UNDEF {
			continue
		}
		if file.Machine == elf.EM_ARM {
			s.Value &^= 1 // Thumb
		}
		name := text(names, uint64(s.Name))
		if len(name) > 0 && name[0] == '$' { // the mapping symbols of Arm: $x, $d
			continue
		}
		if err := b.addSymbol(name, s.Value, s.Size); err != nil {
			return err
		}
	}
	return nil
}

// text returns the string at an offset of a string table.
func text(table []byte, at uint64) string {
	if at >= uint64(len(table)) {
		return ""
	}
	name := table[at:][:min(uint64(len(table))-at, maxName)]
	if end := bytes.IndexByte(name, 0); end >= 0 {
		name = name[:end]
	}
	return string(name)
}

// embeddedSymbols reads .gnu_debugdata: an ELF file with the symbols that .dynsym lacks, compressed
// with xz. Fedora has it in all programs.
func embeddedSymbols(b *builder, in *input, file *elf.File) error {
	packed, err := elfSection(in, file, ".gnu_debugdata")
	if err != nil || len(packed) == 0 {
		return err
	}
	r, err := xz.ReaderConfig{DictCap: 1 << 20}.NewReader(bytes.NewReader(packed))
	if err != nil {
		return fmt.Errorf("%w: .gnu_debugdata: %w", ErrDamaged, err)
	}
	limit := min(maxHeap-in.heap, maxRatio*int64(len(packed)))
	inflated, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return fmt.Errorf("%w: .gnu_debugdata: %w", ErrDamaged, err)
	}
	if int64(len(inflated)) > limit {
		return fmt.Errorf("%w: .gnu_debugdata", ErrTooLarge)
	}
	inner := &input{file: bytes.NewReader(inflated), size: int64(len(inflated)), mapped: inflated}
	embedded, err := elf.NewFile(inner.file)
	if err != nil {
		return fmt.Errorf("%w: .gnu_debugdata: %w", ErrDamaged, err)
	}
	inner.mapped = inflated
	return elfSymbols(b, inner, embedded)
}
