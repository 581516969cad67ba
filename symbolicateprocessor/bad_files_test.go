// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/internal/collector/tenant"
	"github.com/otelcol-sentry/otelcol-sentry/internal/testkit/testsize"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// TestBadFiles: a file that cannot be read, or that was being read when the process ended, is not
// read again, in this process or the next one. An interrupted one is.
func TestBadFiles(t *testing.T) {
	directory := t.TempDir()
	open := func() *badFiles { return openBadFiles(directory, zap.NewNop()) }
	bad, runs := open(), 0
	try := func(key string, result error) error {
		return bad.try(fileKey(key), key, func() error { runs++; return result })
	}
	for _, result := range []error{nil, context.Canceled, fmt.Errorf("%w: %w", native.ErrDamaged, context.Canceled), &fs.PathError{Err: fs.ErrPermission}} {
		require.Equal(t, result, try("good", result))
	}
	require.Equal(t, 4, runs)
	for _, result := range []error{symbols.ErrSteps, symbols.ErrMemory, native.ErrTooLarge, native.ErrDamaged, errIndexBytes} {
		key := result.Error()
		require.ErrorIs(t, try(key, result), result)
		for range 2 { // again, and after a restart
			require.ErrorIs(t, try(key, nil), errBad)
			bad.close()
			bad = open()
		}
	}
	require.Equal(t, 9, runs)

	finished := bad.mark(fileKey("finished"), "finished")
	bad.mark(fileKey("killed"), "a\nkilled/file")
	finished()
	other := open() // a processor with the same directory
	assert.False(t, other.known[fileKey("killed")], "the file is being read")
	die(t, bad)
	bad = open()
	assert.ErrorIs(t, try("killed", nil), errBad)
	assert.NoError(t, try("finished", nil))
	bad.close()
	entries, err := os.ReadDir(filepath.Join(directory, badFolder))
	require.NoError(t, err)
	assert.Len(t, entries, 6, "the markers are removed")

	// Markers with any other content.
	for i, content := range []string{"", "x", strings.Repeat("a", keyDigits), strings.Repeat("x", keyDigits) + "\npath", strings.Repeat("a", maxMarker+1), "../../x\ny"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, badFolder, readingPrefix+fmt.Sprint(i)), []byte(content), 0o600))
	}
	assert.Len(t, open().known, 6)
}

// die ends the locks of bad files that are being read, like the death of the process.
func die(t *testing.T, b *badFiles) {
	t.Helper()
	markers, err := filepath.Glob(filepath.Join(b.directory, readingPrefix+"*"))
	require.NoError(t, err)
	for _, name := range markers {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		require.NoError(t, os.Remove(name))
		require.NoError(t, os.WriteFile(name, content, 0o600)) // another file, without the lock
	}
}

// TestBadFilesAreBounded: the oldest are forgotten.
func TestBadFilesAreBounded(t *testing.T) {
	testsize.NeedFull(t) // ten thousand files
	directory := t.TempDir()
	bad := openBadFiles(directory, zap.NewNop())
	bad.mark(fileKey(), "")()
	for i := range maxBad + 10 {
		bad.write(fileKey(i), "", "")
	}
	bad.close()
	assert.Len(t, bad.known, maxBad, "also without a restart")
	assert.Len(t, openBadFiles(directory, zap.NewNop()).known, maxBad)
	entries, err := os.ReadDir(filepath.Join(directory, badFolder))
	require.NoError(t, err)
	assert.Len(t, entries, maxBad)
}

// TestFileThatKilledTheScan: the collector starts without it, and uses it again when it is
// replaced.
func TestFileThatKilledTheScan(t *testing.T) {
	h := start(t, "")
	h.write("shop.sym", breakpad(breakpadID, "Shop"))
	id := symbolicate.NativeID{DebugID: breakpadID}
	h.object(id, symbols.OK)
	info, err := os.Stat(filepath.Join(h.directory, "shop.sym"))
	require.NoError(t, err)

	again := start(t, "")
	folder := filepath.Join(again.directory, indexFolder)
	killed := openBadFiles(folder, zap.NewNop())
	killed.mark(fileKey("shop.sym", info.ModTime().UnixNano(), info.Size()), "shop.sym")
	die(t, killed)
	next := openBadFiles(folder, zap.NewNop())
	bad := again.processor.(*profilesProcessor).Shared.scanner.bad
	bad.mu.Lock()
	bad.known = next.known
	bad.mu.Unlock()
	again.write("shop.sym", breakpad(breakpadID, "Shop"))
	require.NoError(t, os.Chtimes(filepath.Join(again.directory, "shop.sym"), info.ModTime(), info.ModTime()))
	again.write("other.sym", breakpad("5"+breakpadID[1:], "Other"))
	again.object(symbolicate.NativeID{DebugID: "5" + breakpadID[1:]}, symbols.OK)
	again.object(id, symbols.MissingFile)
	again.write("shop.sym", breakpad(breakpadID, "Shop2"))
	again.object(id, symbols.OK)
}

