// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
)

// debug/elf inflates the section names of a file, and reads as many headers as the file states, so
// only its constants are used here.

// elfFile has the headers of an ELF file.
type elfFile struct {
	wide     bool // 64-bit
	order    binary.ByteOrder
	machine  elf.Machine
	loads    []load
	sections []elf.Section64
	names    []byte // of sections
}

// sectionInfo is the section of DWARF that has the functions.
const sectionInfo = ".debug_info"

const (
	// maxSections bounds the sections and the program headers. A linked program has about 40.
	maxSections = 1 << 16

	// maxSectionNames bounds the table of section names, which has a few hundred bytes.
	maxSectionNames = 1 << 20
)

func readELF(file io.ReaderAt, size int64) (*elfFile, error) {
	var head [elf.EI_NIDENT]byte
	if _, err := file.ReadAt(head[:], 0); err != nil || string(head[:4]) != elf.ELFMAG {
		return nil, fmt.Errorf("%w: no ELF header", ErrDamaged)
	}
	f := &elfFile{wide: elf.Class(head[elf.EI_CLASS]) == elf.ELFCLASS64, order: binary.LittleEndian}
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		f.order = binary.BigEndian
	}
	c, err := f.cursor(file, size, 0, 64)
	if err != nil {
		return nil, err
	}
	c.take(elf.EI_NIDENT + 2)
	f.machine = elf.Machine(c.u16())
	c.u32() // version
	f.word(c)
	programsAt, sectionsAt := f.word(c), f.word(c)
	c.u32() // flags
	c.u16() // header size
	programSize, programs := uint64(c.u16()), uint64(c.u16())
	sectionSize, sections, namesIndex := uint64(c.u16()), uint64(c.u16()), uint32(c.u16())
	if sections == 0 && sectionsAt > 0 || namesIndex == uint32(elf.SHN_XINDEX) { // too many for the header: they are in the first section
		first, err := f.readSections(file, size, sectionsAt, sectionSize, 1)
		if err != nil {
			return nil, err
		}
		if sections == 0 {
			sections = first[0].Size
		}
		if namesIndex == uint32(elf.SHN_XINDEX) {
			namesIndex = first[0].Link
		}
	}
	if f.sections, err = f.readSections(file, size, sectionsAt, sectionSize, sections); err != nil {
		return nil, err
	}
	if err := f.readPrograms(file, size, programsAt, programSize, programs); err != nil {
		return nil, err
	}
	if len(f.sections) > 0 {
		if uint64(namesIndex) >= uint64(len(f.sections)) {
			return nil, fmt.Errorf("%w: the names are in section %d of %d", ErrDamaged, namesIndex, len(f.sections))
		}
		if s := f.sections[namesIndex]; s.Type == uint32(elf.SHT_STRTAB) && s.Flags&uint64(elf.SHF_COMPRESSED) == 0 {
			names, err := f.cursor(file, size, s.Off, min(s.Size, maxSectionNames))
			if err != nil {
				return nil, err
			}
			f.names = names.data
		}
	}
	return f, nil
}

// cursor reads a part of the file. It is shorter if the file is an ELF header only.
func (f *elfFile) cursor(file io.ReaderAt, size int64, at, length uint64) (*cursor, error) {
	if at > uint64(size) {
		return nil, fmt.Errorf("%w: ELF headers at %d of %d", ErrDamaged, at, size)
	}
	b := make([]byte, min(length, uint64(size)-at))
	if _, err := file.ReadAt(b, int64(at)); err != nil && err != io.EOF {
		return nil, err
	}
	return &cursor{data: b, order: f.order}, nil
}

// word returns a number of 8 bytes, or of 4 in 32-bit files.
func (f *elfFile) word(c *cursor) uint64 {
	if f.wide {
		return c.u64()
	}
	return uint64(c.u32())
}

