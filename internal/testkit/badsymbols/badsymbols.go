// SPDX-License-Identifier: Apache-2.0

// Package badsymbols makes symbol files that once stopped a collector, or kept it busy for minutes.
// Each has a size, so that tests can double it.
package badsymbols

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Section is a section of an ELF file.
type Section struct {
	Name    string
	Content []byte
}

// ELF returns an ELF file with sections.
func ELF(sections ...Section) []byte {
	const head = 64
	names, body, headers := []byte{0}, []byte{}, []elf.Section64{{}}
	for _, s := range append(sections, Section{Name: ".shstrtab"}) {
		h := elf.Section64{Name: uint32(len(names)), Type: uint32(elf.SHT_PROGBITS), Off: uint64(head + len(body))}
		names = append(append(names, s.Name...), 0)
		if s.Name == ".shstrtab" {
			s.Content, h.Type = names, uint32(elf.SHT_STRTAB)
		}
		h.Size = uint64(len(s.Content))
		body, headers = append(body, s.Content...), append(headers, h)
	}
	var b bytes.Buffer
	put := func(v any) { _ = binary.Write(&b, binary.LittleEndian, v) }
	put(elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: uint16(elf.ET_DYN), Machine: uint16(elf.EM_X86_64), Version: 1, Shoff: uint64(head + len(body)),
		Ehsize: head, Shentsize: 64, Shnum: uint16(len(headers)), Shstrndx: uint16(len(headers) - 1),
	})
	put(body)
	put(headers)
	return b.Bytes()
}

// CompressedNames is an ELF file whose section names inflate to a number of bytes.
func CompressedNames(inflated int) []byte {
	return packedNames(elf.COMPRESS_ZLIB, inflated, func(to io.Writer) io.WriteCloser {
		w, _ := zlib.NewWriterLevel(to, zlib.BestCompression)
		return w
	})
}

// ZstdNames is the same file with another compression.
func ZstdNames(inflated int) []byte {
	return packedNames(elf.COMPRESS_ZSTD, inflated, func(to io.Writer) io.WriteCloser {
		w, _ := zstd.NewWriter(to, zstd.WithEncoderConcurrency(1))
		return w
	})
}

func packedNames(kind elf.CompressionType, inflated int, compress func(io.Writer) io.WriteCloser) []byte {
	file := ELF(Section{Name: ".text", Content: make([]byte, 16)})
	var packed bytes.Buffer
	_ = binary.Write(&packed, binary.LittleEndian, elf.Chdr64{Type: uint32(kind), Size: uint64(inflated), Addralign: 1})
	w := compress(&packed)
	for zeros := make([]byte, 1<<20); inflated > 0; inflated -= len(zeros) {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	// The headers are at the end; the names are those of the last section.
	names := file[len(file)-64:]
	at := len(file)
	binary.LittleEndian.PutUint64(names[8:], uint64(elf.SHF_COMPRESSED))
	binary.LittleEndian.PutUint64(names[24:], uint64(at))
	binary.LittleEndian.PutUint64(names[32:], uint64(packed.Len()))
	return append(file, packed.Bytes()...)
}

// HugeDictionary is an ELF file with embedded symbols whose xz block states a dictionary: 40 is one
// of 4 GiB.
func HugeDictionary(dictionary byte) []byte {
	b := append([]byte("\xfd7zXZ\x00"), 0, 1)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[6:8]))
	block := []byte{2, 0, 0x21, 1, dictionary, 0, 0, 0}
	b = append(b, block...)
	b = binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(block))
	b = append(b, 1, 0, 0, 'x', 0) // one uncompressed byte
	return ELF(Section{Name: ".gnu_debugdata", Content: b})
}

// GoTable is an ELF file with a Go function table of n functions. They share a list of files in
// which n entries start at the same address, and a name of which each has a longer part.
func GoTable(n int) []byte {
	const head = 8 + 8*8
	functions, names := head, 0
	data := 8*n + 4
	names = functions + data + 44*n
	lists := names + n + 1
	size := lists + 2*n + 2
	b := make([]byte, size)
	copy(b, []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8})
	word := func(i, v int) { binary.LittleEndian.PutUint64(b[8+8*i:], uint64(v)) }
	word(0, n)
	word(3, names)
	word(4, names)
	word(5, names)
	word(6, lists)
	word(7, functions)
	for i := range n {
		binary.LittleEndian.PutUint32(b[functions+8*i:], uint32(i))
		binary.LittleEndian.PutUint32(b[functions+8*i+4:], uint32(data+44*i))
		binary.LittleEndian.PutUint32(b[functions+data+44*i:], uint32(i))
		binary.LittleEndian.PutUint32(b[functions+data+44*i+4:], uint32(n-1-i))
	}
	binary.LittleEndian.PutUint32(b[functions+8*n:], uint32(n))
	copy(b[names:], strings.Repeat("x", n))
	for i := range n {
		b[lists+2*i] = 2 // the next file, 0 bytes of code later
	}
	file := ELF(Section{Name: ".gopclntab", Content: b}, Section{Name: ".text", Content: make([]byte, 64)})
	return file
}

// LongName is a mangled name of n encodings inside each other.
func LongName(n int) string {
	return "_Z" + strings.Repeat("Z", n) + "1fv" + strings.Repeat("E1xv", n)
}

// InlinedNames is a Breakpad file with n inlined functions at an address, of a long name.
func InlinedNames(n int, name string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop\nINLINE_ORIGIN 0 %s\nFUNC 1000 10 0 main\n", name)
	for i := range n {
		fmt.Fprintf(&b, "INLINE %d 1 0 0 1000 10\n", i)
	}
	b.WriteString("1000 10 20 0\n")
	return []byte(b.String())
}
