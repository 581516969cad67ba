// SPDX-License-Identifier: Apache-2.0

package native

import (
	"bytes"
	"debug/elf"
	"debug/macho"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// indexFile indexes the first object of a file.
func indexFile(t testing.TB, path string) (*Table, Summary) {
	t.Helper()
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	info, err := file.Stat()
	require.NoError(t, err)
	objects, err := Identify(file, info.Size())
	require.NoError(t, err)
	var b bytes.Buffer
	summary, err := Index(newWork(t, objects[0]), &b, file, objects[0])
	require.NoError(t, err)
	table, err := Open(bytes.NewReader(b.Bytes()), int64(b.Len()))
	require.NoError(t, err)
	return table, summary
}

func written(frames []symbols.Frame) string {
	lines := make([]string, len(frames))
	for i, f := range frames {
		lines[i] = fmt.Sprintf("%s (%s:%d)", f.Function, f.File, f.Line)
	}
	return strings.Join(lines, " < ")
}

const breakpadText = `MODULE Linux x86_64 4FBF22D9B8D24BA2A7F8C1E2D3A4B5C60 shop
INFO CODE_ID D922BF4FD2B8A24BA7F8C1E2D3A4B5C6
FILE 0 /src/cart.cc
FILE 1 /src/item.h
INLINE_ORIGIN 0 Item::price() const
INLINE_ORIGIN 1 Item::tax(int) const
FUNC 1000 40 0 Cart::total(std::vector<Item> const&)
INLINE 0 21 0 0 1010 10 1030 4
INLINE 1 9 1 1 1018 4
1000 10 20 0
1010 8 8 1
1018 4 30 1
101c 4 10 1
1020 10 22 0
1030 4 8 1
1034 c 23 0
FUNC m 2000 8 0 _ZN4Cart5clearEv
2000 8 40 0
PUBLIC 3000 0 _start
PUBLIC m 3010 0 _ZN4Cart4fillEv
FUNC 4000 8 0 $s4Shop4CartC3add_2toyAA4ItemV_SitFZ
4000 8 50 0
STACK CFI INIT 1000 40 .cfa: $rsp 8 +
`

func TestBreakpad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop.sym")
	require.NoError(t, os.WriteFile(path, []byte(breakpadText), 0o600))
	table, summary := indexFile(t, path)
	assert.NoError(t, summary.Incomplete)
	const total = "Cart::total (/src/cart.cc:"
	for address, want := range map[uint64]string{
		0xfff: "", 0x1000: total + "20)", 0x100f: total + "20)",
		0x1010: "Item::price() const (/src/item.h:8) < Cart::total(std::vector<Item> const&) (/src/cart.cc:21)",
		0x1018: "Item::tax(int) const (/src/item.h:30) < Item::price() const (/src/item.h:9) < Cart::total(std::vector<Item> const&) (/src/cart.cc:21)",
		0x101c: "Item::price() const (/src/item.h:10) < Cart::total(std::vector<Item> const&) (/src/cart.cc:21)",
		0x1020: total + "22)", 0x1033: "Item::price() const (/src/item.h:8) < Cart::total(std::vector<Item> const&) (/src/cart.cc:21)", 0x1034: total + "23)",
		0x1040: "", 0x2007: "Cart::clear (/src/cart.cc:40)", 0x2008: "", 0x3000: "_start (:0)", 0x300f: "_start (:0)", 0x3010: "Cart::fill (:0)",
		0x4000: "static Cart.add(_:to:) (/src/cart.cc:50)",
	} {
		frames, status := table.Lookup(nil, address, Leaf)
		assert.Equal(t, strings.ReplaceAll(want, "Cart::total (", "Cart::total(std::vector<Item> const&) ("), written(frames), "%#x", address)
		assert.Equal(t, want != "", status == symbols.OK, "%#x: %s", address, status)
		caller, _ := table.Lookup(nil, address+1, Caller)
		assert.Equal(t, frames, caller, "%#x", address)
	}
	frames, _ := table.Lookup(nil, 0x2000, Leaf)
	assert.Equal(t, "_ZN4Cart5clearEv", frames[0].Raw)
	frames, _ = table.Lookup(nil, 0x4000, Leaf)
	assert.Equal(t, "$s4Shop4CartC3add_2toyAA4ItemV_SitFZ", frames[0].Raw)
}

