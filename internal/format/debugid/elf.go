// SPDX-License-Identifier: Apache-2.0

package debugid

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

const (
	// maxNote bounds the searched bytes of a section: a build ID has 20 bytes, the notes beside it
	// some hundred.
	maxNote = 64 << 10

	// maxNotes bounds the searched sections. Linkers write up to ten.
	maxNotes = 64

	// Bytes of a build ID: 16 from Dart, 20 from linkers by default, any number that the developer
	// chooses. The first two hex digits name a folder, so one byte is too short.
	minBuildID, maxBuildID = 2, 64

	noteBuildID = 3 // NT_GNU_BUILD_ID
)

// elfClass is the header format of an ELF class (32 or 64 bits).
type elfClass struct {
	headerSize, sectionSize int // sizes
	sectionTable            func(header []byte) (offset uint64, entry, entries uint16)
	section                 func(section []byte) (kind elf.SectionType, offset, size uint64)
}

func elfClassOf(class elf.Class, order binary.ByteOrder) (l elfClass, err error) {
	switch class {
	case elf.ELFCLASS64:
		return elfClass{64, 64,
			func(b []byte) (uint64, uint16, uint16) {
				return order.Uint64(b[0x28:]), order.Uint16(b[0x3a:]), order.Uint16(b[0x3c:])
			},
			func(b []byte) (elf.SectionType, uint64, uint64) {
				return elf.SectionType(order.Uint32(b[4:])), order.Uint64(b[0x18:]), order.Uint64(b[0x20:])
			},
		}, nil
	case elf.ELFCLASS32:
		return elfClass{52, 40,
			func(b []byte) (uint64, uint16, uint16) {
				return uint64(order.Uint32(b[0x20:])), order.Uint16(b[0x2e:]), order.Uint16(b[0x30:])
			},
			func(b []byte) (elf.SectionType, uint64, uint64) {
				return elf.SectionType(order.Uint32(b[4:])), uint64(order.Uint32(b[0x10:])), uint64(order.Uint32(b[0x14:]))
			},
		}, nil
	}
	return l, fmt.Errorf("ELF class %d is not known", class)
}

// ELF returns the build ID of an ELF file: Dart's split debug information, or a library with its
// symbols.
func ELF(file io.ReaderAt) (string, error) {
	var ident [elf.EI_NIDENT]byte
	if _, err := file.ReadAt(ident[:], 0); err != nil || string(ident[:4]) != elf.ELFMAG {
		return "", errors.New("no ELF file")
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(ident[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	l, err := elfClassOf(elf.Class(ident[elf.EI_CLASS]), order)
	if err != nil {
		return "", err
	}
	header := make([]byte, l.headerSize)
	if _, err := file.ReadAt(header, 0); err != nil {
		return "", fmt.Errorf("cannot read the ELF header: %w", err)
	}
	offset, entry, entries := l.sectionTable(header)
	if int(entry) != l.sectionSize || offset > 1<<62 {
		return "", fmt.Errorf("ELF section headers of %d bytes at %d", entry, offset)
	}
	section, notes := make([]byte, l.sectionSize), 0
	for i := range int64(entries) { // at most 65,535: larger numbers need a form that no linker of apps writes
		if _, err := file.ReadAt(section, int64(offset)+i*int64(entry)); err != nil {
			return "", fmt.Errorf("cannot read ELF section header %d of %d: %w", i, entries, err)
		}
		kind, at, size := l.section(section)
		if kind != elf.SHT_NOTE || at > 1<<62 {
			continue
		}
		if notes++; notes > maxNotes {
			break
		}
		text, err := io.ReadAll(io.NewSectionReader(file, int64(at), int64(min(size, maxNote))))
		if err != nil {
			return "", fmt.Errorf("cannot read ELF section %d: %w", i, err)
		}
		if id := buildID(text, order); id != "" {
			return id, nil
		}
	}
	return "", ErrNone
}

// buildID searches the notes of a section. A note has the sizes of name and content, a type, then
// name and content, both padded to four bytes.
func buildID(notes []byte, order binary.ByteOrder) string {
	padded := func(n uint32) uint64 { return (uint64(n) + 3) &^ 3 }
	for len(notes) >= 12 {
		name, content, kind := order.Uint32(notes), order.Uint32(notes[4:]), order.Uint32(notes[8:])
		notes = notes[12:]
		if padded(name)+uint64(content) > uint64(len(notes)) {
			return ""
		}
		owner, id := notes[:name], notes[padded(name):][:content]
		if kind == noteBuildID && bytes.Equal(owner, []byte("GNU\x00")) && len(id) >= minBuildID && len(id) <= maxBuildID {
			return hex.EncodeToString(id)
		}
		notes = notes[min(padded(name)+padded(content), uint64(len(notes))):]
	}
	return ""
}
