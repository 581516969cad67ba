// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/badsymbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/extremes"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// Limits of the tests for one file: bytes that are allocated in total, and steps.
const (
	baseBytes, bytesPerByte = 4 << 20, 256
	baseSteps, stepsPerByte = 1 << 20, 64
)

// harmless indexes a damaged file and looks up addresses.
func harmless(t *testing.T, file []byte, what func() string) {
	t.Helper()
	extremes.WithinCPU(t, len(file), what, func() { bounded(t, file, what) })
}

func bounded(t *testing.T, file []byte, what func() string) {
	t.Helper()
	work, allocated, table, err := indexed(t, file)
	if limit := uint64(baseBytes + bytesPerByte*len(file)); allocated > limit {
		t.Errorf("%s: %d bytes allocated, limit %d: %v", what(), allocated, limit, err)
	}
	if work != nil && work.Steps() > int64(baseSteps+stepsPerByte*len(file)) {
		t.Errorf("%s: %d steps for %d bytes: %v", what(), work.Steps(), len(file), err)
	}
	if table == nil {
		return
	}
	for _, address := range []uint64{0, 1, 0x1000, 0x1012, 0x401000, table.Base(), 1<<64 - 1} {
		if frames, _ := table.Lookup(nil, address, Caller); len(frames) > maxChain {
			t.Errorf("%s: %d frames", what(), len(frames))
		}
	}
}

// samples are small files with every structure that is read.
func samples(t *testing.T) map[string][]byte {
	files := map[string][]byte{
		"Mach-O": machO("_main", "__ZN4Cart5clearEv", "_$s4Shop4CartV5totalSiyF"),
		"fat":    fatFile(machO("_main"), machO("_start", "_main")), "Go table": badsymbols.GoTable(4),
		"xz": badsymbols.HugeDictionary(20), "symbols": symbolsELF(), "compressed names": badsymbols.CompressedNames(1000),
		"zstd names": badsymbols.ZstdNames(1000),
	}
	for version, sections := range dwarfSamples() {
		files[version] = elfWith(sections...)
	}
	return files
}

func fatFile(slices ...[]byte) []byte {
	file := binary.BigEndian.AppendUint32([]byte{0xca, 0xfe, 0xba, 0xbe}, uint32(len(slices)))
	at := len(file) + 20*len(slices)
	for _, slice := range slices {
		for _, n := range []uint32{0x0100000c, 0, uint32(at), uint32(len(slice)), 0} {
			file = binary.BigEndian.AppendUint32(file, n)
		}
		at += len(slice)
	}
	return append(file, bytes.Join(slices, nil)...)
}

// symbolsELF is an ELF file with a symbol table, a part that is loaded, a build ID, and embedded
// symbols.
func symbolsELF() []byte {
	names := []byte("\x00main\x00_ZN4Cart5clearEv\x00")
	var table bytes.Buffer
	for i, name := range []uint32{1, 6, 1} {
		_ = binary.Write(&table, binary.LittleEndian, elf.Sym64{Name: name, Info: uint8(elf.STT_FUNC), Shndx: 1, Value: 0x1000 + 16*uint64(i), Size: 16})
	}
	note := append([]byte{4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}, 0xab, 0xcd, 0xef, 1)
	file := elfWith(elfSectionContent{".text", make([]byte, 64)}, elfSectionContent{".symtab", table.Bytes()}, elfSectionContent{".strtab", names}, elfSectionContent{".note", note})
	headers := file[binary.LittleEndian.Uint64(file[0x28:]):]
	set := func(section, field int, value uint64) {
		if field == 4 || field == 40 {
			binary.LittleEndian.PutUint32(headers[64*section+field:], uint32(value))
			return
		}
		binary.LittleEndian.PutUint64(headers[64*section+field:], value)
	}
	set(1, 8, uint64(elf.SHF_ALLOC|elf.SHF_EXECINSTR))
	set(1, 16, 0x1000)
	set(2, 4, uint64(elf.SHT_SYMTAB))
	set(2, 40, 3)
	set(4, 4, uint64(elf.SHT_NOTE))
	var program bytes.Buffer
	_ = binary.Write(&program, binary.LittleEndian, elf.Prog64{Type: uint32(elf.PT_LOAD), Vaddr: 0x1000, Filesz: 64, Memsz: 64})
	binary.LittleEndian.PutUint64(file[0x20:], uint64(len(file)))
	binary.LittleEndian.PutUint16(file[0x36:], 56)
	binary.LittleEndian.PutUint16(file[0x38:], 1)
	return append(file, program.Bytes()...)
}