// TestSymbolizer compares random addresses with llvm-symbolizer.
func TestSymbolizer(t *testing.T) {
	if _, err := exec.LookPath("llvm-symbolizer"); err != nil {
		t.Skip("needs llvm-symbolizer")
	}
	for name, arguments := range map[string][]string{
		"C++ -O2":          optimized,
		"C++ -O0":          {"-g", "-O0"},
		"DWARF 4":          {"-gdwarf-4", "-O2"},
		"compressed":       {"-g", "-O2", "-gz"},
		"split into parts": {"-g", "-O2", "-ffunction-sections", "-freorder-blocks-and-partition"},
		"without DWARF":    {"-O2"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "C++ -O0" || name == "split into parts" {
				testsize.NeedFull(t) // no other test builds these
			}
			t.Parallel()
			compareWithSymbolizer(t, compile(t, arguments...), 3)
		})
	}
	t.Run("Go", func(t *testing.T) {
		t.Parallel()
		compareWithSymbolizer(t, goProgram(t, false), 97)
	})
	for _, path := range filepath.SplitList(os.Getenv("SYMBOL_FILES")) {
		t.Run(filepath.Base(path), func(t *testing.T) { compareWithSymbolizer(t, path, 1009) })
	}
}

// compareWithSymbolizer compares the addresses of the code, in steps. These differences are
// intended: llvm-symbolizer takes the name of the outermost function from the symbol table, where
// parts of functions and copies have names of their own, and files of symbols from STT_FILE.
func compareWithSymbolizer(t *testing.T, path string, step uint64) {
	table, summary := indexFile(t, path)
	require.NoError(t, summary.Incomplete)
	var input strings.Builder
	var at []uint64
	for _, code := range codeOf(t, path) {
		for a := code.from; a < code.to; a += step {
			at = append(at, a)
			fmt.Fprintf(&input, "%#x\n", a)
		}
	}
	command := exec.Command("llvm-symbolizer", "--obj="+path, "--inlines", "--no-demangle", "--output-style=LLVM")
	command.Stdin = strings.NewReader(input.String())
	output, err := command.Output()
	require.NoError(t, err)
	answers := strings.Split(strings.TrimRight(string(output), "\n"), "\n\n")
	require.Len(t, answers, len(at))
	tally, unlisted := map[string]int{}, 0
	for i, answer := range answers {
		want := symbolized(strings.Split(answer, "\n"))
		got, _ := table.Lookup(nil, at[i], Leaf)
		difference := difference(got, want)
		if difference == "" {
			if unlisted++; unlisted <= 5 {
				t.Errorf("%#x:\n%s is not\n%s", at[i], written(got), written(want))
			}
		}
		tally[difference]++
	}
	t.Logf("%s: %d addresses, %d units, %d symbols: %v", filepath.Base(path), len(at), summary.Units, summary.Symbols, tally)
}

// symbolized reads the answer of llvm-symbolizer: a line with a function, a line with its place,
// and so on.
func symbolized(lines []string) (frames []symbols.Frame) {
	for ; len(lines) >= 2; lines = lines[2:] {
		parts := strings.Split(lines[1], ":")
		f := symbols.Frame{Function: lines[0], File: strings.Join(parts[:len(parts)-2], ":")}
		f.Line, _ = strconv.ParseInt(parts[len(parts)-2], 10, 64)
		if f.File == "??" {
			f.File = ""
		}
		if f.Function != "??" {
			frames = append(frames, f)
		}
	}
	return frames
}

// difference returns the reason of a difference, empty for one that is not intended.
func difference(got, want []symbols.Frame) string {
	if len(got) != len(want) {
		return ""
	}
	reason := "equal"
	for i := range got {
		g, w := got[i], want[i]
		name := g.Function
		if g.Raw != "" {
			name = g.Raw
		}
		if name != w.Function {
			clone := demangle.Filter(w.Function, demangle.NoParams, demangle.NoEnclosingParams, demangle.NoClones)
			clone, _, _ = strings.Cut(clone, " [clone")
			if i != len(got)-1 || clone != g.Function && !strings.HasPrefix(w.Function, name+".") {
				return ""
			}
			reason = "name of a part or copy"
		}
		if g.File == "" && w.Line == 0 {
			reason = "file of the symbol table"
		} else if path.Clean(g.File) != path.Clean(w.File) || g.Line != w.Line {
			return ""
		}
	}
	return reason
}

// codeOf returns the sections with code, as the section headers have them.
func codeOf(t *testing.T, path string) (code []addresses) {
	if file, err := macho.Open(path); err == nil {
		defer file.Close()
		text := file.Section("__text")
		return []addresses{{text.Addr, text.Addr + text.Size}}
	}
	file, err := elf.Open(path)
	require.NoError(t, err)
	defer file.Close()
	for _, s := range file.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0 {
			code = append(code, addresses{s.Addr, s.Addr + s.Size})
		}
	}
	return code
}
