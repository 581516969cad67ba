// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strings"
)

// debug/macho reads all symbols into memory when it opens a file, so only its structures are used
// here.

var machoArchs = map[macho.Cpu]string{macho.CpuAmd64: "x86_64", macho.CpuArm64: "arm64", macho.CpuArm: "arm", macho.Cpu386: "x86"}

func identifyFat(file io.ReaderAt, size int64) (objects []Object, err error) {
	var head struct{ Magic, Slices uint32 }
	in := io.NewSectionReader(file, 0, size)
	if err := binary.Read(in, binary.BigEndian, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if head.Slices == 0 {
		return nil, fmt.Errorf("%w: a fat file without architectures", ErrDamaged)
	}
	for range head.Slices {
		var slice macho.FatArchHeader
		if err := binary.Read(in, binary.BigEndian, &slice); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		if int64(slice.Offset)+int64(slice.Size) > size {
			return nil, fmt.Errorf("%w: a slice ends at %d of %d", ErrDamaged, int64(slice.Offset)+int64(slice.Size), size)
		}
		o, err := identifyMachO(file, int64(slice.Offset), int64(slice.Size))
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func identifyMachO(file io.ReaderAt, offset, size int64) (Object, error) {
	o := Object{Format: MachO, Offset: offset, Size: size}
	m, err := readMachO(io.NewSectionReader(file, offset, size))
	if err != nil {
		return o, err
	}
	o.Arch, o.ID = machoArchs[m.cpu], m.uuid
	info, _ := m.findDWARF(sectionInfo)
	o.Debug = info != nil
	if o.Arch == "" {
		o.Arch = strings.ToLower(strings.TrimPrefix(m.cpu.String(), "Cpu"))
	}
	return o, nil
}

// machoFile has the load commands that matter.
type machoFile struct {
	cpu      macho.Cpu
	uuid     string
	segments []macho.Segment64
	sections []macho.Section64
	symbols  macho.SymtabCmd
}

const loadUUID macho.LoadCmd = 0x1b

func readMachO(file io.ReaderAt) (m machoFile, err error) {
	in := io.NewSectionReader(file, 0, 1<<62)
	var head struct {
		macho.FileHeader
		Reserved uint32
	}
	if err := binary.Read(in, binary.LittleEndian, &head); err != nil {
		return m, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	if head.Magic != macho.Magic64 {
		return m, fmt.Errorf("%w: Mach-O magic %#x", ErrFormat, head.Magic)
	}
	m.cpu = head.Cpu
	if head.Cmdsz > maxLoads {
		return m, fmt.Errorf("%w: %d bytes of load commands", ErrTooLarge, head.Cmdsz)
	}
	loads := make([]byte, head.Cmdsz)
	if _, err := io.ReadFull(in, loads); err != nil {
		return m, fmt.Errorf("%w: load commands: %w", ErrDamaged, err)
	}
	for range head.Ncmd {
		if len(loads) < 8 {
			return m, fmt.Errorf("%w: load commands", ErrDamaged)
		}
		kind, size := macho.LoadCmd(binary.LittleEndian.Uint32(loads)), binary.LittleEndian.Uint32(loads[4:])
		if size < 8 || int(size) > len(loads) {
			return m, fmt.Errorf("%w: a load command of %d bytes", ErrDamaged, size)
		}
		if err := m.load(kind, loads[:size]); err != nil {
			return m, fmt.Errorf("%w: load command %d: %w", ErrDamaged, kind, err)
		}
		loads = loads[size:]
	}
	return m, nil
}

func (m *machoFile) load(kind macho.LoadCmd, command []byte) error {
	in := bytes.NewReader(command)
	switch kind {
	case loadUUID:
		if len(command) < 24 {
			return io.ErrUnexpectedEOF
		}
		m.uuid = hex.EncodeToString(command[8:24])
	case macho.LoadCmdSymtab:
		return binary.Read(in, binary.LittleEndian, &m.symbols)
	case macho.LoadCmdSegment64:
		var s macho.Segment64
		if err := binary.Read(in, binary.LittleEndian, &s); err != nil {
			return err
		}
		m.segments = append(m.segments, s)
		for range s.Nsect {
			var section macho.Section64
			if err := binary.Read(in, binary.LittleEndian, &section); err != nil {
				return err
			}
			m.sections = append(m.sections, section)
		}
	}
	return nil
}

func indexMachO(b *builder, in *input, summary *Summary) error {
	m, err := readMachO(in.file)
	if err != nil {
		return err
	}
	for _, s := range m.segments {
		if cString(s.Name[:]) == "__TEXT" {
			b.loads = append(b.loads, load{0, s.Addr, s.Memsz})
			b.code = append(b.code, addresses{s.Addr, s.Addr + s.Memsz})
		}
	}
	if err := m.addSymbols(b, in); err != nil {
		return err
	}
	b.sortSymbols()
	if err := indexDWARF(b, in, binary.LittleEndian, summary, func(name string) ([]byte, error) { return m.dwarfSection(in, name) }); err != nil {
		summary.note(err)
	}
	return nil
}

// findDWARF returns a section of DWARF, nil if there is none: __debug_info, or __zdebug_info as Go
// compresses it. Names have 16 bytes at most.
func (m *machoFile) findDWARF(name string) (s *macho.Section64, compressed bool) {
	name = strings.TrimPrefix(name, ".")
	for i := range m.sections {
		s = &m.sections[i]
		plain := cString(s.Name[:]) == cut16("__"+name)
		if (plain || cString(s.Name[:]) == cut16("__z"+name)) && s.Size > 0 {
			return s, !plain
		}
	}
	return nil, false
}

// dwarfSection returns the content of a section of DWARF, nil if there is none.
func (m *machoFile) dwarfSection(in *input, name string) ([]byte, error) {
	s, compressed := m.findDWARF(name)
	if s == nil {
		return nil, nil
	}
	content, err := in.part(uint64(s.Offset), s.Size)
	if err != nil || !compressed {
		return content, err
	}
	return in.inflateOld(content)
}

// inflateOld inflates "ZLIB", a size, and the data.
func (in *input) inflateOld(packed []byte) ([]byte, error) {
	if len(packed) < 12 || string(packed[:4]) != "ZLIB" {
		return packed, nil
	}
	return in.inflate(elf.COMPRESS_ZLIB, packed[12:], binary.BigEndian.Uint64(packed[4:]))
}

func cString(b []byte) string {
	name, _, _ := bytes.Cut(b, []byte{0})
	return string(name)
}

func cut16(name string) string { return name[:min(len(name), 16)] }

const (
	nlistSize = 16
	nlistStab = 0xe0 // a debugging entry
	nlistType = 0x0e
	nlistSect = 0x0e // defined in a section
)

// addSymbols reads LC_SYMTAB. Names have an underscore that the linker added.
func (m *machoFile) addSymbols(b *builder, in *input) error {
	entries, err := in.part(uint64(m.symbols.Symoff), nlistSize*uint64(m.symbols.Nsyms))
	if err != nil {
		return err
	}
	names, err := in.part(uint64(m.symbols.Stroff), uint64(m.symbols.Strsize))
	if err != nil {
		return err
	}
	for ; len(entries) >= nlistSize; entries = entries[nlistSize:] {
		kind, section := entries[4], entries[5]
		if kind&nlistStab != 0 || kind&nlistType != nlistSect || !m.isCode(section) {
			continue
		}
		name := strings.TrimPrefix(text(names, uint64(binary.LittleEndian.Uint32(entries))), "_")
		if err := b.addSymbol(name, binary.LittleEndian.Uint64(entries[8:]), 0); err != nil {
			return err
		}
	}
	return nil
}

// isCode reports whether a section, counted from 1, has instructions.
func (m *machoFile) isCode(section byte) bool {
	const instructions = 0x80000400 // S_ATTR_PURE_INSTRUCTIONS, S_ATTR_SOME_INSTRUCTIONS
	return section > 0 && int(section) <= len(m.sections) && m.sections[section-1].Flags&instructions != 0
}
