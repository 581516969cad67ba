// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/badsymbols"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
)

// elfSectionContent is a section of a constructed file.
type elfSectionContent struct {
	name    string
	content []byte
}

// elfWith returns an ELF file with sections.
func elfWith(sections ...elfSectionContent) []byte {
	var all []badsymbols.Section
	for _, s := range sections {
		all = append(all, badsymbols.Section{Name: s.name, Content: s.content})
	}
	return badsymbols.ELF(all...)
}

// sized prepends the length of a unit or a table.
func sized(content []byte) []byte {
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(content))), content...)
}

// dwarf4Unit returns a compilation unit with entries.
func dwarf4Unit(abbrevs uint32, entries ...byte) []byte {
	head := append(binary.LittleEndian.AppendUint32([]byte{4, 0}, abbrevs), 8)
	return sized(append(head, entries...))
}

// oneUnit is the abbreviation of a unit with a line table: DW_TAG_compile_unit with
// DW_AT_stmt_list.
var oneUnit = []byte{1, 0x11, 0, 0x10, 0x17, 0, 0, 0}

// TestBombs: small files that need much memory or time if their numbers are trusted, or if shared
// parts are read for each reference.
func TestBombs(t *testing.T) {
	// A line table of version 5 with one directory format or none, and a number of directories.
	lineTable := func(directories ...byte) []byte {
		head := append([]byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}, directories...)
		return sized(append(append([]byte{5, 0, 8, 0}, binary.LittleEndian.AppendUint32(nil, uint32(len(head)))...), head...))
	}
	unit := dwarf4Unit(0, 1, 0, 0, 0, 0)

	// Each table starts one abbreviation later than the one before it, and has all others.
	var overlapping, overlaps []byte
	for i := range 100_000 {
		if i < 500 {
			overlaps = append(overlaps, dwarf4Unit(uint32(len(overlapping)), 0)...)
		}
		overlapping = append(binary.AppendUvarint(overlapping, uint64(i+1)), 0x11, 0, 0, 0)
	}

	// An entry with a million flags, which need no bytes in the entry.
	attributes := append([]byte{1, 0x11, 0}, bytes.Repeat([]byte{0x3f, 0x19}, 1_000_000)...)
	attributes = append(attributes, 0, 0, 0)

	// A unit whose 50,000 entries have the same name of 1 MB.
	names := []byte{1, 0x11, 1, 0, 0, 2, 0x2e, 0, 0x03, 0x0e, 0, 0, 0}
	named := dwarf4Unit(0, append(append([]byte{1}, bytes.Repeat([]byte{2, 0, 0, 0, 0}, 50_000)...), 0)...)

	// 20,000 functions with the same list of 100,000 empty ranges; the next ones with a list that
	// only selects base addresses.
	ranged := []byte{1, 0x11, 1, 0, 0, 2, 0x2e, 0, 0x55, 0x17, 0, 0, 0}
	functions := dwarf4Unit(0, append(append([]byte{1}, bytes.Repeat([]byte{2, 0, 0, 0, 0}, 20_000)...), 0)...)
	bases := bytes.Repeat(append(bytes.Repeat([]byte{0xff}, 8), make([]byte, 8)...), 100_000)

	// 5,000 units with the same line program of 1 MB.
	program := append([]byte{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}, 0, 0)
	lines := sized(append(append([]byte{4, 0}, binary.LittleEndian.AppendUint32(nil, uint32(len(program)))...), append(program, bytes.Repeat([]byte{6}, 1<<20)...)...))

	// 200,000 files in a directory with a name of 1 MB.
	long := append([]byte{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}, append([]byte("/"+strings.Repeat("d", 1<<20)), 0, 0)...)
	long = append(append(long, bytes.Repeat([]byte{'f', 0, 1, 0, 0}, 200_000)...), 0)
	directories := sized(append(append([]byte{4, 0}, binary.LittleEndian.AppendUint32(nil, uint32(len(long)))...), long...))

	for name, c := range map[string]struct {
		sections []elfSectionContent
		want     error
	}{
		"directories without bytes": {[]elfSectionContent{{".debug_abbrev", oneUnit}, {".debug_info", unit}, {".debug_line", lineTable(0, 0xff, 0xff, 0xff, 0xff, 1)}}, ErrTooLarge},
		"more directories than fit": {[]elfSectionContent{{".debug_abbrev", oneUnit}, {".debug_info", unit}, {".debug_line", lineTable(1, 1, 8, 0xff, 0xff, 3)}}, ErrDamaged},
		"overlapping abbreviations": {[]elfSectionContent{{".debug_abbrev", append(overlapping, 0)}, {".debug_info", overlaps}}, ErrDamaged},
		"attributes without bytes":  {[]elfSectionContent{{".debug_abbrev", attributes}, {".debug_info", dwarf4Unit(0, 1)}}, ErrTooLarge},
		"a long name":               {[]elfSectionContent{{".debug_abbrev", names}, {".debug_info", named}, {".debug_str", append(bytes.Repeat([]byte{'x'}, 1<<20), 0)}}, ErrTooLarge},
		"a text of 4 MB":            {[]elfSectionContent{{".debug_abbrev", names}, {".debug_info", named}, {".debug_str", append(bytes.Repeat([]byte{'x'}, 4<<20), 0)}}, ErrTooLarge},
		"shared ranges":             {[]elfSectionContent{{".debug_abbrev", ranged}, {".debug_info", functions}, {".debug_ranges", bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0}, 200_000)}}, ErrTooLarge},
		"shared base addresses":     {[]elfSectionContent{{".debug_abbrev", ranged}, {".debug_info", functions}, {".debug_ranges", bases}}, ErrTooLarge},
		"a shared line program":     {[]elfSectionContent{{".debug_abbrev", oneUnit}, {".debug_info", bytes.Repeat(unit, 5_000)}, {".debug_line", lines}}, ErrTooLarge},
		"a long directory":          {[]elfSectionContent{{".debug_abbrev", oneUnit}, {".debug_info", unit}, {".debug_line", directories}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "a shared line program" || name == "a long directory" || name == "shared base addresses" {
				testsize.NeedFull(t) // they run for a quarter of a second each
			}
			file := elfWith(c.sections...)
			objects, err := Identify(bytes.NewReader(file), int64(len(file)))
			require.NoError(t, err)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			summary, err := Index(newWork(t, objects[0]), &bytes.Buffer{}, bytes.NewReader(file), objects[0])
			runtime.ReadMemStats(&after)
			if err == nil || errors.Is(err, ErrEmpty) { // without symbols
				err = summary.Incomplete
			}
			assert.ErrorIs(t, err, c.want)
			// All allocations: garbage costs time.
			assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(600<<20))
		})
	}
}