// dwarfSamples are sections of DWARF, by version: a unit with a function, one inlined into it, a
// range list, and a line table.
func dwarfSamples() map[string][]elfSectionContent {
	u32 := func(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }
	u64 := func(n uint64) []byte { return binary.LittleEndian.AppendUint64(nil, n) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	abbrevs := []byte{
		1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0, 0, // unit: name, stmt_list, low_pc
		2, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, // function: name, low_pc, high_pc
		3, 0x1d, 0, 0x31, 0x13, 0x55, 0x17, 0x58, 0x0b, 0x59, 0x0b, 0, 0, // inlined: origin, ranges, call_file, call_line
		4, 0x2e, 0, 0x6e, 0x0e, 0, 0, // abstract: linkage_name
		0,
	}
	entries := func(head int) []byte {
		unit := join([]byte{1}, []byte("shop.cc\x00"), u32(0), u64(0x1000))
		abstract := join([]byte{4}, u32(0))
		function := join([]byte{2}, []byte("main\x00"), u64(0x1000), u64(0x40))
		inlined := join([]byte{3}, u32(uint32(head+len(unit))), u32(0), []byte{1, 7})
		return join(unit, abstract, function, inlined, []byte{0, 0})
	}
	program := join([]byte{0, 9, 2}, u64(0x1000), []byte{1, 2, 16, 3, 5, 1, 0x4b, 2, 32, 0, 1, 1})
	lineHead := []byte{1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}
	old := join(lineHead, []byte("dir\x00\x00shop.cc\x00\x01\x00\x00\x00"))
	tables := join([]byte{1, 1, 0x08, 1}, []byte("/src\x00"), []byte{2, 1, 0x08, 2, 0x0b, 2}, []byte("shop.cc\x00\x00shop.cc\x00\x00"))
	newer := join(lineHead[:1], []byte{1}, lineHead[1:], tables)
	info5 := join([]byte{5, 0, 1, 8}, u32(0), entries(12))
	return map[string][]elfSectionContent{
		"DWARF 4": {
			{".debug_abbrev", abbrevs}, {".debug_info", dwarf4Unit(0, entries(11)...)}, {".debug_str", []byte("_ZN4Cart5clearEv\x00")},
			{".debug_ranges", join(u64(0x10), u64(0x20), u64(0), u64(0))}, {".debug_line", sized(join([]byte{3, 0}, u32(uint32(len(old))), old, program))},
		},
		"DWARF 5": {
			{".debug_abbrev", abbrevs}, {".debug_info", sized(info5)}, {".debug_str", []byte("_ZN4Cart5clearEv\x00")},
			{".debug_rnglists", []byte{4, 0x10, 0x20, 5, 0, 0x10, 0, 0, 0, 0, 0, 0, 7, 0, 0x10, 0, 0, 0, 0, 0, 0, 4, 1, 0, 1, 2, 0, 3, 0, 4, 0}},
			{".debug_addr", u64(0x1000)}, {".debug_line", sized(join([]byte{5, 0, 8, 0}, u32(uint32(len(newer))), newer, program))},
		},
	}
}

// TestSamples: the samples have what the numbers describe, or the next test would test nothing.
func TestSamples(t *testing.T) {
	for name, address := range map[string]uint64{"Mach-O": 0x100001000, "fat": 0x100001000, "symbols": 0x1010, "DWARF 4": 0x1011, "DWARF 5": 0x1011, "Go table": 2} {
		_, _, table, err := indexed(t, samples(t)[name])
		require.NoError(t, err, name)
		frames, _ := table.Lookup(nil, address, Leaf)
		require.NotEmpty(t, frames, name)
		if name == "DWARF 4" || name == "DWARF 5" {
			require.Equal(t, "Cart::clear", frames[0].Function, name)
			require.Len(t, frames, 2, name)
			require.NotZero(t, frames[0].Line, name)
		}
	}
}

// TestExtremes sets every number of a file, at every place and of every size, to extremes: the
// smallest and largest ones, the size of the file, its own place, and a neighbour's value.
func TestExtremes(t *testing.T) {
	for name, file := range samples(t) {
		t.Run(name, func(t *testing.T) {
			stride := 1 + len(file)/8
			switch {
			case extremes.Every():
				stride = 1
			case testsize.Full():
				stride = 5 // every place of four bytes has a turn at one of its bytes
			}
			for at := 0; at < len(file); at += stride {
				for _, width := range []int{1, 2, 4, 8} {
					if at+width > len(file) {
						continue
					}
					for i, value := range extremes.Near(file, at, width) {
						damaged := bytes.Clone(file)
						extremes.Put(damaged[at:], width, value, name == "fat")
						if name == "xz" { // else the checksum hides the change
							fixXZ(damaged)
						}
						harmless(t, damaged, func() string { return fmt.Sprintf("%d bytes at %d: extreme %d, %#x", width, at, i, value) })
					}
				}
			}
		})
	}
}

func fixXZ(file []byte) {
	if at := bytes.Index(file, []byte(xzMagic)); at >= 0 && len(file) > at+24 {
		binary.LittleEndian.PutUint32(file[at+20:], crc32.ChecksumIEEE(file[at+12:at+20]))
	}
}

// TestBreakpadExtremes does the same for the numbers of a text.
func TestBreakpadExtremes(t *testing.T) {
	numbers := regexp.MustCompile(`\b[0-9a-f]+\b`)
	text := []byte(breakpadText + string(badsymbols.InlinedNames(20, "_ZN4Cart5clearEv")))
	for i, place := range numbers.FindAllIndex(text, -1) {
		for _, value := range []string{"0", "1", "ffffffffffffffff", "7fffffffffffffff", "8000000000000000", "10000000000000000", "18446744073709551615", "4294967296", "-1", "", "511", "512"} {
			if !testsize.Full() && i%7 != 0 {
				continue
			}
			damaged := bytes.Join([][]byte{text[:place[0]], []byte(value), text[place[1]:]}, nil)
			harmless(t, damaged, func() string { return fmt.Sprintf("number %d is %q", i, value) })
		}
	}
}

// TestDamagedFiles damages files at random: bytes, numbers, parts that are copied over others, and
// cuts.
func TestDamagedFiles(t *testing.T) {
	files := [][]byte{[]byte(breakpadText), badsymbols.InlinedNames(50, badsymbols.LongName(20))}
	for _, file := range samples(t) {
		files = append(files, file)
	}
	if _, err := exec.LookPath("g++"); err == nil {
		for _, arguments := range [][]string{optimized, {"-gdwarf-4", "-O2"}, {"-g", "-O2", "-gz"}} {
			if len(files) > 12 && !testsize.Full() {
				break
			}
			program, err := os.ReadFile(compile(t, arguments...))
			require.NoError(t, err)
			files = append(files, program)
		}
	}
	count := extremes.Damaged(60, 2000)
	random := rand.New(rand.NewPCG(uint64(count), 38))
	reasons := map[string]int{}
	for i := range count {
		damaged := bytes.Clone(files[random.IntN(len(files))])
		for range 1 + random.IntN(12) {
			damaged = extremes.Damage(random, damaged)
		}
		harmless(t, damaged, func() string { return fmt.Sprintf("file %d", i) })
		if t.Failed() {
			return
		}
		if objects, err := Identify(bytes.NewReader(damaged), int64(len(damaged))); err != nil {
			reasons["identify: "+Reason(err)]++
		} else if len(objects) > 0 {
			reasons["indexed"]++
		}
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	t.Logf("%d files: %v; %d MB from the system", count, reasons, memory.Sys>>20)
}
