// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
)

func indexELF(b *builder, in *input, summary *Summary) error {
	file, err := readELF(in.file, in.size)
	if err != nil {
		return err
	}
	b.loads = file.loads
	for _, s := range file.sections {
		if flags := elf.SectionFlag(s.Flags); flags&(elf.SHF_ALLOC|elf.SHF_EXECINSTR) == elf.SHF_ALLOC|elf.SHF_EXECINSTR && s.Addr+s.Size > s.Addr {
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
	if err := indexDWARF(b, in, file.order, summary, func(name string) ([]byte, error) { return file.dwarfSection(in, name) }); err != nil {
		summary.note(err)
	}
	return nil
}

// elfSymbols reads the functions of the symbol tables.
func elfSymbols(b *builder, in *input, file *elfFile) error {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		table := file.sectionOf(kind)
		if table == nil || uint64(table.Link) >= uint64(len(file.sections)) {
			continue
		}
		text := file.sections[table.Link]
		entries, err := in.part(table.Off, table.Size)
		if err != nil {
			return err
		}
		names, err := in.part(text.Off, text.Size)
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

func addELFSymbols(b *builder, file *elfFile, entries, names []byte) error {
	size := elf.Sym64Size
	if !file.wide {
		size = elf.Sym32Size
	}
	for ; len(entries) >= size; entries = entries[size:] {
		var s elf.Sym64
		if !file.wide {
			s = elf.Sym64{Name: file.order.Uint32(entries), Info: entries[12], Shndx: file.order.Uint16(entries[14:]), Value: uint64(file.order.Uint32(entries[4:])), Size: uint64(file.order.Uint32(entries[8:]))}
		} else {
			s = elf.Sym64{Name: file.order.Uint32(entries), Info: entries[4], Shndx: file.order.Uint16(entries[6:]), Value: file.order.Uint64(entries[8:]), Size: file.order.Uint64(entries[16:])}
		}
		if kind := elf.ST_TYPE(s.Info); kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC && kind != elf.STT_NOTYPE || elf.SectionIndex(s.Shndx) == elf.SHN_UNDEF {
			continue
		}
		if file.machine == elf.EM_ARM {
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
func embeddedSymbols(b *builder, in *input, file *elfFile) error {
	packed, err := file.content(in, ".gnu_debugdata")
	if err != nil || len(packed) == 0 {
		return err
	}
	inflated, err := in.unxz(packed, uint64(min(maxHeap-in.heap, maxRatio*int64(len(packed)))))
	if err != nil {
		return fmt.Errorf(".gnu_debugdata: %w", err)
	}
	inner := &input{work: in.work, file: bytes.NewReader(inflated), size: int64(len(inflated)), mapped: inflated, inner: true}
	embedded, err := readELF(inner.file, inner.size)
	if err != nil {
		return fmt.Errorf(".gnu_debugdata: %w", err)
	}
	return elfSymbols(b, inner, embedded)
}
