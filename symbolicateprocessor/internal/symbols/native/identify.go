// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bufio"
	"bytes"
	"debug/elf"
	"debug/macho"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strings"

	"github.com/otelcol-sentry/otelcol-sentry/internal/format/debugid"
)

// Format is the container of an object.
type Format string

const (
	ELF      Format = "elf"
	MachO    Format = "macho"
	Breakpad Format = "breakpad"
)

// Object is a program, a library or their symbols in a file.
type Object struct {
	Format       Format
	Arch         string // as Sentry writes it: x86_64, arm64
	ID           string // GNU build ID, LC_UUID, or the ID of MODULE, in lower-case hex; empty if there is none
	Name         string // of MODULE
	Debug        bool   // has functions with lines, not only a symbol table
	Offset, Size int64  // in the file
}

// DebugID returns the ID as Sentry's SDKs write it, without dashes and age: a build ID is cut to 16
// bytes, with the fields of a little-endian GUID.
func (o Object) DebugID() string {
	if o.Format != ELF {
		return o.ID[:min(len(o.ID), 32)]
	}
	id, err := hex.DecodeString(o.ID)
	if err != nil || len(id) == 0 {
		return ""
	}
	var guid [16]byte
	copy(guid[:], id)
	guid[0], guid[1], guid[2], guid[3] = guid[3], guid[2], guid[1], guid[0]
	guid[4], guid[5] = guid[5], guid[4]
	guid[6], guid[7] = guid[7], guid[6]
	return hex.EncodeToString(guid[:])
}

// Identify returns the objects of a file. It reads headers only.
func Identify(file io.ReaderAt, size int64) ([]Object, error) {
	var head [8]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return nil, ErrFormat
	}
	switch magic := binary.BigEndian.Uint32(head[:]); {
	case string(head[:4]) == elf.ELFMAG:
		return identifyELF(file, size)
	case magic == macho.MagicFat && binary.BigEndian.Uint32(head[4:]) <= maxSlices: // Java classes have the same magic, with a version here
		return identifyFat(file, size)
	case binary.LittleEndian.Uint32(head[:]) == macho.Magic64:
		o, err := identifyMachO(file, 0, size)
		return []Object{o}, err
	case string(head[:7]) == "MODULE ":
		return identifyBreakpad(file, size)
	}
	return nil, ErrFormat
}

var elfArchs = map[elf.Machine]string{elf.EM_X86_64: "x86_64", elf.EM_386: "x86", elf.EM_AARCH64: "arm64", elf.EM_ARM: "arm", elf.EM_RISCV: "riscv64", elf.EM_PPC64: "ppc64", elf.EM_S390: "s390x"}

func identifyELF(file io.ReaderAt, size int64) ([]Object, error) {
	var head [20]byte
	if _, err := file.ReadAt(head[:], 0); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var order binary.ByteOrder = binary.LittleEndian
	if elf.Data(head[elf.EI_DATA]) == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	machine := elf.Machine(order.Uint16(head[18:]))
	arch, ok := elfArchs[machine]
	if !ok {
		arch = strings.ToLower(strings.TrimPrefix(machine.String(), "EM_"))
	}
	id, _ := debugid.ELF(file) // without one, a path can identify the file
	sections, err := readELF(file, size)
	debug := err == nil && sections.hasDWARF()
	return []Object{{Format: ELF, Arch: arch, ID: id, Debug: debug, Size: size}}, nil
}

func identifyBreakpad(file io.ReaderAt, size int64) ([]Object, error) {
	line, _, _ := bufio.NewReaderSize(io.NewSectionReader(file, 0, min(size, maxTextLine)), 4096).ReadLine()
	fields := bytes.Fields(line)
	if len(fields) < 4 {
		return nil, fmt.Errorf("%w: MODULE has %d fields", ErrDamaged, len(fields))
	}
	o := Object{Format: Breakpad, Arch: string(fields[2]), ID: strings.ToLower(string(fields[3])), Debug: true, Size: size}
	if len(fields) > 4 {
		o.Name = string(bytes.Join(fields[4:], []byte(" ")))
	}
	return []Object{o}, nil
}
