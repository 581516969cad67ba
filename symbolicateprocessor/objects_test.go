// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

const breakpadID = "4fbf22d9b8d24ba2a7f8c1e2d3a4b5c6"

// breakpad is a symbol file with one function, at address 1000.
func breakpad(id, function string) string {
	return "MODULE Linux x86_64 " + strings.ToUpper(id) + "0 shop\nFILE 0 " + function + ".cc\nFUNC 1000 10 0 " + function + "\n1000 10 20 0\n"
}

// write writes a file into the directory.
func (h *harness) write(path, text string) {
	path = filepath.Join(h.directory, path)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(h.t, os.WriteFile(path, []byte(text), 0o644))
}

// object asks for a native object until its status is as wanted.
func (h *harness) object(id symbolicate.NativeID, want symbols.Status) *native.Table {
	h.t.Helper()
	return h.objectOf(anyone, id, want)
}

// objectOf is object for the messages of a tenant.
func (h *harness) objectOf(t tenant.Tenant, id symbolicate.NativeID, want symbols.Status) (table *native.Table) {
	h.t.Helper()
	var status symbols.Status
	require.Eventually(h.t, func() bool {
		table, status = h.processor.(*profilesProcessor).Shared.of(t).Native(id)
		return status == want
	}, time.Minute, 10*time.Millisecond, "want %s of %v", want, id)
	return table
}

// functionAt returns the function at an address.
func functionAt(table *native.Table, address uint64) string {
	found, _ := table.Lookup(nil, address, native.Leaf)
	if len(found) == 0 {
		return ""
	}
	return found[len(found)-1].Function
}

// elfProgram builds a Go program with a GNU build ID, or without one if it is empty.
func elfProgram(t *testing.T, buildID string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "program")
	flags := "-buildid= -B none"
	if buildID != "" {
		flags = "-buildid= -B 0x" + buildID
	}
	command := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w "+flags, "-o", path, "./internal/symbols/native/testdata/program")
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	require.NoError(t, err, string(output))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(content)
}

// The ID of the content wins over that of the path.
func TestNativeLayouts(t *testing.T) {
	const (
		gnu     = "0123456789abcdef0123456789abcdef01234567"
		asDebug = "67452301-ab89-efcd-0123-456789abcdef"
		unnamed = "89abcdef0123456789abcdef0123456789abcdef"
	)
	h := start(t, "")
	h.object(symbolicate.NativeID{BuildID: gnu}, symbols.MissingFile)
	h.write("shop/"+breakpadID+"0/shop.sym", breakpad(breakpadID, "Breakpad"))
	h.write("any/name", elfProgram(t, gnu))
	h.write(".build-id/89/"+unnamed[2:]+".debug", elfProgram(t, ""))
	for _, id := range []symbolicate.NativeID{{DebugID: breakpadID}, {DebugID: "4FBF22D9-B8D2-4BA2-A7F8-C1E2D3A4B5C6-0"}} {
		assert.Equal(t, "Breakpad", functionAt(h.object(id, symbols.OK), 0x1005), id)
	}
	for _, id := range []symbolicate.NativeID{{BuildID: gnu}, {BuildID: strings.ToUpper(gnu)}, {DebugID: asDebug}, {BuildID: unnamed}} {
		table := h.object(id, symbols.OK)
		assert.True(t, strings.Contains(functionAt(table, table.Base()+0x1800), "."), id)
	}
	h.object(symbolicate.NativeID{}, symbols.MissingFile)
	h.object(symbolicate.NativeID{BuildID: "other", DebugID: "other"}, symbols.MissingFile)
}

func TestIDOfPath(t *testing.T) {
	const id = "0123456789abcdef0123456789abcdef01234567"
	for path, want := range map[string]string{
		"01/" + id[2:] + "/debuginfo": id, "x/01/" + id[2:] + "/executable": id, ".build-id/01/" + id[2:] + ".debug": id, id: id, "x/" + id + ".debug": id,
		"4FBF22D9-B8D2-4BA2-A7F8-C1E2D3A4B5C6": breakpadID, "lib/libc.so": "", "debuginfo": "", "cafe": "",
	} {
		assert.Equal(t, want, idOfPath(path), path)
	}
}