// TestShutdownWhileReading: the job ends, the message is delivered, and the file is read after the
// next start.
func TestShutdownWhileReading(t *testing.T) {
	text := breakpad(breakpadID, "Shop") + strings.Repeat("FILE 1 a\nFUNC 2000 10 0 f\n2000 10 1 1\n", 200_000)
	h := start(t, "")
	h.write("shop.sym", text)
	id := symbolicate.NativeID{DebugID: breakpadID}
	h.object(id, symbols.Pending)
	files := h.processor.(*profilesProcessor).Shared
	for range 2 { // while it is read, or shortly before or after
		time.Sleep(10 * time.Millisecond)
		_, _ = files.of(anyone).Native(id)
	}
	require.NoError(t, h.processor.Shutdown(t.Context()))
	entries, err := os.ReadDir(filepath.Join(h.directory, indexFolder))
	require.NoError(t, err)
	for _, entry := range entries {
		assert.False(t, isTemporary(entry.Name()), "%s is left", entry.Name())
	}
	left, err := os.ReadDir(filepath.Join(h.directory, indexFolder, badFolder))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// testIndexes returns indexes of which none is open.
func testIndexes(t *testing.T, limit int64) *indexes {
	t.Helper()
	return newIndexes(t.TempDir(), limit, zap.NewNop(), func() []indexUse { return nil }, func(string) {})
}

// TestOpenIndexesAreCounted: a removed file needs disk space while it is open. Indexes of which
// each fits, but not all, are closed before they are removed. The tenant with the largest loses its
// own.
func TestOpenIndexesAreCounted(t *testing.T) {
	const limit = 1_500_000
	h := start(t, fmt.Sprintf("max_index_bytes: %d", limit))
	files := h.processor.(*profilesProcessor).Shared
	id := func(i int) symbolicate.NativeID { return symbolicate.NativeID{DebugID: fmt.Sprintf("%032x", i+1)} }
	small, large := tenant.Tenant{Ingress: tenant.Sentry, Name: "1"}, tenant.Tenant{Ingress: tenant.Sentry, Name: "2"}
	open := func(t tenant.Tenant, i int) symbols.Status { _, status := files.of(t).Native(id(i)); return status }
	for i := range 6 {
		var text strings.Builder
		fmt.Fprintf(&text, "MODULE Linux x86_64 %s0 shop\nFILE 0 a.cc\n", id(i).DebugID)
		for j := range 10_000 {
			fmt.Fprintf(&text, "FUNC %x 10 0 function%d\n%x 10 20 0\n", 4096+16*j, j, 4096+16*j)
		}
		h.write(fmt.Sprintf("%d.sym", i), text.String())
	}
	for i := range 6 {
		of := large
		if i == 0 {
			of = small
		}
		require.Eventually(t, func() bool { return open(of, i) == symbols.OK }, 30*time.Second, 5*time.Millisecond)
		files.mu.Lock()
		total := int64(0)
		for _, file := range files.open.byKey {
			table := file.file.(nativeTable)
			total += table.indexSize
			assert.FileExists(t, filepath.Join(h.directory, indexFolder, table.index))
		}
		files.mu.Unlock()
		assert.LessOrEqual(t, total, int64(limit))
	}
	assert.Empty(t, removedButOpen(t), "disk space is free at once")
	assert.Equal(t, symbols.OK, open(small, 0), "of another tenant")
	assert.NotEqual(t, symbols.OK, open(large, 1))
}

// removedButOpen returns the indexes that still need disk space although they are removed.
func removedButOpen(t *testing.T) (names []string) {
	const descriptors = "/proc/self/fd"
	entries, err := os.ReadDir(descriptors)
	if err != nil {
		t.Log("needs /proc")
	}
	for _, entry := range entries {
		if name, err := os.Readlink(filepath.Join(descriptors, entry.Name())); err == nil && strings.HasSuffix(name, indexSuffix+" (deleted)") {
			names = append(names, name)
		}
	}
	return names
}

// TestIndexFilesAreCounted: bytes count in the limit before they are written, and other indexes are
// removed for them.
func TestIndexFilesAreCounted(t *testing.T) {
	const limit = 1 << 20
	x := testIndexes(t, limit)
	for i := range 3 {
		require.NoError(t, os.WriteFile(filepath.Join(x.directory, fmt.Sprint(i, indexSuffix)), make([]byte, limit/4), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(x.directory, fmt.Sprint(i, indexSuffix)), time.Unix(int64(i), 0), time.Unix(int64(i), 0)))
	}
	total := func() (bytes int64, files int) {
		entries, err := os.ReadDir(x.directory)
		require.NoError(t, err)
		for _, entry := range entries {
			info, err := entry.Info()
			require.NoError(t, err)
			bytes += info.Size()
		}
		return bytes, len(entries)
	}
	file, err := x.create("dsym", anyone, symbols.NewWork(t.Context(), 0, symbols.Limits{}, nil))
	require.NoError(t, err)
	block, written := make([]byte, 10_000), 0
	for {
		if _, err = file.Write(block); err != nil {
			break
		}
		written += len(block)
		bytes, _ := total()
		require.LessOrEqual(t, bytes, int64(limit))
		for i := range 2 {
			_, older := os.Stat(filepath.Join(x.directory, fmt.Sprint(i, indexSuffix)))
			_, newer := os.Stat(filepath.Join(x.directory, fmt.Sprint(i+1, indexSuffix)))
			require.False(t, older == nil && newer != nil, "the least recently used one is removed first")
		}
	}
	require.ErrorIs(t, err, errIndexBytes)
	assert.Greater(t, written, limit-2*len(block))
	require.NoError(t, file.remove())
	_, files := total()
	assert.Zero(t, files)
}
