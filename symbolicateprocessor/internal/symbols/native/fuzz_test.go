// SPDX-License-Identifier: Apache-2.0

package native

import (
	"debug/elf"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// sectionsOf returns sections of a program.
func sectionsOf(t testing.TB, path string, names ...string) (contents [][]byte) {
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for _, name := range names {
		var content []byte
		if s := file.Section(name); s != nil {
			content, err = s.Data()
			require.NoError(t, err)
		}
		contents = append(contents, content)
	}
	return contents
}

// FuzzDWARF changes the sections of DWARF, so that the file around them stays valid.
func FuzzDWARF(f *testing.F) {
	f.Add(oneUnit, dwarf4Unit(0, 1, 0, 0, 0, 0), []byte{}, []byte{}, []byte{}, []byte{}, uint64(0x1000))
	if _, err := exec.LookPath("g++"); err == nil {
		for _, arguments := range [][]string{optimized, {"-gdwarf-4", "-O2"}} {
			s := sectionsOf(f, compile(f, arguments...), ".debug_abbrev", ".debug_info", ".debug_line", ".debug_ranges", ".debug_rnglists", ".debug_line_str")
			f.Add(s[0], s[1], s[2], s[3], s[4], s[5], uint64(0x1200))
		}
	}
	f.Fuzz(func(t *testing.T, abbrev, info, line, ranges, rnglists, texts []byte, address uint64) {
		_ = indexBytes(t, elfWith(
			elfSectionContent{".debug_abbrev", abbrev}, elfSectionContent{".debug_info", info}, elfSectionContent{".debug_line", line},
			elfSectionContent{".debug_ranges", ranges}, elfSectionContent{".debug_rnglists", rnglists},
			elfSectionContent{".debug_str", texts}, elfSectionContent{".debug_line_str", texts},
		), address)
	})
}

// FuzzELF changes programs with symbols and DWARF, and embedded symbols.
func FuzzELF(f *testing.F) {
	f.Add(elfWith(elfSectionContent{".debug_abbrev", oneUnit}, elfSectionContent{".debug_info", dwarf4Unit(0, 1, 0, 0, 0, 0)}), []byte{}, uint64(0x1000))
	if _, err := exec.LookPath("g++"); err == nil {
		for _, arguments := range [][]string{optimized, {"-g", "-O2", "-gz"}, {"-O2"}} {
			content, err := os.ReadFile(compile(f, arguments...))
			require.NoError(f, err)
			f.Add(content, []byte{}, uint64(0x1200))
		}
	}
	f.Add([]byte{}, []byte("\xfd7zXZ\x00\x00\x04"), uint64(0))
	f.Fuzz(func(t *testing.T, content, debugdata []byte, address uint64) {
		if len(debugdata) > 0 {
			content = elfWith(elfSectionContent{".gnu_debugdata", debugdata})
		}
		_ = indexBytes(t, content, address)
	})
}

// FuzzGopclntab changes the function table of a Go program.
func FuzzGopclntab(f *testing.F) {
	f.Add([]byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}, uint64(0x1000))
	f.Add(sectionsOf(f, goProgram(f, true), ".gopclntab")[0], uint64(0x401000))
	f.Fuzz(func(t *testing.T, table []byte, address uint64) {
		_ = indexBytes(t, elfWith(elfSectionContent{".gopclntab", table}, elfSectionContent{".text", make([]byte, 64)}), address)
	})
}
