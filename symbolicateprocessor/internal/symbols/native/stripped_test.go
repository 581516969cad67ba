// SPDX-License-Identifier: Apache-2.0

package native

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
)

// outermost returns the function at an address that was not inlined.
func outermost(table *Table, address uint64) string {
	frames, status := table.Lookup(nil, address, Leaf)
	if status != symbols.OK {
		return ""
	}
	return frames[len(frames)-1].Function
}

// TestStrippedGo: the function table has the functions of the program with DWARF.
func TestStrippedGo(t *testing.T) {
	full, _ := indexFile(t, goProgram(t, false))
	stripped := goProgram(t, true)
	table, summary := indexFile(t, stripped)
	assert.NoError(t, summary.Incomplete)
	assert.Zero(t, summary.Units)
	compared := 0
	for _, code := range codeOf(t, stripped) {
		for at := code.from; at < code.to; at += 61 {
			// Assembly has no function in DWARF, and padding between functions has none in either.
			want, got := strings.TrimSuffix(outermost(full, at), ".abi0"), strings.ReplaceAll(outermost(table, at), "·", ".") // DWARF and .symtab have a dot
			if want != "" && got != "" {
				if compared++; want != got {
					t.Fatalf("%#x: %q is not %q", at, got, want)
				}
			}
		}
	}
	assert.Greater(t, compared, 5000)
}

// TestMiniDebugInfo: .gnu_debugdata has the functions that strip removed.
func TestMiniDebugInfo(t *testing.T) {
	for _, tool := range []string{"objcopy", "xz"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip("needs " + tool)
		}
	}
	compiled := compile(t, optimized...)
	path, symbolFile, stripped := filepath.Join(t.TempDir(), "shop"), filepath.Join(t.TempDir(), "symbols"), filepath.Join(t.TempDir(), "stripped")
	for _, command := range [][]string{
		{"objcopy", "--strip-debug", compiled, path},
		{"objcopy", "--only-keep-debug", path, symbolFile},
		{"xz", "--keep", "--check=crc32", symbolFile},
		{"objcopy", "--strip-all", "--add-section", ".gnu_debugdata=" + symbolFile + ".xz", path, stripped},
	} {
		output, err := exec.Command(command[0], command[1:]...).CombinedOutput()
		require.NoError(t, err, string(output))
	}
	full, _ := indexFile(t, path)
	table, summary := indexFile(t, stripped)
	require.NoError(t, summary.Incomplete)
	found := false
	for _, code := range codeOf(t, path) {
		for at := code.from; at < code.to; at += 3 {
			want, got := outermost(full, at), outermost(table, at)
			if want != got {
				t.Fatalf("%#x: %q is not %q", at, got, want)
			}
			found = found || strings.HasPrefix(got, "shop::Cart")
		}
	}
	assert.True(t, found)

	content, err := os.ReadFile(symbolFile)
	require.NoError(t, err)
	assert.NoError(t, indexBytes(t, content, 0x1200), "the file of symbols itself has no code")
}