func (f *elfFile) readSections(file io.ReaderAt, size int64, at, each, count uint64) (sections []elf.Section64, err error) {
	if count == 0 {
		return nil, nil
	}
	c, err := f.table(file, size, at, each, count)
	if err != nil {
		return nil, err
	}
	for range count {
		one := c.cut(each)
		s := elf.Section64{Name: one.u32(), Type: one.u32()}
		s.Flags, s.Addr, s.Off, s.Size = f.word(&one), f.word(&one), f.word(&one), f.word(&one)
		s.Link = one.u32()
		if one.bad {
			return nil, fmt.Errorf("%w: section headers of %d bytes", ErrDamaged, each)
		}
		sections = append(sections, s)
	}
	return sections, nil
}

func (f *elfFile) readPrograms(file io.ReaderAt, size int64, at, each, count uint64) error {
	c, err := f.table(file, size, at, each, count)
	if err != nil {
		return err
	}
	for range count {
		one := c.cut(each)
		kind := elf.ProgType(one.u32())
		if f.wide {
			one.u32() // flags
		}
		l := load{offset: f.word(&one), address: f.word(&one)}
		f.word(&one) // physical address
		l.size = f.word(&one)
		if one.bad {
			return fmt.Errorf("%w: program headers of %d bytes", ErrDamaged, each)
		}
		if kind == elf.PT_LOAD {
			f.loads = append(f.loads, l)
		}
	}
	return nil
}

// table reads headers of equal size.
func (f *elfFile) table(file io.ReaderAt, size int64, at, each, count uint64) (*cursor, error) {
	if count > maxSections {
		return nil, fmt.Errorf("%w: %d ELF headers", ErrTooLarge, count)
	}
	c, err := f.cursor(file, size, at, each*count)
	if err == nil && uint64(len(c.data)) < each*count {
		err = fmt.Errorf("%w: ELF headers end at %d of %d", ErrDamaged, at+each*count, size)
	}
	return c, err
}

// section returns the first section with a name and with content in the file, or nil.
func (f *elfFile) section(name string) *elf.Section64 {
	for i := range f.sections {
		if s := &f.sections[i]; s.Type != uint32(elf.SHT_NOBITS) && s.Size > 0 && s.Name < uint32(len(f.names)) && bytes.HasPrefix(f.names[s.Name:], []byte(name+"\x00")) {
			return s
		}
	}
	return nil
}

// sectionOf returns the first section of a type, or nil.
func (f *elfFile) sectionOf(kind elf.SectionType) *elf.Section64 {
	for i := range f.sections {
		if f.sections[i].Type == uint32(kind) {
			return &f.sections[i]
		}
	}
	return nil
}

// oldName returns the name of a DWARF section in the compressed form that GNU's tools and Go wrote
// before 2016: .zdebug_info.
func oldName(name string) string { return ".z" + strings.TrimPrefix(name, ".") }

// hasDWARF reports whether dwarfSection finds functions.
func (f *elfFile) hasDWARF() bool {
	return f.section(sectionInfo) != nil || f.section(oldName(sectionInfo)) != nil
}

// dwarfSection returns the content of a section of DWARF, nil if there is none.
func (f *elfFile) dwarfSection(in *input, name string) ([]byte, error) {
	if f.section(name) != nil {
		return f.content(in, name)
	}
	packed, err := f.content(in, oldName(name))
	if err != nil {
		return nil, err
	}
	return in.inflateOld(packed)
}

// content returns the content of a section, nil if there is none.
func (f *elfFile) content(in *input, name string) ([]byte, error) {
	s := f.section(name)
	if s == nil {
		return nil, nil
	}
	content, err := in.part(s.Off, s.Size)
	if err != nil || s.Flags&uint64(elf.SHF_COMPRESSED) == 0 {
		return content, err
	}
	c := cursor{data: content, order: f.order}
	kind := elf.CompressionType(c.u32())
	if f.wide {
		c.u32() // reserved
	}
	inflated := f.word(&c)
	f.word(&c) // alignment
	if c.bad {
		return nil, fmt.Errorf("%w: the header of %s", ErrDamaged, name)
	}
	content, err = in.inflate(kind, c.data, inflated)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return content, err
}
