// SPDX-License-Identifier: Apache-2.0

package symbolicateprocessor

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbolicate"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols"
	"github.com/otelcol-sentry/otelcol-sentry/symbolicateprocessor/internal/symbols/native"
)

// manyFunctions is a Breakpad file whose index has some 500 kB.
func manyFunctions(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "MODULE Linux x86_64 %s0 shop\nFILE 0 a.cc\n", strings.ToUpper(id))
	for i := range 10_000 {
		fmt.Fprintf(&b, "FUNC %x 10 0 function%d\n%x 10 20 0\n", 4096+16*i, i, 4096+16*i)
	}
	return b.String()
}

// TestIndexesAreShared: a tenant whose files need more indexes than its share loses its own, also
// when those of others are closed and were used earlier.
func TestIndexesAreShared(t *testing.T) {
	const limit = 1_500_000
	h := start(t, fmt.Sprintf("max_index_bytes: %d, max_open_bytes: 80000", limit)) // one open file
	id := func(i int) string { return fmt.Sprintf("%032x", i+1) }
	for i := range 6 {
		h.write(id(i)+".sym", manyFunctions(id(i)))
	}
	names := func() map[string]bool {
		all, total := map[string]bool{}, int64(0)
		entries, err := filepath.Glob(filepath.Join(h.directory, indexFolder, "*"+indexSuffix))
		require.NoError(t, err)
		for _, name := range entries {
			if info, err := os.Stat(name); err == nil {
				all[name], total = true, total+info.Size()
			}
		}
		assert.LessOrEqual(t, total, int64(limit))
		return all
	}
	small := appA
	h.objectOf(small, symbolicate.NativeID{DebugID: id(0)}, symbols.OK)
	own := names()
	require.Len(t, own, 1)
	for round := range 2 {
		for i := 1; i < 6; i++ {
			require.Eventually(t, func() bool {
				_, status := h.processor.(*profilesProcessor).Shared.of(appB).Native(symbolicate.NativeID{DebugID: id(i)})
				return status == symbols.OK || status == symbols.Error
			}, time.Minute, time.Millisecond)
			for name := range own {
				require.True(t, names()[name], "the index of another tenant is removed in round %d", round)
			}
		}
	}
	assert.Greater(t, len(names()), 1)
}

// TestCleanKeepsFilesOfOthers: processors and collectors may share a directory of indexes.
func TestCleanKeepsFilesOfOthers(t *testing.T) {
	x := testIndexes(t, 1<<20)
	file, err := x.create("new", anyone, symbols.NewWork(t.Context(), 0, symbols.Limits{}, nil))
	require.NoError(t, err)
	left := filepath.Join(x.directory, "new-1"+indexSuffix) // of a collector that was killed
	require.NoError(t, os.WriteFile(left, []byte("x"), 0o600))
	newIndexes(x.directory, x.limit, zap.NewNop(), nil, nil).clean()
	assert.FileExists(t, file.Name())
	assert.NoFileExists(t, left)
	require.NoError(t, file.remove())
}

// TestClosedIndex: a lookup in an index that is closed meanwhile is repeated later.
func TestClosedIndex(t *testing.T) {
	h := start(t, "")
	h.write("shop.sym", breakpad(breakpadID, "Shop"))
	id := symbolicate.NativeID{DebugID: breakpadID}
	table := h.object(id, symbols.OK)
	files := h.processor.(*profilesProcessor).Shared
	uses := files.openIndexes()
	require.Len(t, uses, 1)
	files.closeIndex(uses[0].name)
	_, status := table.Lookup(nil, 0x1000, native.Leaf)
	assert.Equal(t, symbols.Pending, status)
	assert.Equal(t, "Shop", functionAt(h.object(id, symbols.OK), 0x1000))
}

// TestTooManyIndexes: a tenant whose file does not fit beside the indexes of others tries again
// later, and others may use the file meanwhile.
func TestTooManyIndexes(t *testing.T) {
	x := testIndexes(t, 1000)
	require.NoError(t, os.WriteFile(filepath.Join(x.directory, "a"+indexSuffix), make([]byte, 900), 0o600))
	_, err := x.list()
	require.NoError(t, err)
	now := time.Now()
	x.files.use(appA, x.files.byKey["a"+indexSuffix], now)
	assert.ErrorIs(t, x.makeRoom(appB, nil, 950), errIndexShare)
	assert.NoError(t, x.makeRoom(appB, nil, 100))
	assert.ErrorIs(t, x.makeRoom(appB, nil, 1001), errIndexBytes)
	assert.False(t, isBad(errIndexShare))
	assert.True(t, isBad(errIndexBytes))

	foreign := filepath.Join(x.directory, "new-1"+indexSuffix) // of another process
	require.NoError(t, os.WriteFile(foreign, make([]byte, 100), 0o600))
	assert.ErrorIs(t, x.makeRoom(appB, nil, 950), errIndexShare, "temporary files of others count")
	assert.NoError(t, x.makeRoom(appB, nil, 800), "of a tenant above its share")
	assert.NoFileExists(t, filepath.Join(x.directory, "a"+indexSuffix))
}