// A file is indexed once. Files with lines win over those with a symbol table, and changed files
// are indexed again.
func TestIndexes(t *testing.T) {
	h := start(t, "")
	h.write("shop.sym", breakpad(breakpadID, "First"))
	id := symbolicate.NativeID{DebugID: breakpadID}
	assert.Equal(t, "First", functionAt(h.object(id, symbols.OK), 0x1000))
	indexes := func() []os.DirEntry {
		entries, err := os.ReadDir(filepath.Join(h.directory, indexFolder))
		require.NoError(t, err)
		return slices.DeleteFunc(entries, func(e os.DirEntry) bool { return e.Name() == badFolder })
	}
	require.Len(t, indexes(), 1)
	known, err := indexes()[0].Info()
	require.NoError(t, err)

	again := start(t, "index_directory: "+filepath.Join(h.directory, indexFolder))
	info, err := os.Stat(filepath.Join(h.directory, "shop.sym"))
	require.NoError(t, err)
	again.write("folder/copy.sym", breakpad(breakpadID, "First"))
	require.NoError(t, os.Chtimes(filepath.Join(again.directory, "folder/copy.sym"), info.ModTime(), info.ModTime()))
	require.NoError(t, os.Rename(filepath.Join(again.directory, "folder/copy.sym"), filepath.Join(again.directory, "shop.sym")))
	again.object(id, symbols.OK)
	require.Len(t, indexes(), 1)
	reused, err := indexes()[0].Info()
	require.NoError(t, err)
	assert.True(t, os.SameFile(known, reused), "a new index replaces the file")

	h.write("shop.sym", breakpad(breakpadID, "Second"))
	require.Eventually(t, func() bool { return functionAt(h.object(id, symbols.OK), 0x1000) == "Second" }, time.Minute, 10*time.Millisecond)
}

// A damaged index is made again.
func TestDamagedIndex(t *testing.T) {
	directory := t.TempDir()
	h := start(t, "max_open_bytes: 80000, index_directory: "+directory) // one file
	h.write("shop.sym", breakpad(breakpadID, "Shop"))
	h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK)
	entries, err := filepath.Glob(filepath.Join(directory, "*"+indexSuffix))
	require.NoError(t, err)
	require.Len(t, entries, 1)
	path := entries[0]
	index, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path)) // the open one keeps its content
	require.NoError(t, os.WriteFile(path, append(index[:len(index)-1], 0xff), 0o600))

	other := strings.ReplaceAll(breakpadID, "4", "5")
	h.write("other.sym", breakpad(other, "Other"))
	h.object(symbolicate.NativeID{DebugID: other}, symbols.OK)
	assert.Equal(t, "Shop", functionAt(h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.OK), 0x1000))
}

// Indexes beyond the limit are removed, the least recently used first.
func TestIndexLimit(t *testing.T) {
	directory := t.TempDir()
	h := start(t, "max_index_bytes: 400, max_open_bytes: 80000, index_directory: "+directory) // three indexes on disk, one open
	for _, digit := range []string{"0", "1", "2", "3", "4", "5"} {
		id := digit + breakpadID[1:]
		h.write(id+".sym", breakpad(id, "Shop"))
		assert.Equal(t, "Shop", functionAt(h.object(symbolicate.NativeID{DebugID: id}, symbols.OK), 0x1000))
		entries, err := filepath.Glob(filepath.Join(directory, "*"+indexSuffix))
		require.NoError(t, err)
		total := int64(0)
		for _, entry := range entries {
			info, err := os.Stat(entry)
			require.NoError(t, err)
			total += info.Size()
		}
		assert.LessOrEqual(t, total, int64(400))
		assert.NotEmpty(t, entries)
	}
}

// Files beyond their limits are not used, and not hashed.
func TestLargeFiles(t *testing.T) {
	const named = "11111111-2222-4333-8444-555555555555"
	h := start(t, "max_native_bytes: 200, max_file_bytes: 100")
	h.write(named, "named.Class -> a.a:\n"+strings.Repeat("# x\n", 100))
	h.write("large.sym", breakpad(breakpadID, strings.Repeat("x", 200)))
	small := "5" + breakpadID[1:]
	h.write("small.sym", breakpad(small, "Small"))
	h.object(symbolicate.NativeID{DebugID: small}, symbols.OK)
	files := h.processor.(*profilesProcessor).Shared
	_, status := files.of(anyone).Native(symbolicate.NativeID{DebugID: breakpadID})
	assert.Equal(t, symbols.MissingFile, status)
	_, status = files.of(anyone).Mapping(named)
	assert.Equal(t, symbols.MissingFile, status)
}

// An index cannot be made: the file fails, and profiles pass.
func TestIndexDirectoryIsAFile(t *testing.T) {
	blocked := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(blocked, nil, 0o600))
	h := start(t, "index_directory: "+blocked)
	h.write("shop.sym", breakpad(breakpadID, "Shop"))
	h.object(symbolicate.NativeID{DebugID: breakpadID}, symbols.Error)
	assert.Equal(t, int64(1), h.sum("opened_files"))
}
